#include "history/view/comparison_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "core/json/json.hpp"
#include "core/text/text.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"

namespace halmark::history {
namespace {

using report::signed_percent_text;

constexpr std::array all_changes = {Change::slower,  Change::faster, Change::undecided,
                                    Change::invalid, Change::same,   Change::failed};

Json side_json(const Side& side) {
  return {{"title", side.title},          {"runs", side.runs},
          {"builds", side.builds},        {"fingerprint", side.fingerprints.front()},
          {"series", side.series.size()}, {"account", side.account}};
}

Json change_json(const SeriesChange& c) {
  const bool is_valid = is_judged(c.change);
  return {{"series", c.name.what},
          {"plugin", c.name.plugin},
          {"change", change_name(c.change)},
          {"ratio", optional_number(c.ratio)},
          {"ratio_interval", is_valid ? Json(c.interval) : Json(nullptr)},
          {"before_ns", optional_number(c.before_ns)},
          {"after_ns", optional_number(c.after_ns)},
          {"p", is_valid ? Json(c.p) : Json(nullptr)},
          {"q", is_valid ? Json(c.q) : Json(nullptr)},
          {"unit", unit_name(c.unit)},
          {"units_before", c.units_before},
          {"units_after", c.units_after},
          {"memory_ratio", optional_number(c.memory_ratio)},
          {"clock_ratio", optional_number(c.clock_ratio)},
          {"reason", c.reason}};
}

Json moves_json(const std::vector<FrontMove>& moves) {
  return json_list(moves, [](const FrontMove& m) -> Json {
    return {{"configuration", m.configuration},
            {"move", m.has_entered ? "entered" : "left"},
            {"is_certain", m.is_certain},
            {"before_ns", optional_number(m.before_ns)},
            {"after_ns", optional_number(m.after_ns)},
            {"moved_by", m.moved_by},
            {"kernel", m.kernel},
            {"kernel_before_ns", m.kernel_before_ns},
            {"kernel_after_ns", m.kernel_after_ns}};
  });
}

Json comparison_json(const Comparison& comparison) {
  Json counts = Json::object();
  for (const Change change : all_changes) {
    counts[std::string(change_name(change))] = comparison.count(change);
  }
  Json changes = json_list(comparison.changes, change_json);
  const ComparisonRules& rules = comparison.rules;
  return {{"before", side_json(comparison.before)},
          {"after", side_json(comparison.after)},
          {"rules",
           {{"floor", rules.floor},
            {"false_discovery", rules.false_discovery},
            {"confidence", rules.confidence}}},
          {"counts", std::move(counts)},
          {"changes", std::move(changes)},
          {"only_before", comparison.only_before},
          {"only_after", comparison.only_after},
          {"front_moves", moves_json(comparison.front_moves)}};
}

std::vector<Change> verdicts_of(const Comparison& comparison) {
  std::vector<Change> out;
  for (const SeriesChange& c : comparison.changes) out.push_back(c.change);
  return out;
}

std::string counts_text(const Comparison& comparison) {
  std::string out;
  for (const Change change : all_changes) {
    append_item(out, ", ", fmt::format("{} {}", comparison.count(change), change_name(change)));
  }
  return out;
}

std::string side_text(const Side& side) {
  std::string out = side.title;
  if (side.runs.size() > 1) out += fmt::format(", {} runs", side.runs.size());
  if (!side.builds.empty()) out += "; build " + join(side.builds, ", ");
  return side.account.empty() ? out : out + "; " + side.account;
}

std::string interval_text(const SeriesChange& c) {
  if (!is_judged(c.change)) return report::absent_text;
  return signed_percent_text(c.interval.low - 1) + " .. " +
         signed_percent_text(c.interval.high - 1);
}

std::string units_text(const SeriesChange& c) {
  if (!is_judged(c.change)) return report::absent_text;
  if (c.unit == Unit::intervals) return "composed";
  return fmt::format("{} and {} {}", c.units_before, c.units_after, unit_name(c.unit));
}

std::optional<double> relative(const SeriesChange& c) {
  return c.ratio ? std::optional(*c.ratio - 1) : std::nullopt;
}

std::string duration(std::optional<double> ns) {
  return ns ? report::duration_text(*ns) : std::string(report::absent_text);
}

report::Table table_of(const Comparison& comparison) {
  report::Table out{.columns = {{"verdict"},
                                {"time", true},
                                {"interval", true},
                                {"series"},
                                {"before", true},
                                {"after", true},
                                {"of"},
                                {"why"}}};
  for (const SeriesChange& c : comparison.changes) {
    if (c.change == Change::same) continue;
    out.rows.push_back({{std::string(change_name(c.change))},
                        {signed_percent_text(relative(c))},
                        {interval_text(c)},
                        {c.name.what},
                        {duration(c.before_ns)},
                        {duration(c.after_ns)},
                        {units_text(c)},
                        {c.reason}});
  }
  return out;
}

report::Table moves_of(const Comparison& comparison) {
  report::Table out{.columns = {{"the front"},
                                {"configuration"},
                                {"before", true},
                                {"after", true},
                                {"moved by"},
                                {"kernel of a step", true}}};
  for (const FrontMove& m : comparison.front_moves) {
    const std::string by = m.moved_by == m.configuration ? "itself" : m.moved_by;
    out.rows.push_back(
        {{std::string(m.has_entered ? "entered" : "left") + (m.is_certain ? "" : ", within noise")},
         {m.configuration},
         {duration(m.before_ns)},
         {duration(m.after_ns)},
         {m.kernel.empty() ? std::string(report::absent_text) : by + ": " + m.kernel},
         {m.kernel.empty() ? std::string(report::absent_text)
                           : report::duration_text(m.kernel_before_ns) + " to " +
                                 report::duration_text(m.kernel_after_ns)}});
  }
  return out;
}

std::string moves_summary(const Comparison& comparison) {
  const auto& moves = comparison.front_moves;
  const auto entered = std::ranges::count(moves, true, &FrontMove::has_entered);
  return fmt::format("The front moved: {} entered, {} left", entered,
                     static_cast<std::ptrdiff_t>(moves.size()) - entered);
}

std::string alone_text(const Comparison& comparison) {
  std::string out;
  if (!comparison.only_before.empty()) {
    out += fmt::format("{} series are of the first side alone\n", comparison.only_before.size());
  }
  if (!comparison.only_after.empty()) {
    out += fmt::format("{} series are of the second side alone\n", comparison.only_after.size());
  }
  return out;
}

// Tells rows apart.
std::size_t series_column(const report::Table& table) {
  const auto at = std::ranges::find(table.columns, "series", &report::TableColumn::title);
  return at == table.columns.end() ? 0 : static_cast<std::size_t>(at - table.columns.begin());
}

// The answer: what is how many times, and of a lone series by how much.
std::string answer_text(const Comparison& comparison) {
  std::string by;
  if (comparison.changes.size() == 1 && is_judged(comparison.changes.front().change)) {
    const SeriesChange& lone = comparison.changes.front();
    by = ": time " + signed_percent_text(relative(lone)) + " (" + interval_text(lone) + ')';
  }
  return fmt::format("{} of {} series{} (floor {}, {} of the changes called may be false)\n",
                     counts_text(comparison), comparison.changes.size(), by,
                     report::percent_text(comparison.rules.floor),
                     report::percent_text(comparison.rules.false_discovery));
}

std::string text_of(const Comparison& comparison) {
  std::string out = answer_text(comparison) + "before: " + printable(side_text(comparison.before)) +
                    "\nafter:  " + printable(side_text(comparison.after)) + '\n';
  const report::Table table = table_of(comparison);
  if (!table.rows.empty()) out += report::stdout_text(table, series_column(table));
  if (!comparison.front_moves.empty()) {
    out += moves_summary(comparison) + '\n' + report::stdout_text(moves_of(comparison));
  }
  return out + alone_text(comparison);
}

// Mermaid takes no quotes and no brackets in a label; the op and its sizes tell enough.
std::string label_of(const SeriesChange& c) {
  std::string out;
  for (const char letter : report::shortened(c.name.what, 28)) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                          std::string_view(" =._-/").find(letter) != std::string_view::npos;
    out += is_plain ? letter : ' ';
  }
  return '"' + out + '"';
}

// The largest changes that were called, as bars.
std::string picture(const Comparison& comparison) {
  constexpr std::size_t bars_max = 12;
  std::vector<const SeriesChange*> bars;
  for (const SeriesChange& c : comparison.changes) {
    if (c.change == Change::slower || c.change == Change::faster) bars.push_back(&c);
  }
  if (bars.empty()) {
    for (const SeriesChange& c : comparison.changes) {
      if (c.ratio) bars.push_back(&c);
    }
  }
  if (bars.empty()) return {};
  std::ranges::stable_sort(bars, [](const SeriesChange* a, const SeriesChange* b) {
    return std::abs(std::log(*a->ratio)) > std::abs(std::log(*b->ratio));
  });
  if (bars.size() > bars_max) bars.resize(bars_max);
  std::string labels, values;
  for (const SeriesChange* bar : bars) {
    append_item(labels, ", ", label_of(*bar));
    append_item(values, ", ", report::fixed_text((*bar->ratio - 1) * 100, 2));
  }
  return "```mermaid\nxychart-beta horizontal\n  title \"change of the time, %\"\n  x-axis [" +
         labels + "]\n  y-axis \"%\"\n  bar [" + values + "]\n```\n\n";
}

}  // namespace

report::View comparison_view(const Comparison& comparison) {
  return {.data = comparison_json(comparison), .text = text_of(comparison)};
}

std::string comparison_markdown(const Comparison& comparison) {
  std::string out = fmt::format("## Halmark: {}\n\n{}.\n\n", headline(verdicts_of(comparison)),
                                report::markdown_text(counts_text(comparison)));
  out += "- before: " + report::markdown_text(side_text(comparison.before)) + '\n';
  out += "- after: " + report::markdown_text(side_text(comparison.after)) + '\n';
  out += "- floor: " + report::percent_text(comparison.rules.floor) + "\n\n";
  out += picture(comparison);
  const report::Table table = table_of(comparison);
  if (!table.rows.empty()) out += report::table_markdown(table);
  if (!comparison.front_moves.empty()) {
    out += "\n### " + moves_summary(comparison) + "\n\n" +
           report::table_markdown(moves_of(comparison));
  }
  return out;
}

ExitCode comparison_exit(const Comparison& comparison, bool is_gate) {
  return verdict_exit(verdicts_of(comparison), is_gate);
}

void write_comparison(const Comparison& comparison, const std::string& path) {
  if (path.ends_with(".json")) {
    write_whole_file(dump_json(comparison_json(comparison), 1) + '\n', path);
  } else if (path.ends_with(".md")) {
    write_whole_file(comparison_markdown(comparison), path);
  } else {
    throw refused("unknown format of a comparison", path, "known: .json, .md");
  }
}

}  // namespace halmark::history
