#include "report/page/runs_page.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "report/charts/charts.hpp"
#include "report/charts/svg.hpp"
#include "report/formats.hpp"
#include "report/page/html_page.hpp"
#include "report/page/points_table.hpp"
#include "report/page/run_sides.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/stacked_table.hpp"

namespace halmark {
namespace {

using report::element;
using report::html_text;
using report::SideRow;
using report::Table;

constexpr const char* no_verdict =
    "Differences are as they were measured; halmark compare says which of them are more than "
    "noise.";

std::vector<Phase> phases_of(const std::vector<SideRow>& rows) {
  std::vector<Phase> out;
  for (const Phase phase : {Phase::decode, Phase::prefill}) {
    if (contains(rows, phase, &SideRow::phase)) out.push_back(phase);
  }
  return out;
}

Json joined_json(const std::vector<NumberedReport>& runs, const std::vector<SideRow>& rows) {
  Json sides = Json::array();
  Json list = json_list(runs, [](const NumberedReport& run) -> Json {
    return {{"run", run.run},
            {"title", run.report.title},
            {"model", run.report.model},
            {"started_utc", run.report.started_utc},
            {"fingerprint", run.report.fingerprint},
            {"configurations", run.report.evaluations.size()},
            {"front", run.report.front.size()}};
  });
  for (const SideRow& row : rows) {
    Json of_run = Json::array();
    for (const auto i : indices(runs)) {
      of_run.push_back({{"run", runs[i].run},
                        {"is_evaluated", row.of_run[i] != nullptr},
                        {"latency_ns", optional_number(row.latency_ns(i))},
                        {"tokens_per_s", optional_number(row.tokens_per_s(i))},
                        {"is_on_front", static_cast<bool>(row.on_front[i])}});
    }
    sides.push_back({{"key", row.key},
                     {"phase", phase_name(row.phase)},
                     {"change", optional_number(row.change())},
                     {"runs", std::move(of_run)}});
  }
  return {{"runs", std::move(list)}, {"configurations", std::move(sides)}};
}

std::string legend(const std::vector<NumberedReport>& runs) {
  std::string out = "<figcaption><ul class=\"legend\">\n";
  for (const auto i : indices(runs)) {
    out += "<li>" + report::legend_marker(report::run_look(i), "m") + ' ' +
           html_text(report::run_name(runs[i]) + ": " + runs[i].report.title + ", " +
                     runs[i].report.started_utc) +
           "</li>\n";
  }
  return out +
         "</ul>\n<p>Each mark is a configuration on the front of its run; dashed: the most tokens "
         "per second at or below a latency. Further up and to the left is better.</p>"
         "</figcaption>\n";
}

std::string phase_section(const std::vector<NumberedReport>& runs, const std::vector<SideRow>& rows,
                          Phase phase) {
  const std::string name(phase_name(phase));
  std::vector<report::PhaseView> views;
  Table points;
  for (const auto i : indices(runs)) {
    views.push_back(report::phase_view_of(runs[i].report, phase));
    report::add_points(points, runs[i].report, views.back(), report::run_name(runs[i]), i);
  }
  std::string out = "<section>\n<h2 id=\"" + name + "\">" + name + "</h2>\n";
  if (const std::string chart = report::runs_chart(views, name); !chart.empty()) {
    out += "<div class=\"pair\"><figure data-of=\"" + points.id + "\">" + chart + legend(runs) +
           "</figure></div>\n";
  }
  return out + element("h3", "Configuration by configuration") +
         report::table_html(report::sides_table(runs, rows, phase), name + " side by side") +
         element("h3", "All that was evaluated") +
         report::table_html(points, "all " + name + " configurations of all runs") + "</section>\n";
}

std::string provenance(const std::vector<NumberedReport>& runs) {
  std::string out = "<footer>\n<h2 id=\"provenance\">Provenance</h2>\n<dl>\n";
  for (const NumberedReport& run : runs) {
    out += "<dt>" + report::run_name(run) + "</dt><dd><code>" + html_text(run.report.command) +
           "</code>, " + html_text(run.report.tool) + ", plan " + html_text(run.report.plan_hash) +
           ", chain head " + html_text(run.report.chain_head) + ", fingerprint " +
           html_text(run.report.fingerprint) + "</dd>\n";
  }
  return out + "</dl>\n</footer>\n";
}

std::string title_of(const std::vector<NumberedReport>& runs) {
  return std::to_string(runs.size()) + " runs side by side";
}

std::string runs_markdown(const std::vector<NumberedReport>& runs) {
  const std::vector<SideRow> rows = report::side_rows(runs);
  std::string out =
      "# " + title_of(runs) + "\n\n" + report::table_markdown(report::runs_table(runs));
  for (const Phase phase : phases_of(rows)) {
    out += "\n## " + std::string(phase_name(phase)) + "\n\n" +
           report::table_markdown(report::sides_table(runs, rows, phase));
  }
  return out + '\n' + no_verdict + '\n';
}

}  // namespace

Json runs_json(const std::vector<NumberedReport>& runs) {
  return joined_json(runs, report::side_rows(runs));
}

std::string runs_text(const std::vector<NumberedReport>& runs, int width) {
  const std::vector<SideRow> rows = report::side_rows(runs);
  std::string text = report::stacked_text(report::runs_table(runs), width);
  for (const Phase phase : phases_of(rows)) {
    text += '\n' + std::string(phase_name(phase)) + '\n' +
            report::stacked_text(report::sides_table(runs, rows, phase), width);
  }
  return text + '\n' + no_verdict + '\n';
}

std::string runs_html(const std::vector<NumberedReport>& runs) {
  const std::vector<SideRow> rows = report::side_rows(runs);
  std::string out = report::scripted_page_head(title_of(runs)) + "<body>\n<header>\n" +
                    element("h1", title_of(runs)) + element("p", no_verdict) +
                    "</header>\n<main>\n" + report::table_html(report::runs_table(runs), "runs");
  for (const Phase phase : phases_of(rows)) out += phase_section(runs, rows, phase);
  return out + "</main>\n" + provenance(runs) + report::script_element() + "</body>\n</html>\n";
}

void write_runs(const std::vector<NumberedReport>& runs, const std::string& path) {
  using Runs = std::vector<NumberedReport>;
  static constexpr report::Format<Runs> formats[] = {
      {".html", runs_html},
      {".json", [](const Runs& r) { return report::json_text(runs_json(r)); }},
      {".md", runs_markdown}};
  write_whole_file(
      report::format_of(path, formats, "unknown format of several runs '{}'").render(runs), path);
}

}  // namespace halmark
