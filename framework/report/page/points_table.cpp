#include "report/page/points_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

TableCell valued(std::optional<double> value, std::string (*text)(double), std::string why) {
  if (!value || !std::isfinite(*value)) return noted(absent_text, std::move(why));
  return {.text = text(*value), .value = value};
}

template <class Field>
TableCell of_estimate(const PointRow& r, Field field, std::string (*text)(double)) {
  const Estimate* e = r.estimate();
  return valued(e == nullptr ? std::nullopt : std::optional<double>(field(*e)), text, r.why());
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

TableCell run_cell(const PointRow& r) {
  const bool is_told = r.row.validation != nullptr;  // else most rows would say the same
  return valued(r.row.measured_ns(), duration_text, is_told ? r.row.measured_reason() : "");
}

TableCell prediction_cell(const PointRow& r) {
  if (r.estimate() == nullptr) return plain(absent_text);
  return valued(r.row.prediction_error(), signed_percent, "");
}

constexpr Column<PointRow> point_columns[] = {
    {"configuration", false, true,
     [](const PointRow& r) {
       return TableCell{.text = r.row.label,
                        .anchor = r.front == nullptr ? "" : r.front->anchor,
                        .note = r.evaluation->configuration.key()};
     }},
    {"batch", true, true,
     [](const PointRow& r) {
       return plain(std::to_string(r.evaluation->configuration.workload.batch));
     }},
    {"devices", true, true,
     [](const PointRow& r) {
       return plain(std::to_string(r.evaluation->configuration.devices()));
     }},
    {"status", false, true,
     [](const PointRow& r) { return plain(std::string(status_name(r.evaluation->status))); }},
    {"on the front", true, true, front_cell},
    {"latency", true, true,
     [](const PointRow& r) {
       return of_estimate(
           r, [](const Estimate& e) { return e.step_ns; }, duration_text);
     }},
    {"tokens/s", true, true,
     [](const PointRow& r) {
       return of_estimate(
           r, [](const Estimate& e) { return e.tokens_per_s; }, three_digits);
     }},
    {"memory", true, true,
     [](const PointRow& r) {
       return of_estimate(
           r, [](const Estimate& e) { return static_cast<double>(e.memory_bytes_total); },
           bytes_text);
     }},
    {"MFU", true, true,
     [](const PointRow& r) {
       const Estimate* e = r.estimate();
       return e == nullptr ? noted(absent_text, r.why()) : valued(e->mfu, percent, e->mfu_reason);
     }},
    {"of sheet", true, true,
     [](const PointRow& r) {
       const Estimate* e = r.estimate();
       return valued(e == nullptr ? std::nullopt : e->mfu_datasheet, percent, r.why());
     }},
    {"bottleneck", false, true,
     [](const PointRow& r) {
       return plain(or_dash(r.estimate() == nullptr ? std::string() : r.estimate()->bottleneck));
     }},
    {"from", false, true,
     [](const PointRow& r) {
       return plain(r.estimate() == nullptr
                        ? absent_text
                        : std::string(provenance_name(r.estimate()->provenance)));
     }},
    {"run", true, true, run_cell},
    {"prediction", true, true, prediction_cell},
    {"reason", false, true, [](const PointRow& r) { return plain(or_dash(r.why())); }},
};

double order_of(const PointRow& r) {
  const Estimate* e = r.estimate();
  return e != nullptr && std::isfinite(e->step_ns) ? e->step_ns
                                                   : std::numeric_limits<double>::infinity();
}

const Validation* run_of(const RunReport& report, const Evaluation& evaluation) {
  const auto it = std::ranges::find(report.validations, evaluation.configuration.key(),
                                    &Validation::deployment_key);
  return it == report.validations.end() ? nullptr : &*it;
}

std::vector<PointRow> rows_of(const RunReport& report, const PhaseView& view) {
  std::vector<PointRow> rows;
  for (const Evaluation& e : report.evaluations) {
    if (e.configuration.workload.phase != view.phase) continue;
    const auto on = std::ranges::find(view.front, &e, &FrontRow::evaluation);
    rows.push_back({.report = &report,
                    .evaluation = &e,
                    .front = on == view.front.end() ? nullptr : &*on,
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
  Table out = make_table<PointRow>(point_columns, rows, TableWidth::wide);
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
