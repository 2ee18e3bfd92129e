// The sentences and tables that all looks of a comparison of devices share.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "core/ranges.hpp"
#include "core/text/text.hpp"
#include "history/view/device_comparison_view.hpp"
#include "report/text/quantity.hpp"

namespace halmark::history {
namespace {

using namespace report;

std::string own_label(const DeviceSide& side) {
  const std::string name = side.device.empty() || side.basis == TimeBasis::measured
                               ? std::filesystem::path(side.name).filename().string()
                               : side.device;
  return side.basis == TimeBasis::bound ? name + " bound" : name;
}

std::string ahead_text(const DeviceComparison& c, const DevicePair& pair, Ahead ahead) {
  switch (ahead) {
    case Ahead::first:
      return side_label(c, pair.first);
    case Ahead::second:
      return side_label(c, pair.second);
    case Ahead::tie:
      return "TIE";
    case Ahead::open:
      return "open";
  }
  return {};
}

// "41.2 % memory": the share of the bound, and what binds.
std::string share_text(const DeviceSide& side, const SideShare& share) {
  if (!share.of_bound) return absent_text;
  const std::string limiter(limiter_name(share.limiter));
  if (side.basis == TimeBasis::bound) return "bound, " + limiter;
  return rounded_percent_text(share.of_bound) + ' ' + limiter;
}

// Of two bounds: what binds, of both where it differs.
std::string limiters_text(const ClassRow& row) {
  std::string out(limiter_name(row.shares[0].limiter));
  const std::string second(limiter_name(row.shares[1].limiter));
  return out == second ? out : out + ", " + second;
}

// Times without a spread have a ratio and no interval of it.
std::string interval_text(const Interval& ratio) {
  if (!(ratio.low < ratio.high)) return absent_text;
  return significant_text(ratio.low) + ".." + significant_text(ratio.high);
}

std::string number_or_absent(std::optional<double> value) {
  return value ? significant_text(*value) : std::string(absent_text);
}

// Columns in which no row says anything say nothing.
void drop_silent_columns(report::Table& table) {
  for (std::size_t c = table.columns.size(); c-- > 0;) {
    const auto is_silent = [c](const auto& row) {
      return row[c].text == absent_text || row[c].text == "0";
    };
    if (!std::ranges::all_of(table.rows, is_silent)) continue;
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
}

}  // namespace

std::string side_label(const DeviceComparison& comparison, std::size_t side) {
  const std::string label = own_label(comparison.sides[side]);
  const auto same = std::ranges::count(comparison.sides, label, own_label);
  return same > 1 ? label + " #" + std::to_string(side + 1) : label;
}

std::string side_title(const DeviceComparison& comparison, std::size_t side) {
  const DeviceSide& s = comparison.sides[side];
  std::string out = fmt::format("{} {}: {}, {} kernels", side + 1, side_label(comparison, side),
                                time_basis_name(s.basis), s.kernels.size());
  for (const std::string& line : s.lines) out += "; " + line;
  if (s.usd_per_hour) out += fmt::format("; {:g} USD an hour", *s.usd_per_hour);
  if (s.power_w) out += fmt::format("; {:g} W stated", *s.power_w);
  return out;
}

report::Table class_table(const DeviceComparison& c, const DevicePair& pair) {
  const DeviceSide &first = c.sides[pair.first], &second = c.sides[pair.second];
  const bool are_bounds = first.basis == TimeBasis::bound && second.basis == TimeBasis::bound;
  report::Table out{.columns = {{"op"},
                                {"dtype"},
                                {"shapes"},
                                {"both", true},
                                {"ahead"},
                                {"time 2/1", true},
                                {"interval", true},
                                {"share " + side_label(c, pair.first), true},
                                {"share " + side_label(c, pair.second), true},
                                {"bottleneck"},
                                {"wins 1:2", true},
                                {"TIE", true},
                                {"open", true}}};
  for (const ClassRow& row : pair.classes) {
    out.rows.push_back({{row.op},
                        {row.dtype},
                        {row.shapes},
                        {std::to_string(row.kernels)},
                        {ahead_text(c, pair, row.ahead)},
                        {significant_text(row.ratio)},
                        {interval_text(row.ratio_interval)},
                        {are_bounds ? absent_text : share_text(first, row.shares[0])},
                        {are_bounds ? absent_text : share_text(second, row.shares[1])},
                        {are_bounds ? limiters_text(row) : absent_text},
                        {fmt::format("{}:{}", row.first_ahead, row.second_ahead)},
                        {std::to_string(row.ties)},
                        {std::to_string(row.open)}});
  }
  drop_silent_columns(out);
  return out;
}

report::Table cost_table(const DeviceComparison& c, const DevicePair& pair) {
  const std::array<std::size_t, 2> sides = {pair.first, pair.second};
  report::Table out{.columns = {{"op"}, {"dtype"}, {"shapes"}, {"unit of work"}}};
  for (const char* figure : {"MFU ", "USD ", "J "}) {
    for (const std::size_t side : sides) {
      out.columns.push_back({figure + side_label(c, side), true});
    }
  }
  for (const ClassRow& row : pair.classes) {
    auto& cells = out.rows.emplace_back();
    cells = {{row.op}, {row.dtype}, {row.shapes}, {row.is_matmul ? "1e15 FLOP" : "1e12 B"}};
    for (std::size_t i = 0; i < 2; ++i) {
      const bool is_bound = c.sides[sides.at(i)].basis == TimeBasis::bound;
      cells.push_back({is_bound ? absent_text : rounded_percent_text(row.shares.at(i).mfu)});
    }
    for (const SideShare& share : row.shares) cells.push_back({number_or_absent(share.usd)});
    for (const SideShare& share : row.shares) cells.push_back({number_or_absent(share.joule)});
  }
  drop_silent_columns(out);
  if (out.columns.size() <= 4) out.rows.clear();
  return out;
}

report::Table crossover_table(const DeviceComparison& c, const DevicePair& pair) {
  report::Table out{
      .columns = {{"ahead up to"}, {"size", true}, {"then"}, {"from", true}, {"of"}, {"series"}}};
  std::map<std::string, std::size_t> counts;
  for (const Crossover& x : pair.crossovers) ++counts[x.series];
  std::vector<const Crossover*> sorted;
  for (const Crossover& x : pair.crossovers) sorted.push_back(&x);
  // A line that crosses once says most; many times is what measured twice looks like.
  std::ranges::stable_sort(sorted, {}, [&](const Crossover* x) { return counts[x->series]; });
  const std::string one = side_label(c, pair.first), two = side_label(c, pair.second);
  for (const Crossover* x : sorted) {
    out.rows.push_back({{x->first_below ? one : two},
                        {std::to_string(x->below)},
                        {x->first_below ? two : one},
                        {std::to_string(x->above)},
                        {x->free_size},
                        {x->series}});
  }
  return out;
}

std::string crossover_summary(const DevicePair& pair) {
  std::map<std::string, std::size_t> counts;
  for (const Crossover& x : pair.crossovers) ++counts[x.series];
  const auto once = std::ranges::count_if(counts, [](const auto& one) { return one.second == 1; });
  return fmt::format(
      "crossovers, where who is ahead changes between two sizes: of {} series {} have one, {} have "
      "more",
      pair.series, once, counts.size() - static_cast<std::size_t>(once));
}

std::string pair_summary(const DeviceComparison& c, const DevicePair& pair) {
  std::string out =
      fmt::format("{} against {}: ", side_label(c, pair.first), side_label(c, pair.second));
  if (pair.kernels == 0) return out + "no kernel in common";
  out += fmt::format("{} kernels in common; ahead in {} and {}, {} TIE", pair.kernels,
                     pair.count(Ahead::first), pair.count(Ahead::second), pair.count(Ahead::tie));
  if (const std::size_t open = pair.count(Ahead::open); open > 0) {
    out += fmt::format(", {} open", open);
  }
  const bool are_bounds = c.sides[pair.first].basis == TimeBasis::bound &&
                          c.sides[pair.second].basis == TimeBasis::bound;
  if (are_bounds && !pair.classes.empty()) {
    const auto [least, most] = std::ranges::minmax_element(pair.classes, {}, &ClassRow::ratio);
    const std::string low = significant_text(least->ratio), high = significant_text(most->ratio);
    out += fmt::format("; {} takes {} of the time of {}", side_label(c, pair.second),
                       low == high ? low : low + " to " + high, side_label(c, pair.first));
  }
  if (pair.only_first + pair.only_second > 0) {
    out +=
        fmt::format("; {} and {} kernels are of one side alone", pair.only_first, pair.only_second);
  }
  return out;
}

std::string what_if_text(const DeviceComparison& c) {
  const auto of_side = [&](const WhatIf& w) { return w.text + " of " + side_label(c, w.side); };
  return "what if (model, not measured): " + join(c.what_ifs, ", ", of_side) +
         "; each kernel keeps its share of the ceiling that binds it; intervals also hold that "
         "only its bound changes";
}

std::vector<std::string> reading_notes(const DeviceComparison& c) {
  std::vector<std::string> out = {
      "time 2/1: geometric mean of times, above 1 the first is faster; TIE: the interval holds 1, "
      "or the difference is below " +
      percent_text(c.rules.floor)};
  const auto has = [&c](TimeBasis basis) { return contains(c.sides, basis, &DeviceSide::basis); };
  out.emplace_back(
      "share: least time at the peaks of the device over time, and what binds; MFU: matmul FLOPs "
      "over time and peak");
  if (std::ranges::any_of(c.sides, [](const DeviceSide& s) { return s.power_w.has_value(); })) {
    out.emplace_back("J: the stated power over the whole time, an upper end");
  }
  if (has(TimeBasis::imported)) {
    out.emplace_back("imported times state no spread: their intervals are the times alone");
  }
  if (has(TimeBasis::bound)) {
    out.emplace_back(
        "bound: no time that was seen; open: a bound is ahead of a time, and what the device "
        "reaches of it is not known");
  }
  return out;
}

}  // namespace halmark::history
