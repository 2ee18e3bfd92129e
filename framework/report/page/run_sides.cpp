#include "report/page/run_sides.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/front_view.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

const Estimate* usable(const Evaluation* e) {
  if (e == nullptr || !has_latency(e->status) || !e->estimate) return nullptr;
  const double ns = e->estimate->step_ns;
  return std::isfinite(ns) && ns > 0 ? &*e->estimate : nullptr;
}

// Whose evaluations are those of all runs, so that labels name what differs between them too.
RunReport all_of(const std::vector<NumberedReport>& runs) {
  RunReport out;
  for (const NumberedReport& run : runs) {
    out.evaluations.insert(out.evaluations.end(), run.report.evaluations.begin(),
                           run.report.evaluations.end());
  }
  return out;
}

bool is_on_front(const RunReport& report, std::size_t evaluation) {
  return contains(report.front, evaluation, &FrontPoint::evaluation);
}

TableCell timed(std::optional<double> ns) {
  return ns ? TableCell{.text = duration_text(*ns), .value = ns} : TableCell{.text = absent_text};
}

TableCell rated(std::optional<double> per_s) {
  return per_s ? TableCell{.text = significant_text(*per_s), .value = per_s}
               : TableCell{.text = absent_text};
}

struct Best {
  std::optional<double> latency_ns, tokens_per_s, memory_bytes;
};

Best best_of(const RunReport& report) {
  Best out;
  for (const Evaluation& e : report.evaluations) {
    const Estimate* estimate = usable(&e);
    if (estimate == nullptr) continue;
    const auto memory = as_double(estimate->memory_bytes_total);
    out.latency_ns = std::min(out.latency_ns.value_or(estimate->step_ns), estimate->step_ns);
    out.tokens_per_s =
        std::max(out.tokens_per_s.value_or(estimate->tokens_per_s), estimate->tokens_per_s);
    out.memory_bytes = std::min(out.memory_bytes.value_or(memory), memory);
  }
  return out;
}

std::string fronts_text(const std::vector<NumberedReport>& runs, const SideRow& row) {
  std::string out;
  for (const auto i : indices(runs)) {
    if (row.on_front[i]) append_item(out, ", ", run_name(runs[i]));
  }
  return out.empty() ? absent_text : out;
}

}  // namespace

std::string run_name(const NumberedReport& run) { return "run " + std::to_string(run.run); }

std::optional<double> SideRow::latency_ns(std::size_t run) const {
  const Estimate* e = usable(of_run[run]);
  return e == nullptr ? std::nullopt : std::optional(e->step_ns);
}

std::optional<double> SideRow::tokens_per_s(std::size_t run) const {
  const Estimate* e = usable(of_run[run]);
  return e == nullptr ? std::nullopt : std::optional(e->tokens_per_s);
}

std::optional<double> SideRow::change() const {
  std::vector<double> times;
  for (const auto i : indices(of_run)) {
    if (const auto ns = latency_ns(i)) times.push_back(*ns);
  }
  return times.size() < 2 ? std::nullopt : std::optional(times.back() / times.front() - 1);
}

std::vector<SideRow> side_rows(const std::vector<NumberedReport>& runs) {
  const RunReport all = all_of(runs);
  std::vector<SideRow> rows;
  std::map<std::string, std::size_t, std::less<>> by_key;
  for (const auto i : indices(runs)) {
    const RunReport& report = runs[i].report;
    for (std::size_t e = 0; e < report.evaluations.size(); ++e) {
      const Configuration& c = report.evaluations[e].configuration;
      const auto [at, is_new] = by_key.try_emplace(c.key(), rows.size());
      if (is_new) {
        rows.push_back({.key = c.key(),
                        .label = deployment_label(c, all),
                        .phase = c.workload.phase,
                        .of_run = std::vector<const Evaluation*>(runs.size()),
                        .on_front = std::vector<bool>(runs.size())});
      }
      rows[at->second].of_run[i] = &report.evaluations[e];
      rows[at->second].on_front[i] = is_on_front(report, e);
    }
  }
  return rows;
}

Table runs_table(const std::vector<NumberedReport>& runs) {
  Table out{.columns = {{"run"},
                        {"sweep"},
                        {"model"},
                        {"began"},
                        {"configurations", true},
                        {"front", true},
                        {"fastest latency", true, "latency"},
                        {"most tokens/s", true, "tokens/s"},
                        {"least memory", true, "memory"}}};
  for (const NumberedReport& run : runs) {
    const Best best = best_of(run.report);
    out.rows.push_back({{run_name(run)},
                        {run.report.title},
                        {run.report.model},
                        {run.report.started_utc},
                        {std::to_string(run.report.evaluations.size())},
                        {std::to_string(run.report.front.size())},
                        timed(best.latency_ns),
                        rated(best.tokens_per_s),
                        best.memory_bytes ? TableCell{.text = bytes_text(*best.memory_bytes),
                                                      .value = best.memory_bytes}
                                          : TableCell{.text = absent_text}});
  }
  return out;
}

Table sides_table(const std::vector<NumberedReport>& runs, const std::vector<SideRow>& rows,
                  Phase phase) {
  Table out{.columns = {{"configuration"}}};
  for (const NumberedReport& run : runs) {
    out.columns.push_back({"latency, " + run_name(run), true, "latency"});
  }
  out.columns.push_back({"last / first", true, "change"});
  for (const NumberedReport& run : runs) {
    out.columns.push_back({"tokens/s, " + run_name(run), true, "tokens/s"});
  }
  out.columns.push_back({"on the front of", false, "on the front"});
  for (const SideRow& row : rows) {
    if (row.phase != phase) continue;
    std::vector<TableCell> cells = {{.text = row.label, .note = row.key}};
    for (const auto i : indices(runs)) cells.push_back(timed(row.latency_ns(i)));
    const auto change = row.change();
    cells.push_back({.text = signed_percent_text(change), .value = change});
    for (const auto i : indices(runs)) cells.push_back(rated(row.tokens_per_s(i)));
    cells.push_back({.text = fronts_text(runs, row)});
    out.rows.push_back(std::move(cells));
  }
  return out;
}

}  // namespace halmark::report
