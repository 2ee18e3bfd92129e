#include "search/integer_program.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/lists.hpp"
#include "core/module.hpp"
#include "core/text/error.hpp"
#include "search/cbc_module.hpp"

namespace halmark {
namespace {

constexpr int tries_max = 200;

bool is_finite(double value) { return std::isfinite(value); }

void check(const IntegerProgram& p) {
  const auto bad = [](const char* what) {
    return Error(ExitCode::error, std::string("integer program: ") + what);
  };
  if (p.low.size() != p.cost.size() || p.high.size() != p.cost.size()) {
    throw bad("bounds and costs differ in number");
  }
  if (!std::ranges::all_of(p.cost, is_finite)) throw bad("a cost is not finite");
  for (const auto i : indices(p.cost)) {
    if (p.low[i] > p.high[i]) throw bad("a lower bound is above its upper bound");
  }
  for (const IntegerProgram::Row& row : p.rows) {
    if (!is_finite(row.at_most)) throw bad("a row's limit is not finite");
    for (const auto& [variable, factor] : row.terms) {
      if (variable >= p.cost.size()) throw bad("a row names a variable that is not there");
      if (!is_finite(factor)) throw bad("a factor is not finite");
    }
  }
}

std::optional<IntegerSolution> solve_with_cbc(const IntegerProgram& p) {
  static const auto solve = module_function<SolveWithCbc>("cbc", solve_with_cbc_name);
  IntegerSolution out;
  const int status = solve(p, out);
  if (status == cbc_infeasible) return std::nullopt;
  if (status != 0) {
    throw Error(ExitCode::error, "Cbc ended without an optimum, status " + std::to_string(status));
  }
  return out;
}

// By how much a row's sum is above its limit; 0 where the row holds.
double excess(const IntegerProgram::Row& row, const std::vector<std::int64_t>& at) {
  double sum = 0, largest = std::abs(row.at_most);
  for (const auto& [variable, factor] : row.terms) {
    const double amount = factor * as_double(at[variable]);
    sum += amount;
    largest = std::max(largest, std::abs(amount));
  }
  const double over = sum - row.at_most;
  return over > row_tolerance * largest ? over : 0;
}

}  // namespace

std::optional<IntegerSolution> solve(const IntegerProgram& program) {
  check(program);
  IntegerProgram tightened = program;
  // The solver's tolerance, 1e-7, is wider than ours: a row that its answer breaks is lowered by
  // what it is broken by, until the answer holds. Less than that tolerance, so that none is lost.
  for (int tries = 0; tries < tries_max; ++tries) {
    std::optional<IntegerSolution> found = solve_with_cbc(tightened);
    bool holds = true;
    for (std::size_t r = 0; found && r < program.rows.size(); ++r) {
      const double over = excess(program.rows[r], found->at);
      tightened.rows[r].at_most -= over;
      holds = holds && over == 0;
    }
    if (holds) return found;
  }
  throw Error(ExitCode::error, "no answer of Cbc holds all rows of the integer program");
}

}  // namespace halmark
