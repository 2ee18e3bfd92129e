#include "judge/verdict.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "tune/stored/baseline.hpp"

namespace halmark::judge {
namespace {

bool is_wrong(const Measurement& row) {
  return row.status == Status::wrong_result || row.status == Status::nan_result;
}

std::string gate_of(const Measurement& row) {
  switch (row.status) {
    case Status::wrong_result:
    case Status::nan_result:
      return "correctness";
    case Status::quarantined:
      return row.reason.starts_with("timer") ? "time" : "bound";
    case Status::compile_failed:
      return "build";
    case Status::unsupported:
    case Status::refused:
      return "support";
    case Status::invalid:
    case Status::suspect:
      return "validity";
    default:
      return "containment";
  }
}

// The row that the verdict is about: a wrong answer first, then a kernel that failed, then a time
// that cannot be true in half of the rounds of its case, then the first that has no time.
const Measurement* decisive(std::span<const Measurement> rows) {
  const auto* wrong = find_or_null(rows, true, is_wrong);
  if (wrong) return wrong;
  for (const Measurement& row : rows) {
    if (row.status != Status::quarantined && counts_as_failure(row.status)) return &row;
  }
  for (const Measurement& row : rows) {
    if (row.status != Status::quarantined) continue;
    const auto is_same = [&](const Measurement& other) {
      return other.kernel_case == row.kernel_case;
    };
    const auto all = std::ranges::count_if(rows, is_same);
    const auto false_times = std::ranges::count_if(rows, [&](const Measurement& other) {
      return is_same(other) && other.status == Status::quarantined;
    });
    if (2 * false_times >= all) return &row;
  }
  for (const Measurement& row : rows) {
    const bool has_usable = std::ranges::any_of(rows, [&](const Measurement& other) {
      return other.kernel_case == row.kernel_case && has_latency(other.status);
    });
    // One false time among rounds that a busy machine spoilt decides nothing.
    if (!has_usable && row.status != Status::quarantined) return &row;
  }
  return nullptr;
}

void decide(Verdict& verdict, const Measurement& row, const std::string& gate) {
  verdict.status = row.status;
  verdict.reason = row.reason;
  verdict.gate = gate;
  verdict.problem = row.kernel_case.problem.params.text();
  const bool is_undecided = row.status == Status::invalid || row.status == Status::cancelled;
  verdict.outcome = is_undecided ? Outcome::undecided : Outcome::refused;
}

// No pass, no score.
void withhold_scores(Verdict& verdict) {
  for (KernelPoint& point : verdict.points) {
    point.score.reset();
    point.score_reason = "the source was refused";
  }
}

// Of the shapes of conformance only what cannot be noise counts: nobody asked for their times.
std::vector<Measurement> failed_of(std::span<const Measurement> rows) {
  std::vector<Measurement> out;
  std::ranges::copy_if(rows, std::back_inserter(out), [](const Measurement& row) {
    return row.status != Status::quarantined && counts_as_failure(row.status);
  });
  return out;
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::accepted:
      return "accepted";
    case Outcome::refused:
      return "refused";
    case Outcome::undecided:
      return "undecided";
  }
  return "undecided";
}

Verdict verdict_of(const Judged& judged, const tune::ReportingMachine& machine) {
  Verdict out;
  if (judged.fault) {
    decide(out, *judged.fault, judged.build.plugin_path.empty() ? "build" : "load");
    return out;
  }
  const std::vector<Measurement> failed = failed_of(judged.conformance);
  if (!failed.empty()) {
    const Measurement& row = failed.front();
    decide(out, row, is_wrong(row) ? "conformance" : gate_of(row));
    return out;
  }
  out.points = tune::kernel_points(judged.rows, machine);
  out.baseline = tune::kernel_points(judged.baseline, machine);
  tune::score_points(out.points, out.baseline);
  if (judged.rows.empty()) {
    out.reason = "interrupted before anything was measured";
    out.is_interrupted = true;
    return out;
  }
  if (const Measurement* row = decisive(judged.rows)) {
    decide(out, *row, gate_of(*row));
    if (out.outcome == Outcome::refused) withhold_scores(out);
    return out;
  }
  out.outcome = Outcome::accepted;
  const auto suspect = std::ranges::find(out.points, Status::suspect, &KernelPoint::status);
  if (suspect != out.points.end()) {
    out.status = Status::suspect;
    out.reason = suspect->reason;
  }
  return out;
}

ExitCode exit_code_of(const Verdict& verdict) {
  if (verdict.outcome == Outcome::accepted) return ExitCode::ok;
  switch (verdict.status) {
    case Status::wrong_result:
    case Status::nan_result:
      return ExitCode::incorrect;
    case Status::quarantined:
      return ExitCode::gate_failed;
    case Status::unsupported:
    case Status::refused:
    case Status::compile_failed:
      return ExitCode::refused;
    default:
      return verdict.gate == "build" ? ExitCode::refused : ExitCode::partial;
  }
}

}  // namespace halmark::judge
