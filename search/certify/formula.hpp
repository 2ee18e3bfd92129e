// How an objective follows from kernel times, as a value that can be written down and recomputed by
// somebody else. Every operation is non-decreasing in every time (`rate` too: it is negative), so
// lower ends of times give a lower end of the objective, upper ends an upper end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"

namespace halmark {

struct FormulaStep {
  enum class Op { constant, fact, kernel, slot, sum, max, min, scale, divide, rate };
  Op op = Op::constant;
  std::int32_t index = 0;  // of the fact, kernel or slot; operands of sum, max and min
  double value = 0;        // of a constant
};
using Formula = std::vector<FormulaStep>;  // operands before their operation

namespace formula {
Formula constant(double value);
Formula fact(std::int32_t fact);      // a number of the configuration, known exactly
Formula kernel(std::int32_t kernel);  // the time of this kernel
Formula slot(std::int32_t slot);      // the time of the kernel that the configuration has there
Formula sum(const std::vector<Formula>& terms);  // added from left to right, beginning with 0
Formula largest(const std::vector<Formula>& of);
Formula smallest(const std::vector<Formula>& of);
// `factor`, `divisor` and `amount` are constants or facts, and not negative.
Formula scaled(const Formula& factor, const Formula& x);    // factor * x
Formula divided(const Formula& x, const Formula& divisor);  // x / divisor
Formula rate(const Formula& amount, const Formula& x);      // -(amount / x)
}  // namespace formula

// What the leaves of a formula stand for in one configuration. Times by kernel.
struct FormulaInputs {
  std::span<const double> facts;
  std::span<const std::int32_t> slots;
  std::span<const double> times;
};

// `scratch` keeps its memory from call to call.
double evaluate(const Formula& formula, const FormulaInputs& inputs, std::vector<double>& scratch);

// Adds the kernels that the formula reads.
void add_kernels(const Formula& formula, std::span<const std::int32_t> slots,
                 std::vector<std::int32_t>& kernels);

// A number, the name of a fact, ["kernel", 3], ["slot", "name"], or [operation, operand...].
Json formula_json(const Formula& formula, std::span<const std::string> facts,
                  std::span<const std::string> slots);

}  // namespace halmark
