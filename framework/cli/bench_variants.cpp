#include "cli/bench_variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/console/terminal.hpp"
#include "core/json/winner_json.hpp"

namespace halmark::cli {
namespace {

constexpr std::size_t searched_combinations_max = 65536;

VariantFilter filter_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  VariantFilter out{.kernel = text.substr(0, colon)};
  if (colon == std::string::npos) return out;
  std::string rest = text.substr(colon + 1) + '+';
  while (!rest.empty()) {
    const std::size_t end = rest.find('+');
    const std::string item = rest.substr(0, end);
    const std::size_t equal = item.find('=');
    if (equal == std::string::npos || equal == 0) {
      throw refused("--variants: '" + item + "' of '" + text + "' is not parameter=value", {},
                    "for example gemm_onednn:packed=0+threads=1");
    }
    out.values.emplace_back(item.substr(0, equal), item.substr(equal + 1));
    rest.erase(0, end + 1);
  }
  return out;
}

void check_filter(const VariantFilter& filter, const FoundPlugin& plugin,
                  std::span<const KernelCase> questions) {
  check_kernel(plugin, filter.kernel);
  const auto kernel = std::ranges::find(plugin.description->kernels, filter.kernel,
                                        &protocol::KernelDescription::name);
  const bool is_asked = std::ranges::any_of(
      questions, [&](const KernelCase& q) { return q.problem.op == kernel->op; });
  if (!is_asked) {
    throw refused("--variants: kernel '" + filter.kernel + "' is of op " + kernel->op +
                  ", which is not measured here");
  }
}

std::string verdict_of(const VariantTime& v, const Winner& winner) {
  std::string out = &v == &winner.variants.front() ? "fastest" : v.is_tied ? "= tie" : "";
  if (winner.tied() > 1 && &v == &winner.variants.front()) out = "fastest, = tie";
  if (v.variant.is_default) out += out.empty() ? "default" : ", default";
  return out;
}

// Rows without a time say why; in the plugin's order, after those that have one.
void add_failures(const VariantSet& set, const Winner* winner,
                  const std::map<std::string, KernelPoint>& points, TextTable& table) {
  for (const Variant& v : set.variants) {
    const bool has_time = winner != nullptr && std::ranges::any_of(winner->variants, [&](auto& t) {
                            return t.variant == v;
                          });
    const auto point = points.find(variant_case(set.question, v).key());
    if (has_time || point == points.end()) continue;
    table.add({v.kernel, v.config.text(), point->second.implementation, "-", "-", "-", "",
               std::string(status_name(point->second.status)) + ": " + point->second.reason});
  }
}

std::string table_of(const VariantSet& set, const Winner* winner,
                     const std::map<std::string, KernelPoint>& points) {
  TextTable table(
      {"kernel", "config", "implementation", "median", "interval", "of fastest", "", "status"},
      {false, false, false, true, true, true, false, false});
  if (winner != nullptr) {
    for (const VariantTime& v : winner->variants) {
      const KernelPoint& point = points.at(variant_case(set.question, v.variant).key());
      table.add({v.variant.kernel, v.variant.config.text(), v.implementation, duration_text(v.ns),
                 duration_text(v.interval_ns.low) + " .. " + duration_text(v.interval_ns.high),
                 fmt::format("{:.2f} x", v.ns / winner->variants.front().ns),
                 verdict_of(v, *winner),
                 std::string(status_name(point.status)) +
                     (point.reason.empty() ? "" : ": " + point.reason)});
    }
  }
  add_failures(set, winner, points, table);
  return table.text();
}

std::string conclusion_of(const Winner& winner) {
  if (winner.tied() == 1) return "winner: " + winner.chosen.text() + '\n';
  return fmt::format("tie of {}: {} is used{}\n", winner.tied(), winner.chosen.text(),
                     winner.chosen.is_default ? ", the plugin's default" : "");
}

}  // namespace

std::vector<VariantFilter> variant_filters(const std::vector<std::string>& texts,
                                           const FoundPlugin& plugin,
                                           std::span<const KernelCase> questions) {
  std::vector<VariantFilter> out;
  for (const std::string& text : texts) {
    if (text == "all") return {};
    out.push_back(filter_of(text));
    check_filter(out.back(), plugin, questions);
  }
  return out;
}

std::vector<VariantSet> variants_of(std::span<const KernelCase> questions,
                                    const std::vector<VariantFilter>& filters,
                                    const FoundPlugin& plugin, bool is_searched) {
  for (const KernelCase& question : questions) {
    if (!question.is_collective()) continue;
    throw refused("--variants: " + question.problem.op +
                  " is a collective; its variants belong to "
                  "the communication library");
  }
  VariantOptions asked{.plugin_path = plugin.path, .filters = filters};
  if (is_searched) asked.combinations_max = searched_combinations_max;
  std::vector<VariantSet> sets = find_variants(questions, asked);
  if (std::ranges::all_of(sets, [](const VariantSet& s) { return s.variants.empty(); })) {
    throw unfit("no kernel of " + plugin.description->name + " supports this: " +
                (sets.empty() || sets.front().notes.empty() ? std::string("nothing was asked")
                                                            : sets.front().notes.front()));
  }
  return sets;
}

VariantResult compare_variants(std::span<const VariantSet> sets, std::span<const Measurement> rows,
                               const LocalMachine& machine) {
  std::map<std::string, KernelPoint> points;
  for (KernelPoint& point : tune::kernel_points(rows, reporting_machine(machine))) {
    const std::string key = point.key;
    points.emplace(key, std::move(point));
  }
  VariantResult out;
  for (const VariantSet& set : sets) {
    const auto winner = judge_variants(set.question, set.variants, rows);
    out.text += (out.text.empty() ? "" : "\n") + winner_key(set.question) + '\n';
    out.text += table_of(set, winner ? &*winner : nullptr, points);
    for (const std::string& note : set.notes) out.text += "  " + printable(note) + '\n';
    out.text += winner ? conclusion_of(*winner) : "no variant has a time\n";
    out.problems.push_back({{"key", winner_key(set.question)},
                            {"winner", winner ? Json(*winner) : Json(nullptr)},
                            {"notes", set.notes}});
    if (!winner) out.problems.back()["winner_reason"] = "no variant has a time";
    if (winner) out.winners.push_back(*winner);
  }
  return out;
}

}  // namespace halmark::cli
