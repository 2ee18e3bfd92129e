// Arithmetic and comparisons of intervals: an operand stands for every value between its ends, and
// a result for every value that may come out.
#pragma once

#include <optional>

#include "expression/node.hpp"

namespace halmark::expression {

Operand truth(Truth value);
Truth truth_if(bool surely, bool surely_not);

bool is_number(const Operand& o);  // integers or reals
bool is_single(const Operand& o);  // stands for one value
// Ends of a number.
double low_of(const Operand& o);
double high_of(const Operand& o);

// Of operands of any kind: those of different kinds differ.
Truth equal(const Operand& a, const Operand& b);

// Of two numbers.
Truth ordered(const Operand& a, const Operand& b, bool is_strict);  // a < b, or a <= b
Operand extreme(bool is_least, const Operand& a, const Operand& b);
// Of integers, `a` not the single value 0.
Truth divides(const Operand& a, const Operand& b);
// Of integers; nothing where a result does not fit. No divisor may be 0.
std::optional<Operand> integer_arithmetic(Verb verb, const Operand& a, const Operand& b);
// Of numbers; nothing where a result is not finite.
std::optional<Operand> real_arithmetic(Verb verb, const Operand& a, const Operand& b);

}  // namespace halmark::expression
