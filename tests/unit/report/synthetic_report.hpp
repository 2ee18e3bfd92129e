// A report made up from formulas: two phases, three data types, kernels with hostile names, one
// kernel above its roof. The same size always gives the same value.
#pragma once

#include "report/report.hpp"

namespace halmark::test {

inline constexpr const char* hostile_markup = "<script>alert(1)</script>";
inline constexpr const char* hostile_formula = "=cmd()";
inline constexpr const char* hostile_escape = "\x1b[31mred\x07";

struct SyntheticSize {
  int batches = 3;   // of decode; times 3 data types and 3 layouts
  int kernels = 60;  // measured kernels
  std::size_t front_per_phase = 3;
};

// Six front points (three per phase), a refused configuration, six validations, measured peaks.
RunReport synthetic_report(SyntheticSize size = {});

}  // namespace halmark::test
