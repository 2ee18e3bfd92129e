// Tables of kernels and of the device: shares of a step, all kernels, peaks and bandwidths.
#include <algorithm>

#include "core/lists.hpp"
#include "report/kernel_rates.hpp"
#include "report/text/table_columns.hpp"

namespace halmark::report {
namespace {

struct ShareRow {
  std::size_t number = 0;
  const OperatorShare* share = nullptr;
  double step_ns = 0;
  std::optional<Validation::Operator> run;
};

void describe_share(RowCells& cells, const ShareRow& r) {
  const OperatorShare& s = *r.share;
  std::string from(provenance_name(s.provenance));
  if (s.provenance == Provenance::fabric) from += ": " + s.implementation;
  if (s.status != Status::ok) from += ", " + std::string(status_name(s.status));
  const double run_ns = r.run ? r.run->measured_ns : 0;
  const auto beside_ns = r.run ? r.run->composed_ns : std::nullopt;
  cells.number("#", std::to_string(r.number));
  cells.text("operator", s.name);
  cells.text("layer", s.layer_type);
  cells.number("count", std::to_string(s.count));
  cells.number("time", duration_text(s.ns));
  cells.number("share", percent_text(s.ns / r.step_ns));
  cells.number("interval", duration_range_text(s.low_ns, s.high_ns));
  if (s.lower_bound_ns > 0 && s.ns > 0) {
    cells.number("of bound", percent_text(s.lower_bound_ns / s.ns),
                 "bound " + duration_text(s.lower_bound_ns));
  } else {
    cells.number("of bound", absent_text);
  }
  cells.text("bound", or_dash(s.bound));
  cells.text("dtype", or_dash(s.dtype));
  cells.text("strategy", or_dash(s.strategy));
  cells.text("implementation", or_dash(s.implementation));
  cells.text("from", from);
  cells.number("run", run_ns > 0 ? duration_text(run_ns) : absent_text);
  cells.number("beside the run", text_or_dash(beside_ns, duration_text));
  cells.number("composition error", beside_ns && run_ns > 0
                                        ? signed_percent_text(*beside_ns / run_ns - 1)
                                        : absent_text);
}

struct KernelRow {
  const KernelPoint* kernel = nullptr;
  std::string contradiction;
};

std::string kernel_status(const KernelRow& r) {
  const std::string status(status_name(r.kernel->status));
  if (!r.contradiction.empty()) return status + ": ERROR, " + r.contradiction;
  return r.kernel->reason.empty() ? status : status + ": " + r.kernel->reason;
}

// "gemm k=1024 m=1" -> "k=1024 m=1": the op has a column of its own.
std::string sizes(const KernelPoint& kernel) {
  const std::string prefix = kernel.op + ' ';
  return kernel.problem.starts_with(prefix) ? kernel.problem.substr(prefix.size()) : kernel.problem;
}

void describe_kernel(RowCells& cells, const KernelRow& r) {
  const KernelPoint& k = *r.kernel;
  const bool has_interval = k.low_ns && k.high_ns;
  cells.text("op", k.op);
  cells.text("problem", sizes(k));
  cells.text("dtype", k.dtype);
  cells.text("place", k.place);
  cells.text("mode", k.mode);
  cells.text("implementation", or_dash(k.implementation));
  cells.text("isa", or_dash(k.isa));
  cells.number("time", text_or_dash(k.duration_ns, duration_text));
  cells.number("interval", has_interval ? duration_range_text(*k.low_ns, *k.high_ns) : absent_text);
  cells.number("rounds", std::to_string(k.rounds));
  cells.number("FLOP/s", text_or_dash(flops_per_s(k), flops_text));
  cells.number("bytes/s", text_or_dash(bytes_per_s(k), bandwidth_text));
  cells.number("MFU", percent_text(k.mfu));
  cells.number("of path", percent_text(k.path_fraction));
  cells.number("of sheet", percent_text(k.mfu_datasheet));
  cells.number("of roof", percent_text(k.roofline_fraction));
  cells.number("of best bandwidth", percent_text(k.bandwidth_share));
  cells.text("status", kernel_status(r));
}

// A best of one occasion may still rise.
std::string with_doubt(const std::string& figure, bool is_provisional) {
  return is_provisional ? figure + " (provisional)" : figure;
}

std::string threads_text(int threads) { return threads > 0 ? std::to_string(threads) : "all"; }

void describe_peak(RowCells& cells, const Peak& p) {
  cells.text("path", p.path);
  cells.text("dtype", dtype_name(p.dtype));
  cells.text("isa", or_dash(p.isa));
  cells.text("threads", threads_text(p.threads));
  cells.number("peak", with_doubt(flops_text(p.flops_per_s), p.is_provisional));
  cells.number("q90", text_or_dash(p.flops_per_s_q90, flops_text));
  cells.text("source", or_dash(p.source));
}

void describe_bandwidth(RowCells& cells, const Bandwidth& b) {
  const auto working_set = as_double(b.working_set_bytes);
  cells.text("level", b.level);
  cells.text("threads", threads_text(b.threads));
  cells.number("bandwidth", with_doubt(bandwidth_text(b.bytes_per_s), b.is_provisional));
  cells.number("working set", working_set > 0 ? bytes_text(working_set) : absent_text);
  cells.text("source", or_dash(b.source));
}

std::optional<Validation::Operator> run_of(const FrontRow& row, const OperatorShare& share) {
  if (row.validation == nullptr) return std::nullopt;
  const auto& operators = row.validation->operators;
  const auto* it = find_or_null(operators, share.name, &Validation::Operator::name);
  return !it ? std::nullopt : std::optional(*it);
}

}  // namespace

std::vector<const OperatorShare*> by_share(const Estimate& estimate) {
  std::vector<const OperatorShare*> out =
      mapped(estimate.operators, [&](const OperatorShare& share) { return &share; });
  std::ranges::stable_sort(out, std::greater{}, [](const OperatorShare* s) { return s->ns; });
  return out;
}

Table breakdown_table(const FrontRow& row) {
  std::vector<ShareRow> rows;
  for (const OperatorShare* share : by_share(*row.estimate)) {
    rows.push_back({rows.size() + 1, share, row.estimate->step_ns, run_of(row, *share)});
  }
  static const OperatorShare none;
  return table_of(rows, describe_share, {.share = &none});
}

Table kernel_table(const RunReport& report) {
  std::vector<KernelRow> rows;
  for (const KernelPoint& kernel : report.kernels) {
    rows.push_back({&kernel, contradiction(kernel, report)});
  }
  static const KernelPoint none;
  return table_of(rows, describe_kernel, {.kernel = &none});
}

Table peak_table(const Device& device) { return table_of(device.peaks, describe_peak); }

Table bandwidth_table(const Device& device) {
  return table_of(device.bandwidths, describe_bandwidth);
}

}  // namespace halmark::report
