// Tables of configurations: the fronts, and what was predicted against runs.
#include "report/text/table_columns.hpp"
#include "report/times_from.hpp"

namespace halmark::report {
namespace {

// A signed error, or why there is none.
void add_error(RowCells& cells, const char* title, std::optional<double> error,
               std::string_view why_absent) {
  cells.number(title, signed_percent_text(error), error ? "" : why_absent);
}

std::string measured_text(const FrontRow& r) {
  if (const auto measured = r.measured_ns()) return duration_text(*measured);
  return r.validation == nullptr ? absent_text : std::string(status_name(r.validation->status));
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

void describe_front(RowCells& cells, const FrontRow& r, TableWidth width) {
  const Estimate& e = *r.estimate;
  const Interval interval = interval_of(e);
  const bool is_wide = width == TableWidth::wide;
  cells.cell({"configuration"}, {r.label, r.anchor, r.evaluation->configuration.key()});
  cells.number(
      "latency", duration_text(e.step_ns),
      e.alone ? "of a stream; " + duration_text(e.alone->ns) + " alone, as it is run" : "");
  cells.number("interval", duration_range_text(interval.low, interval.high));
  cells.number("tokens/s", significant_text(e.tokens_per_s));
  cells.number("memory", bytes_text(e.memory_bytes_total),
               bytes_text(e.memory_bytes_per_rank) + " at most on a shard");
  cells.number("MFU", percent_text(e.mfu), e.mfu ? "" : e.mfu_reason);
  if (is_wide) {
    cells.number("of sheet", percent_text(e.mfu_datasheet), "MFU against the datasheet peak");
  }
  cells.text("bottleneck", or_dash(e.bottleneck));
  const bool doubted = is_suspect(r);
  cells.text("from", from_text(e) + (doubted ? ", suspect" : ""), doubted ? e.reason : "");
  if (const auto& standing = r.evaluation->standing; is_wide && standing) {
    cells.number("on the front", probability_text(standing->probability),
                 front_class_name(standing->front_class));
  } else if (is_wide) {
    cells.number("on the front", absent_text);
  }
  cells.number("run", measured_text(r), r.measured_reason());
  add_error(cells, "prediction", r.prediction_error(), r.measured_reason());
  add_error(cells, "composition", r.composition_error(), r.composition_reason());
}

struct RunRow {
  const Validation* run = nullptr;
  std::string label;
};

// Whether the run lies in the interval that was printed, in the state of the machine that it met.
void add_inside(RowCells& cells, const Validation& run) {
  const auto interval = run.interval_at_run();
  if (!interval) return cells.text("inside", absent_text, "the state of the memory is not known");
  cells.text(
      "inside",
      std::string(interval->is_inside ? "yes" : "no") + (interval->is_scaled ? ", scaled" : ""),
      duration_range_text(interval->ns.low, interval->ns.high));
}

std::string pairs_text(const Validation& run) {
  const auto& c = run.composition;
  if (!c || c->pairs == 0) return absent_text;
  if (!c->in_one_state) return std::to_string(c->pairs) + " unsteady";
  return std::to_string(c->pairs) +
         (c->apart > 0 ? " (" + std::to_string(c->apart) + " apart)" : "");
}

void describe_run(RowCells& cells, const RunRow& r) {
  const Validation& run = *r.run;
  const auto range = [](const Interval& ns) { return duration_range_text(ns.low, ns.high); };
  const std::string status(status_name(run.status));
  const std::string& why = run.reason.empty() ? run.composition_reason : run.reason;
  cells.text("configuration", r.label, run.deployment_key);
  cells.number("printed", text_or_dash(run.predicted_ns, duration_text),
               run.predicted_ns ? range(run.predicted_interval_ns) : "");
  if (run.composition) {
    cells.number("its kernels", duration_text(run.composition->composed_ns));
  } else {
    cells.number("its kernels", absent_text, run.composition_reason);
  }
  // Figures of a run are shown whatever its status says, and that stands beside them.
  cells.number("run", text_or_dash(run.shown_ns(), duration_text));
  cells.number("interval", run.shown_ns() ? range(run.measured_interval_ns) : absent_text);
  add_error(cells, "prediction error", run.prediction_error(), run.reason);
  add_error(cells, "composition error", run.composition_error(), run.composition_reason);
  add_inside(cells, run);
  cells.number("pairs", pairs_text(run));
  cells.text("status", why.empty() ? status : status + ": " + why);
}

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
  static const Evaluation evaluation;
  static const Estimate estimate;
  static const FrontPoint point;
  return table_of(view.front,
                  [&](RowCells& cells, const FrontRow& row) { describe_front(cells, row, width); },
                  {.point = &point, .evaluation = &evaluation, .estimate = &estimate});
}

Table validation_table(const RunReport& report) {
  std::vector<RunRow> rows;
  for (const Validation& v : report.validations) {
    rows.push_back({&v, run_label(report, v.deployment_key)});
  }
  return table_of(rows, describe_run);
}

}  // namespace halmark::report
