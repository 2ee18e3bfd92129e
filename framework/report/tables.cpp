#include "report/tables.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "report/quantity.hpp"

namespace halmark::report {
namespace {

template <class Row>
struct Column {
  const char* title;
  bool is_number;
  bool is_narrow;  // also shown where there are 120 columns
  TableCell (*cell)(const Row& row);
};

template <class Row>
Table make_table(std::span<const Column<Row>> columns, const std::vector<Row>& rows,
                 TableWidth width) {
  Table table;
  const auto is_shown = [&](const Column<Row>& c) {
    return width == TableWidth::wide || c.is_narrow;
  };
  for (const Column<Row>& column : columns) {
    if (is_shown(column)) table.columns.push_back({column.title, column.is_number});
  }
  for (const Row& row : rows) {
    std::vector<TableCell> cells;
    for (const Column<Row>& column : columns) {
      if (is_shown(column)) cells.push_back(column.cell(row));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

TableCell plain(std::string text) { return {.text = std::move(text)}; }

TableCell noted(std::string text, std::string note) {
  return {.text = std::move(text), .note = std::move(note)};
}

std::string or_dash(const std::string& text) { return text.empty() ? absent_text : text; }

TableCell measured_cell(const FrontRow& r) {
  if (const auto measured = r.measured_ns()) return plain(duration_text(*measured));
  if (r.validation == nullptr) return noted(absent_text, r.measured_reason());
  return noted(std::string(status_name(r.validation->status)), r.measured_reason());
}

TableCell error_cell(std::optional<double> error, std::string why_absent) {
  return error ? plain(signed_percent_text(error)) : noted(absent_text, std::move(why_absent));
}

bool is_suspect(const FrontRow& r) {
  return r.point->is_suspect || r.evaluation->status == Status::suspect;
}

constexpr Column<FrontRow> front_columns[] = {
    {"configuration", false, true,
     [](const FrontRow& r) {
       return TableCell{r.label, r.anchor, r.evaluation->configuration.key()};
     }},
    {"latency", true, true,
     [](const FrontRow& r) { return plain(duration_text(r.estimate->step_ns)); }},
    {"interval", true, true,
     [](const FrontRow& r) {
       return plain(duration_range_text(r.estimate->low_ns, r.estimate->high_ns));
     }},
    {"tokens/s", true, true,
     [](const FrontRow& r) { return plain(significant_text(r.estimate->tokens_per_s)); }},
    {"memory", true, true,
     [](const FrontRow& r) {
       return noted(bytes_text(static_cast<double>(r.estimate->memory_bytes_total)),
                    bytes_text(static_cast<double>(r.estimate->memory_bytes_per_rank)) +
                        " on the fullest shard");
     }},
    {"MFU", true, true,
     [](const FrontRow& r) {
       return noted(percent_text(r.estimate->mfu), r.estimate->mfu ? "" : r.estimate->mfu_reason);
     }},
    {"of sheet", true, false,
     [](const FrontRow& r) {
       return noted(percent_text(r.estimate->mfu_datasheet), "MFU against the datasheet peak");
     }},
    {"bottleneck", false, true,
     [](const FrontRow& r) { return plain(or_dash(r.estimate->bottleneck)); }},
    {"from", false, true,
     [](const FrontRow& r) {
       const bool is_bound = r.estimate->provenance == Provenance::roofline;
       const std::string from =
           std::string(provenance_name(r.estimate->provenance)) + (is_bound ? " (a bound)" : "");
       return is_suspect(r) ? noted(from + ", suspect", r.estimate->reason) : plain(from);
     }},
    {"on the front", true, false,
     [](const FrontRow& r) {
       const auto& standing = r.evaluation->standing;
       return standing ? noted(percent_text(standing->probability),
                               std::string(front_class_name(standing->front_class)))
                       : plain(absent_text);
     }},
    {"run", true, true, measured_cell},
    {"prediction", true, true,
     [](const FrontRow& r) { return error_cell(r.prediction_error(), r.measured_reason()); }},
    {"composition", true, true,
     [](const FrontRow& r) { return error_cell(r.composition_error(), r.composition_reason()); }},
};

struct RunRow {
  const Validation* run = nullptr;
  std::string label;
};

// Figures of a run are shown whatever its status says, and that stands beside them.
std::string run_text(const RunRow& r) {
  return r.run->measured_ns > 0 ? duration_text(r.run->measured_ns) : absent_text;
}

std::string pairs_text(const RunRow& r) {
  const auto& c = r.run->composition;
  if (!c || c->pairs == 0) return absent_text;
  if (!c->in_one_state) return std::to_string(c->pairs) + " unsteady";
  return std::to_string(c->pairs) +
         (c->apart > 0 ? " (" + std::to_string(c->apart) + " apart)" : "");
}

constexpr Column<RunRow> run_columns[] = {
    {"configuration", false, true,
     [](const RunRow& r) { return noted(r.label, r.run->deployment_key); }},
    {"printed", true, true,
     [](const RunRow& r) {
       return r.run->predicted_ns ? noted(duration_text(*r.run->predicted_ns),
                                          duration_range_text(r.run->predicted_interval_ns.low,
                                                              r.run->predicted_interval_ns.high))
                                  : plain(absent_text);
     }},
    {"its kernels", true, true,
     [](const RunRow& r) {
       return r.run->composition ? plain(duration_text(r.run->composition->composed_ns))
                                 : noted(absent_text, r.run->composition_reason);
     }},
    {"run", true, true, [](const RunRow& r) { return plain(run_text(r)); }},
    {"interval", true, true,
     [](const RunRow& r) {
       return plain(r.run->measured_ns > 0 ? duration_range_text(r.run->measured_interval_ns.low,
                                                                 r.run->measured_interval_ns.high)
                                           : absent_text);
     }},
    {"prediction error", true, true,
     [](const RunRow& r) { return error_cell(r.run->prediction_error(), r.run->reason); }},
    {"composition error", true, true,
     [](const RunRow& r) {
       return error_cell(r.run->composition_error(), r.run->composition_reason);
     }},
    {"pairs", true, true, [](const RunRow& r) { return plain(pairs_text(r)); }},
    {"status", false, true,
     [](const RunRow& r) {
       const std::string status(status_name(r.run->status));
       const std::string& why = r.run->reason.empty() ? r.run->composition_reason : r.run->reason;
       return plain(why.empty() ? status : status + ": " + why);
     }},
};

std::string run_label(const RunReport& report, const std::string& key) {
  for (const Evaluation& e : report.evaluations) {
    if (e.configuration.key() != key) continue;
    return std::string(phase_name(e.configuration.workload.phase)) + ' ' +
           deployment_label(e.configuration, report);
  }
  return key;
}

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
       const std::string from(provenance_name(r.share->provenance));
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

Table front_table(const PhaseView& view, TableWidth width) {
  return make_table<FrontRow>(front_columns, view.front, width);
}

Table validation_table(const RunReport& report) {
  std::vector<RunRow> rows;
  for (const Validation& v : report.validations) {
    rows.push_back({&v, run_label(report, v.deployment_key)});
  }
  return make_table<RunRow>(run_columns, rows, TableWidth::wide);
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
