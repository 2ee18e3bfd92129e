// Of one problem the fastest variants first, then those without a time and why.
#include "report/views/winner_views.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "report/text/quantity.hpp"
#include "report/text/stacked_table.hpp"
#include "report/text/table.hpp"

namespace halmark::report {
namespace {

std::string range_text(const Interval& ns) {
  return duration_text(ns.low) + " .. " + duration_text(ns.high);
}

std::string verdict_of(const VariantTime& v, const Winner& winner) {
  std::string out = &v == &winner.variants.front() ? "fastest" : v.is_tied ? "= tie" : "";
  if (winner.tied() > 1 && &v == &winner.variants.front()) out = "fastest, = tie";
  if (v.variant.is_default) out += out.empty() ? "default" : ", default";
  return out;
}

// Rows without a time say why; in the plugin's order, after those that have one.
void add_failures(const VariantComparison& c, TextTable& table) {
  for (const Variant& v : c.variants) {
    const bool has_time =
        c.winner && std::ranges::any_of(c.winner->variants,
                                        [&](const VariantTime& t) { return t.variant == v; });
    const auto* point = find_value(c.points, variant_case(c.question, v).key());
    if (has_time || !point) continue;
    table.add({v.kernel, v.config.text(), implementation_name(point->implementation), "-", "-", "-",
               "", std::string(status_name(point->status)) + ": " + point->reason});
  }
}

std::string table_of(const VariantComparison& c) {
  TextTable table(
      {"kernel", "config", "implementation", ">median", ">interval", ">of fastest", "", "status"});
  if (c.winner) {
    for (const VariantTime& v : c.winner->variants) {
      const KernelPoint& point = c.points.at(variant_case(c.question, v.variant).key());
      table.add({v.variant.kernel, v.variant.config.text(), implementation_name(v.implementation),
                 duration_text(v.ns), range_text(v.interval_ns),
                 fmt::format("{:.2f} x", v.ns / c.winner->variants.front().ns),
                 verdict_of(v, *c.winner),
                 std::string(status_name(point.status)) +
                     (point.reason.empty() ? "" : ": " + point.reason)});
    }
  }
  add_failures(c, table);
  return table.text();
}

std::string conclusion_of(const Winner& winner) {
  if (winner.tied() == 1) return "winner: " + winner.chosen.text() + '\n';
  return fmt::format("tie of {}: {} is used{}\n", winner.tied(), winner.chosen.text(),
                     winner.chosen.is_default ? ", the plugin's default" : "");
}

Json problem_json(const VariantComparison& c) {
  Json out = {{"key", winner_key(c.question)},
              {"winner", c.winner ? Json(*c.winner) : Json(nullptr)},
              {"notes", c.notes}};
  if (!c.winner) out["winner_reason"] = "no variant has a time";
  return out;
}

std::string problem_text(const VariantComparison& c) {
  std::string out = winner_key(c.question) + '\n' + table_of(c);
  for (const std::string& note : c.notes) out += "  " + message_text(note) + '\n';
  return out + (c.winner ? conclusion_of(*c.winner) : "no variant has a time\n");
}

}  // namespace

View variants_view(std::span<const VariantComparison> comparisons) {
  View out;
  Json problems = Json::array();
  for (const VariantComparison& c : comparisons) {
    if (!out.text.empty()) out.text += '\n';
    out.text += problem_text(c);
    problems.push_back(problem_json(c));
  }
  out.data = {{"problems", std::move(problems)}};
  return out;
}

View winners_view(std::span<const StoredWinner> winners) {
  TextTable table({"problem on device, mode", "winner", "median", "interval", "tied", "plugin",
                   "run", "status"},
                  {false, false, true, true, true, false, true, false});
  Json list = Json::array();
  for (const auto& [run, w] : winners) {
    const VariantTime& fastest = w.variants.front();
    table.add({winner_key(w.question),
               w.chosen.text() + (w.chosen.is_default ? " (the default)" : ""),
               duration_text(fastest.ns), range_text(fastest.interval_ns),
               fmt::format("{} of {}", w.tied(), w.variants.size()),
               w.plugin_name + ' ' + w.plugin_hash.substr(0, 8), std::to_string(run),
               std::string(status_name(w.status))});
    list.push_back({{"key", winner_key(w.question)}, {"run", run}, {"winner", w}});
  }
  return {.data = {{"winners", std::move(list)}}, .text = table.text()};
}

}  // namespace halmark::report
