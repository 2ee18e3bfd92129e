// What rmsnorm and layernorm share: parameters, operands and traffic.
#pragma once

#include "kernels/rowwise.hpp"

namespace halmark {

inline constexpr std::array<ParamSpec, 5> norm_specs{
    {rows_spec,
     cols_spec,
     src_dtype_spec,
     dst_dtype_spec,
     {.name = "epsilon_e12",
      .low = 0,
      .high = 1'000'000'000'000,
      .fallback = 1'000'000,
      .meaning = "added to the variance, in units of 1e-12"}}};

inline double epsilon_of(const Params& p) {
  return static_cast<double>(p.at("epsilon_e12")) * 1e-12;
}

// Relative error of 1 / sqrt(x) given that of x, plus the instruction or Newton step that makes it.
inline double inverse_root_error(double relative_error) { return 0.5 * relative_error + 8 * u_f32; }

}  // namespace halmark
