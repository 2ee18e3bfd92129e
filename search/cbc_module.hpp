// What the module `cbc` exports.
#pragma once

#include "search/integer_program.hpp"

namespace halmark {

inline constexpr int cbc_infeasible = -1;
// Fills `out` and returns 0 where there is an optimum; else cbc_infeasible, or Cbc's status.
using SolveWithCbc = int(const IntegerProgram& program, IntegerSolution& out);
inline constexpr const char* solve_with_cbc_name = "halmark_solve_with_cbc";

}  // namespace halmark
