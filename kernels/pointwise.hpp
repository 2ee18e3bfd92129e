// Scalar functions of activations in f64, each with the absolute error an f32 kernel may make.
#pragma once

#include <cmath>
#include <numbers>

#include "kernels/tolerance.hpp"

namespace halmark {

struct Approximated {
  double value = 0;
  double error = 0;
};

inline Approximated relu(double x) { return {x > 0 ? x : 0, 0}; }

inline Approximated relu_squared(double x) {
  const double value = x > 0 ? x * x : 0;
  return {value, u_f32 * value};
}

// x / (1 + exp(-x)): exp, sum and quotient are all relative.
inline Approximated silu(double x) {
  const double value = x / (1 + std::exp(-x));
  return {value, (transcendental_error + 4 * u_f32) * std::fabs(value)};
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). For negative x the sum cancels, so an error of
// tanh relative to 1 stays in full: the bound is relative to |x|.
inline Approximated gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return {0.5 * x * (1 + std::tanh(inner)), transcendental_error * std::fabs(x)};
}

}  // namespace halmark
