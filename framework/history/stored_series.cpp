#include "history/stored_series.hpp"

namespace halmark::history {
namespace {

// Of what was seen before and after.
std::optional<double> around(std::optional<double> before, std::optional<double> after) {
  if (before && after) return (*before + *after) / 2;
  return before ? before : after;
}

std::string doubt_of(const std::string& reason) { return reason.empty() ? "suspect" : reason; }

}  // namespace

SeriesName name_of(const Measurement& row, const std::string& fingerprint) {
  return {.what = row.kernel_case.key(), .fingerprint = fingerprint, .plugin = row.plugin_name};
}

SeriesName name_of(const RowFigures& figures, const std::string& fingerprint) {
  return {.what = figures.key, .fingerprint = fingerprint, .plugin = figures.row.plugin_name};
}

SeriesRow row_of(const Measurement& row, std::int64_t run) {
  SeriesRow out{.run = run, .round = row.round};
  out.build = row.plugin_version + " (" + row.plugin_hash.substr(0, 8) + ')';
  out.state = {.bytes_per_s = around(row.bandwidth.before, row.bandwidth.after),
               .clock_hz = around(row.clock_hz_before, row.clock_hz_after)};
  if (!has_latency(row.status)) {
    out.fault = std::string(status_name(row.status));
    if (!row.reason.empty()) out.fault += ": " + row.reason;
    out.is_broken = is_broken(row.status);
  } else if (!(row.duration_ns_median > 0)) {
    out.fault = "it has no time";
  } else {
    out.ns = row.duration_ns_median;
    if (row.status == Status::suspect) out.doubt = doubt_of(row.reason);
  }
  return out;
}

SeriesRow row_of(const Evaluation& evaluation, std::int64_t run) {
  SeriesRow out{.run = run};
  if (!evaluation.estimate || !(evaluation.estimate->step_ns > 0)) {
    out.fault = evaluation.reason.empty() ? "it has no estimate" : evaluation.reason;
    return out;
  }
  const Estimate& estimate = *evaluation.estimate;
  out.ns = estimate.step_ns;
  if (estimate.status == Status::suspect) out.doubt = doubt_of(estimate.reason);
  out.interval_ns = Interval{estimate.low_ns, estimate.high_ns};
  if (estimate.run_interval) out.state.bytes_per_s = estimate.run_interval->state.bytes_per_s;
  return out;
}

}  // namespace halmark::history
