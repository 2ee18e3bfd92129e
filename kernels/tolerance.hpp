// The error terms that op contracts compose into tolerances. Every bound is absolute and judges the
// kernel alone: references are computed in f64 from inputs that are already rounded.
#pragma once

#include <cmath>

#include "core/dtype.hpp"

namespace halmark {

inline constexpr double u_f32 = 0x1p-24;  // unit roundoff of the f32 accumulator

// Rounding errors of a sum of n terms behave like a random walk: sqrt(n) steps of u. The factor 4
// covers the tail (four standard deviations of the walk at its largest step) and blocked orders.
inline constexpr double accumulation_factor = 4;

// exp and tanh may be vectorised polynomials: 2e-6 relative, twice that where argument reduction
// adds its own rounding.
inline constexpr double transcendental_error = 4e-6;

// Error of accumulating n products in f32 whose absolute values sum to `magnitude`.
inline double accumulation_error(double n, double magnitude) {
  return accumulation_factor * std::sqrt(n) * u_f32 * magnitude;
}

// Products of 8-bit floats are summed by tensor cores in registers of about 14 bits: those of an
// instruction are cut off 13 bits below the largest of them, and so is the running sum until it is
// added in f32 after a few instructions (DeepSeek-V3 Technical Report, arXiv:2412.19437, section
// 3.3.2, of Hopper). Each cut is at most 2^-13 of what is summed: one of the products, one of the
// running sums.
inline double accumulation_error_of_8_bit_floats(double n, double magnitude) {
  return 2 * 0x1p-13 * magnitude + accumulation_error(n, magnitude);
}

// Half the spacing of the smallest values of `dtype`, where rounding is absolute and not relative.
inline double underflow_error(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return 0x1p-25;
    case Dtype::f8_e5m2:
      return 0x1p-17;
    case Dtype::f8_e4m3fn:
      return 0x1p-10;
    default:
      return is_integer(dtype) ? 0.0 : 0x1p-127;
  }
}

// Tolerance of a result `reference` computed with absolute error `error` and then rounded to
// `dtype`: the rounding applies to the computed value, not to the reference.
inline double rounded_tolerance(Dtype dtype, double reference, double error) {
  return error + unit_roundoff(dtype) * (std::fabs(reference) + error) + underflow_error(dtype);
}

}  // namespace halmark
