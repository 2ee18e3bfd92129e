// What a command shows of one value: a document for programs and a text for people, made from the
// same figures.
#pragma once

#include <string>

#include "core/json/json.hpp"

namespace halmark::report {

struct View {
  Json data = Json::object();
  std::string text;
};

}  // namespace halmark::report
