#include "report/page/points_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ranges.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/text/table_columns.hpp"

namespace halmark::report {
namespace {

struct PointRow {
  const RunReport* report = nullptr;
  const Evaluation* evaluation = nullptr;
  const FrontRow* front = nullptr;  // null: not on the front
  FrontRow row;                     // what front tables show of a configuration

  const Estimate* estimate() const {
    return evaluation->estimate ? &*evaluation->estimate : nullptr;
  }
  std::string why() const {
    if (!evaluation->reason.empty()) return evaluation->reason;
    return estimate() == nullptr ? std::string(status_name(evaluation->status))
                                 : estimate()->reason;
  }
};

// A figure by which rows are sorted, or why there is none.
void add_figure(RowCells& cells, const char* title, std::optional<double> value,
                std::string (*text)(double), const std::string& why) {
  if (value && !std::isfinite(*value)) value.reset();
  cells.cell({title, true},
             {.text = text_or_dash(value, text), .note = value ? "" : why, .value = value});
}

std::string percent(double fraction) { return percent_text(fraction); }
std::string signed_percent(double fraction) { return signed_percent_text(fraction); }
std::string three_digits(double value) { return significant_text(value); }

// "front" is a word to filter by; where places were drawn anew the share of draws stands beside it.
TableCell front_cell(const PointRow& r) {
  const auto& standing = r.evaluation->standing;
  const double share = standing ? standing->probability : r.front == nullptr ? 0 : 1;
  const std::string drawn = standing ? probability_text(share) : std::string();
  if (r.front == nullptr) return {.text = or_dash(drawn), .value = share};
  return {.text = drawn.empty() ? "front" : "front, " + drawn, .value = share};
}

void describe_point(RowCells& cells, const PointRow& r) {
  static const Estimate none;
  const Configuration& c = r.evaluation->configuration;
  const bool is_priced = r.estimate() != nullptr;
  const Estimate& e = is_priced ? *r.estimate() : none;
  const std::string why = r.why();
  const auto figure = [&](const char* title, double value, std::string (*text)(double)) {
    add_figure(cells, title, is_priced ? std::optional(value) : std::nullopt, text, why);
  };
  cells.cell({"configuration"}, {r.row.label, r.front == nullptr ? "" : r.front->anchor, c.key()});
  cells.number("batch", std::to_string(c.workload.batch));
  cells.number("devices", std::to_string(c.devices()));
  cells.text("status", status_name(r.evaluation->status));
  cells.cell({"on the front", true}, front_cell(r));
  figure("latency", e.step_ns, duration_text);
  figure("tokens/s", e.tokens_per_s, three_digits);
  figure("memory", static_cast<double>(e.memory_bytes_total), bytes_text);
  add_figure(cells, "MFU", e.mfu, percent, is_priced ? e.mfu_reason : why);
  add_figure(cells, "of sheet", e.mfu_datasheet, percent, why);
  cells.text("bottleneck", or_dash(e.bottleneck));
  cells.text("from", is_priced ? provenance_name(e.provenance) : absent_text);
  const bool was_run = r.row.validation != nullptr;  // else most rows would say the same
  add_figure(cells, "run", r.row.measured_ns(), duration_text,
             was_run ? r.row.measured_reason() : "");
  add_figure(cells, "prediction", is_priced ? r.row.prediction_error() : std::nullopt,
             signed_percent, "");
  cells.text("reason", or_dash(why));
}

double order_of(const PointRow& r) {
  const Estimate* e = r.estimate();
  return e != nullptr && std::isfinite(e->step_ns) ? e->step_ns
                                                   : std::numeric_limits<double>::infinity();
}

const Validation* run_of(const RunReport& report, const Evaluation& evaluation) {
  return find_or_null(report.validations, evaluation.configuration.key(),
                      &Validation::deployment_key);
}

std::vector<PointRow> rows_of(const RunReport& report, const PhaseView& view) {
  std::vector<PointRow> rows;
  for (const Evaluation& e : report.evaluations) {
    if (e.configuration.workload.phase != view.phase) continue;
    const auto* on = find_or_null(view.front, &e, &FrontRow::evaluation);
    rows.push_back({.report = &report,
                    .evaluation = &e,
                    .front = on,
                    .row = {.evaluation = &e,
                            .estimate = e.estimate ? &*e.estimate : nullptr,
                            .validation = run_of(report, e),
                            .label = deployment_label(e.configuration, report)}});
  }
  std::ranges::stable_sort(rows, {}, order_of);
  std::ranges::stable_partition(rows, [](const PointRow& r) { return r.front != nullptr; });
  return rows;
}

}  // namespace

Table points_table(const RunReport& report, const PhaseView& view) {
  const std::vector<PointRow> rows = rows_of(report, view);
  static const Evaluation none;
  Table out = table_of(rows, describe_point, {.evaluation = &none, .row = {.evaluation = &none}});
  out.id = "rows-" + std::string(phase_name(view.phase));
  for (const PointRow& r : rows) {
    const int look = dtype_look(r.evaluation->configuration.precision.name).color;
    out.row_classes.push_back((r.front == nullptr ? "k" : "on k") + std::to_string(look));
  }
  return out;
}

void add_points(Table& to, const RunReport& report, const PhaseView& view, const std::string& name,
                std::size_t run) {
  Table own = points_table(report, view);
  if (to.columns.empty()) {
    to = {.columns = own.columns, .id = own.id};
    to.columns.insert(to.columns.begin() + 1, {"run of", false, "run"});
  }
  for (std::size_t r = 0; r < own.rows.size(); ++r) {
    std::vector<TableCell>& cells = own.rows[r];
    cells.front().anchor.clear();  // breakdowns are in the report of the run alone
    cells.insert(cells.begin() + 1, {.text = name});
    to.rows.push_back(std::move(cells));
    const bool is_on = own.row_classes[r].starts_with("on ");
    to.row_classes.push_back((is_on ? "on k" : "k") + std::to_string(run_look(run).color));
  }
}

}  // namespace halmark::report
