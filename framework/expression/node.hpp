// The tree of an expression; only the parser and the evaluator know it.
#pragma once

#include <vector>

#include "expression/expression.hpp"

namespace halmark {

enum class Verb {
  constant,
  parameter,
  negate,
  logical_not,
  add,
  subtract,
  multiply,
  floor_divide,
  modulo,
  divide,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  is_in,
  logical_and,
  logical_or,
  minimum,
  maximum,
  ceil_div,
  divides,
  is_power_of_two,
  log2,
};

struct Expression::Node {
  Verb verb = Verb::constant;
  int line = 1, column = 1;
  Operand constant{};
  std::string text{};         // owns the constant's text
  std::size_t parameter = 0;  // position
  std::vector<Node> arms{};   // is_in: the value, then the members of the set
};

}  // namespace halmark
