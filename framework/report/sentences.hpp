// What a report says of itself: whether to believe it, its errors, and the state of the machine.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace halmark::report {

bool is_suspect(const RunReport& report);
// Of a run of kernels without a model, as of bench and judge.
bool has_kernels_alone(const RunReport& report);
// Where the times of the front's operators are from.
std::set<Provenance> front_sources(const RunReport& report);
// No row that was measured is behind the front.
bool is_unmeasured(const RunReport& report);
// "valid", "suspect", or "none" where there is no measured front to be either.
std::string validity(const RunReport& report);
// The same in a sentence; "" where nothing was measured.
std::string validity_text(const RunReport& report);
// "within", "exceeded" (median above 5 % or one point above 15 %) or "UNDECIDED".
std::string composition_verdict(const ErrorOverPoints& error);
// "composition error: median 3.1 %, worst 8.0 % over 6 points (within 5 % and 15 %); 1 left out";
// "" where nothing was run.
std::string composition_text(const RunReport& report);
// "prediction error: median 7.2 %, worst 21 % over 5 points: ..."; "" where nothing was run.
std::string prediction_text(const RunReport& report);
// Why runs of the whole stack do not bear the front out: "not run as a whole", "2 of 5 runs are
// suspect or have no time", errors above their limits; empty where they do.
std::vector<std::string> doubts_of_runs(const RunReport& report);

// Shares of the best bandwidth at which the kernels were measured; nothing where none is known.
struct BandwidthSpan {
  double low = 0, median = 0, high = 0;
  std::size_t kernels = 0;
};
std::optional<BandwidthSpan> bandwidth_span(const RunReport& report);
// "memory while measuring: at 52 % of the best bandwidth (44 % .. 61 %, 12 kernels)"; "" where
// nothing is known.
std::string bandwidth_state_text(const RunReport& report);
// "intervals: 3 of 4 runs lie inside (2 of 2 in the state of the memory that they name, half-width
// 9.2 %; ...)"; "" where no run can be held against one.
std::string coverage_text(const RunReport& report);
// "kernels measured in-stack: 72 % .. 78 % of the time of the front's steps"; "" where all
// were measured in loops of their own.
std::string in_stack_text(const RunReport& report);
// "0.42 J a step, 0.026 J/token, measured: rapl": metered or assumed, in its own words; "" where no
// energy is known.
std::string energy_text(const Evaluation& evaluation);

}  // namespace halmark::report
