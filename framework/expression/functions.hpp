// The functions of the expression language: what the parser calls, and what pages say of them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "expression/node.hpp"

namespace halmark {

struct Function {
  std::string_view name;
  Verb verb;
  std::size_t arguments_min, arguments_max;
  std::string_view meaning, example;
};

std::span<const Function> functions();

}  // namespace halmark
