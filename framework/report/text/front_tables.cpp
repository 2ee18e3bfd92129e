// Tables of configurations: the fronts, and what was predicted against runs.
#include "report/text/table_columns.hpp"
#include "report/times_from.hpp"

namespace halmark::report {
namespace {

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

// The least trusted of its sources; with what a fabric said the share of each.
std::string from_text(const Estimate& e) {
  const TimesFrom from = times_from(e);
  if (from.provenance.contains(Provenance::fabric)) return shares_text(from.provenance);
  const bool is_bound = e.provenance == Provenance::roofline;
  return std::string(provenance_name(e.provenance)) + (is_bound ? " (a bound)" : "");
}

constexpr Column<FrontRow> front_columns[] = {
    {"configuration", false, true,
     [](const FrontRow& r) {
       return TableCell{r.label, r.anchor, r.evaluation->configuration.key()};
     }},
    {"latency", true, true,
     [](const FrontRow& r) {
       const auto& alone = r.estimate->alone;
       return noted(
           duration_text(r.estimate->step_ns),
           alone ? "of a stream; " + duration_text(alone->ns) + " alone, as it is run" : "");
     }},
    {"interval", true, true,
     [](const FrontRow& r) {
       const Interval i = interval_of(*r.estimate);
       return plain(duration_range_text(i.low, i.high));
     }},
    {"tokens/s", true, true,
     [](const FrontRow& r) { return plain(significant_text(r.estimate->tokens_per_s)); }},
    {"memory", true, true,
     [](const FrontRow& r) {
       return noted(bytes_text(static_cast<double>(r.estimate->memory_bytes_total)),
                    bytes_text(static_cast<double>(r.estimate->memory_bytes_per_rank)) +
                        " at most on a shard");
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
       const std::string from = from_text(*r.estimate);
       return is_suspect(r) ? noted(from + ", suspect", r.estimate->reason) : plain(from);
     }},
    {"on the front", true, false,
     [](const FrontRow& r) {
       const auto& standing = r.evaluation->standing;
       return standing ? noted(probability_text(standing->probability),
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
  const auto ns = r.run->shown_ns();
  return ns ? duration_text(*ns) : absent_text;
}

// Whether the run lies in the interval that was printed, in the state of the machine that it met.
TableCell inside_cell(const Validation& run) {
  const auto interval = run.interval_at_run();
  if (!interval) return noted(absent_text, "the state of the memory is not known");
  return noted(
      std::string(interval->is_inside ? "yes" : "no") + (interval->is_scaled ? ", scaled" : ""),
      duration_range_text(interval->ns.low, interval->ns.high));
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
       return plain(r.run->shown_ns() ? duration_range_text(r.run->measured_interval_ns.low,
                                                            r.run->measured_interval_ns.high)
                                      : absent_text);
     }},
    {"prediction error", true, true,
     [](const RunRow& r) { return error_cell(r.run->prediction_error(), r.run->reason); }},
    {"composition error", true, true,
     [](const RunRow& r) {
       return error_cell(r.run->composition_error(), r.run->composition_reason);
     }},
    {"inside", false, true, [](const RunRow& r) { return inside_cell(*r.run); }},
    {"pairs", true, true, [](const RunRow& r) { return plain(pairs_text(r)); }},
    {"status", false, true,
     [](const RunRow& r) {
       const std::string status(status_name(r.run->status));
       const std::string& why = r.run->reason.empty() ? r.run->composition_reason : r.run->reason;
       return plain(why.empty() ? status : status + ": " + why);
     }},
};

}  // namespace

std::string run_label(const RunReport& report, const std::string& key) {
  for (const Evaluation& e : report.evaluations) {
    if (e.configuration.key() != key) continue;
    return std::string(phase_name(e.configuration.workload.phase)) + ' ' +
           deployment_label(e.configuration, report);
  }
  return key;
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

}  // namespace halmark::report
