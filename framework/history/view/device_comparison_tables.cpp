// The sentences and tables that all looks of a comparison of devices share.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

std::string mfu_text(const DeviceSide& side, const SideShare& share) {
  return side.basis == TimeBasis::bound ? std::string(absent_text)
                                        : rounded_percent_text(share.mfu);
}

std::string unit_cost_text(const SideShare& share, const ClassRow& row) {
  std::string out;
  if (share.usd) out += significant_text(*share.usd) + " USD";
  if (share.joule) out += (out.empty() ? "" : ", ") + significant_text(*share.joule) + " J";
  return out.empty() ? absent_text : out + (row.is_matmul ? " /PFLOP" : " /TB");
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
  const std::string one = side_label(c, pair.first), two = side_label(c, pair.second);
  report::Table out{.columns = {{"op"},
                                {"dtype"},
                                {"shapes"},
                                {"both", true},
                                {"ahead"},
                                {"time 2/1", true},
                                {"interval", true},
                                {"share " + one, true},
                                {"share " + two, true},
                                {"wins 1:2", true},
                                {"TIE", true},
                                {"open", true},
                                {"MFU " + one, true},
                                {"MFU " + two, true},
                                {"cost " + one, true},
                                {"cost " + two, true}}};
  for (const ClassRow& row : pair.classes) {
    out.rows.push_back({{row.op},
                        {row.dtype},
                        {row.shapes},
                        {std::to_string(row.kernels)},
                        {ahead_text(c, pair, row.ahead)},
                        {significant_text(row.ratio)},
                        {significant_text(row.ratio_interval.low) + ".." +
                         significant_text(row.ratio_interval.high)},
                        {share_text(first, row.shares[0])},
                        {share_text(second, row.shares[1])},
                        {fmt::format("{}:{}", row.first_ahead, row.second_ahead)},
                        {std::to_string(row.ties)},
                        {std::to_string(row.open)},
                        {mfu_text(first, row.shares[0])},
                        {mfu_text(second, row.shares[1])},
                        {unit_cost_text(row.shares[0], row)},
                        {unit_cost_text(row.shares[1], row)}});
  }
  return out;
}

report::Table crossover_table(const DeviceComparison& c, const DevicePair& pair) {
  report::Table out{
      .columns = {{"ahead up to"}, {"size", true}, {"then"}, {"from", true}, {"of"}, {"series"}}};
  for (const Crossover& x : pair.crossovers) {
    const std::string one = side_label(c, pair.first), two = side_label(c, pair.second);
    out.rows.push_back({{x.first_below ? one : two},
                        {std::to_string(x.below)},
                        {x.first_below ? two : one},
                        {std::to_string(x.above)},
                        {x.free_size},
                        {x.series}});
  }
  return out;
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
  if (pair.only_first + pair.only_second > 0) {
    out +=
        fmt::format("; {} and {} kernels are of one side alone", pair.only_first, pair.only_second);
  }
  return out;
}

std::string what_if_text(const DeviceComparison& c) {
  std::string out = "what if (model, not measured): ";
  for (std::size_t i = 0; i < c.what_ifs.size(); ++i) {
    out += (i == 0 ? "" : ", ") + c.what_ifs[i].text + " of " + side_label(c, c.what_ifs[i].side);
  }
  return out +
         "; each kernel keeps its share of the ceiling that binds it; intervals also hold that "
         "only its bound changes";
}

std::vector<std::string> reading_notes(const DeviceComparison& c) {
  std::vector<std::string> out = {
      "time 2/1: geometric mean of times, above 1 the first is faster; TIE: the interval holds 1, "
      "or the difference is below " +
      percent_text(c.rules.floor)};
  const auto has = [&c](TimeBasis basis) {
    return std::ranges::find(c.sides, basis, &DeviceSide::basis) != c.sides.end();
  };
  out.emplace_back(
      "share: least time at the peaks of the device over time, and what binds; MFU: matmul FLOPs "
      "over time and peak");
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
