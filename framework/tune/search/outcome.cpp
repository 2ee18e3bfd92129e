#include "tune/search/outcome.hpp"

#include <algorithm>

namespace halmark::tune {

ExitCode exit_code_of(Status status) {
  if (status == Status::wrong_result || status == Status::nan_result) return ExitCode::incorrect;
  return counts_as_failure(status) ? ExitCode::partial : ExitCode::ok;
}

ExitCode exit_code_of(const TuneRun& run, const Sweep& sweep) {
  const auto is_wrong = [](const Validation& v) {
    return exit_code_of(v.status) == ExitCode::incorrect;
  };
  if (std::ranges::any_of(run.validations, is_wrong)) return ExitCode::incorrect;
  const auto has_failed = [](const auto& row) { return counts_as_failure(row.status); };
  const bool has_result = !run.front.empty() || (sweep.nightly && !run.rows.empty());
  // Nothing usable is no success, whatever the reasons are.
  const bool is_partial = !has_result || std::ranges::any_of(run.rows, has_failed) ||
                          std::ranges::any_of(run.validations, has_failed);
  return is_partial ? ExitCode::partial : ExitCode::ok;
}

}  // namespace halmark::tune
