// Tables of kernels and of the device: shares of a step, all kernels, peaks and bandwidths.
#include <algorithm>

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

constexpr Column<ShareRow> share_columns[] = {
    {"#", true, true, [](const ShareRow& r) { return plain(std::to_string(r.number)); }},
    {"operator", false, true, [](const ShareRow& r) { return plain(r.share->name); }},
    {"layer", false, false, [](const ShareRow& r) { return plain(r.share->layer_type); }},
    {"count", true, true, [](const ShareRow& r) { return plain(std::to_string(r.share->count)); }},
    {"time", true, true, [](const ShareRow& r) { return plain(duration_text(r.share->ns)); }},
    {"share", true, true,
     [](const ShareRow& r) { return plain(percent_text(r.share->ns / r.step_ns)); }},
    {"interval", true, true,
     [](const ShareRow& r) {
       return plain(duration_range_text(r.share->low_ns, r.share->high_ns));
     }},
    {"of bound", true, true,
     [](const ShareRow& r) {
       return r.share->lower_bound_ns > 0 && r.share->ns > 0
                  ? noted(percent_text(r.share->lower_bound_ns / r.share->ns),
                          "bound " + duration_text(r.share->lower_bound_ns))
                  : plain(absent_text);
     }},
    {"bound", false, true, [](const ShareRow& r) { return plain(or_dash(r.share->bound)); }},
    {"dtype", false, true, [](const ShareRow& r) { return plain(or_dash(r.share->dtype)); }},
    {"strategy", false, true, [](const ShareRow& r) { return plain(or_dash(r.share->strategy)); }},
    {"implementation", false, false,
     [](const ShareRow& r) { return plain(or_dash(r.share->implementation)); }},
    {"from", false, true,
     [](const ShareRow& r) {
       std::string from(provenance_name(r.share->provenance));
       if (r.share->provenance == Provenance::fabric) from += ": " + r.share->implementation;
       return plain(r.share->status == Status::ok
                        ? from
                        : from + ", " + std::string(status_name(r.share->status)));
     }},
    {"run", true, true,
     [](const ShareRow& r) {
       return plain(r.run && r.run->measured_ns > 0 ? duration_text(r.run->measured_ns)
                                                    : absent_text);
     }},
    {"beside the run", true, true,
     [](const ShareRow& r) {
       return plain(r.run && r.run->composed_ns ? duration_text(*r.run->composed_ns) : absent_text);
     }},
    {"composition error", true, true,
     [](const ShareRow& r) {
       return plain(r.run && r.run->composed_ns && r.run->measured_ns > 0
                        ? signed_percent_text(*r.run->composed_ns / r.run->measured_ns - 1)
                        : absent_text);
     }},
};

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

constexpr Column<KernelRow> kernel_columns[] = {
    {"op", false, true, [](const KernelRow& r) { return plain(r.kernel->op); }},
    {"problem", false, true, [](const KernelRow& r) { return plain(sizes(*r.kernel)); }},
    {"dtype", false, true, [](const KernelRow& r) { return plain(r.kernel->dtype); }},
    {"place", false, true, [](const KernelRow& r) { return plain(r.kernel->place); }},
    {"mode", false, true, [](const KernelRow& r) { return plain(r.kernel->mode); }},
    {"implementation", false, false,
     [](const KernelRow& r) { return plain(or_dash(r.kernel->implementation)); }},
    {"isa", false, false, [](const KernelRow& r) { return plain(or_dash(r.kernel->isa)); }},
    {"time", true, true,
     [](const KernelRow& r) {
       return plain(r.kernel->duration_ns ? duration_text(*r.kernel->duration_ns) : absent_text);
     }},
    {"interval", true, true,
     [](const KernelRow& r) {
       return plain(r.kernel->low_ns && r.kernel->high_ns
                        ? duration_range_text(*r.kernel->low_ns, *r.kernel->high_ns)
                        : absent_text);
     }},
    {"rounds", true, false,
     [](const KernelRow& r) { return plain(std::to_string(r.kernel->rounds)); }},
    {"FLOP/s", true, true,
     [](const KernelRow& r) {
       const auto rate = flops_per_s(*r.kernel);
       return plain(rate ? flops_text(*rate) : absent_text);
     }},
    {"bytes/s", true, true,
     [](const KernelRow& r) {
       const auto rate = bytes_per_s(*r.kernel);
       return plain(rate ? bandwidth_text(*rate) : absent_text);
     }},
    {"MFU", true, true, [](const KernelRow& r) { return plain(percent_text(r.kernel->mfu)); }},
    {"of path", true, false,
     [](const KernelRow& r) { return plain(percent_text(r.kernel->path_fraction)); }},
    {"of sheet", true, false,
     [](const KernelRow& r) { return plain(percent_text(r.kernel->mfu_datasheet)); }},
    {"of roof", true, true,
     [](const KernelRow& r) { return plain(percent_text(r.kernel->roofline_fraction)); }},
    {"of best bandwidth", true, false,
     [](const KernelRow& r) { return plain(percent_text(r.kernel->bandwidth_share)); }},
    {"status", false, true, [](const KernelRow& r) { return plain(kernel_status(r)); }},
};

// A best of one occasion may still rise.
std::string with_doubt(const std::string& figure, bool is_provisional) {
  return is_provisional ? figure + " (provisional)" : figure;
}

constexpr Column<Peak> peak_columns[] = {
    {"path", false, true, [](const Peak& p) { return plain(p.path); }},
    {"dtype", false, true, [](const Peak& p) { return plain(std::string(dtype_name(p.dtype))); }},
    {"isa", false, true, [](const Peak& p) { return plain(or_dash(p.isa)); }},
    {"threads", false, true,
     [](const Peak& p) { return plain(p.threads > 0 ? std::to_string(p.threads) : "all"); }},
    {"peak", true, true,
     [](const Peak& p) { return plain(with_doubt(flops_text(p.flops_per_s), p.is_provisional)); }},
    {"q90", true, true,
     [](const Peak& p) {
       return plain(p.flops_per_s_q90 ? flops_text(*p.flops_per_s_q90) : absent_text);
     }},
    {"source", false, true, [](const Peak& p) { return plain(or_dash(p.source)); }},
};

constexpr Column<Bandwidth> bandwidth_columns[] = {
    {"level", false, true, [](const Bandwidth& b) { return plain(b.level); }},
    {"threads", false, true,
     [](const Bandwidth& b) { return plain(b.threads > 0 ? std::to_string(b.threads) : "all"); }},
    {"bandwidth", true, true,
     [](const Bandwidth& b) {
       return plain(with_doubt(bandwidth_text(b.bytes_per_s), b.is_provisional));
     }},
    {"working set", true, true,
     [](const Bandwidth& b) {
       return plain(b.working_set_bytes > 0 ? bytes_text(static_cast<double>(b.working_set_bytes))
                                            : absent_text);
     }},
    {"source", false, true, [](const Bandwidth& b) { return plain(or_dash(b.source)); }},
};

std::optional<Validation::Operator> run_of(const FrontRow& row, const OperatorShare& share) {
  if (row.validation == nullptr) return std::nullopt;
  const auto& operators = row.validation->operators;
  const auto it = std::ranges::find(operators, share.name, &Validation::Operator::name);
  return it == operators.end() ? std::nullopt : std::optional(*it);
}

}  // namespace

std::vector<const OperatorShare*> by_share(const Estimate& estimate) {
  std::vector<const OperatorShare*> out;
  for (const OperatorShare& share : estimate.operators) out.push_back(&share);
  std::ranges::stable_sort(out, std::greater{}, [](const OperatorShare* s) { return s->ns; });
  return out;
}

Table breakdown_table(const FrontRow& row) {
  std::vector<ShareRow> rows;
  for (const OperatorShare* share : by_share(*row.estimate)) {
    rows.push_back({rows.size() + 1, share, row.estimate->step_ns, run_of(row, *share)});
  }
  return make_table<ShareRow>(share_columns, rows, TableWidth::wide);
}

Table kernel_table(const RunReport& report) {
  std::vector<KernelRow> rows;
  for (const KernelPoint& kernel : report.kernels) {
    rows.push_back({&kernel, contradiction(kernel, report)});
  }
  return make_table<KernelRow>(kernel_columns, rows, TableWidth::wide);
}

Table peak_table(const Device& device) {
  return make_table<Peak>(peak_columns, device.peaks, TableWidth::wide);
}

Table bandwidth_table(const Device& device) {
  return make_table<Bandwidth>(bandwidth_columns, device.bandwidths, TableWidth::wide);
}

}  // namespace halmark::report
