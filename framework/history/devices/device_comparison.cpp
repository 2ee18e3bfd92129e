#include "history/devices/device_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "history/devices/crossovers.hpp"
#include "history/devices/shape_class.hpp"

namespace halmark::history {
namespace {

constexpr double seconds_per_hour = 3600, ns_per_s = 1e9;
constexpr double flops_per_unit = 1e15, bytes_per_unit = 1e12;

// Of times second / first.
Interval ratio_interval(const DeviceKernel& first, const DeviceKernel& second) {
  return {second.interval_ns.low / first.interval_ns.high,
          second.interval_ns.high / first.interval_ns.low};
}

Ahead judge_ratio(double ratio, const Interval& interval, const DeviceRules& rules) {
  const bool holds_one = interval.low <= 1 && interval.high >= 1;
  if (holds_one || (ratio < 1 + rules.floor && ratio > 1 / (1 + rules.floor))) return Ahead::tie;
  return ratio > 1 ? Ahead::first : Ahead::second;
}

// A bound that is behind a time that was seen stays behind; one that is ahead or equal proves
// nothing.
Ahead with_bounds(Ahead ahead, TimeBasis first, TimeBasis second) {
  const bool is_first = first == TimeBasis::bound, is_second = second == TimeBasis::bound;
  if (is_first == is_second) return ahead;
  const Ahead seen = is_first ? Ahead::second : Ahead::first;
  return ahead == seen ? seen : Ahead::open;
}

// Sums of one side over the kernels of a class.
struct Sums {
  double ns = 0, bounded_ns = 0, bound_ns = 0, peaked_ns = 0, peak_ns = 0;
  double powered_joule = 0;
  bool has_power = true;
  std::array<double, 4> by_limiter{};

  void add(const DeviceKernel& kernel, std::optional<double> power_w) {
    ns += kernel.ns;
    if (const double bound = kernel.least.bound_ns(); bound > 0) {
      bounded_ns += kernel.ns;
      bound_ns += bound;
      by_limiter.at(as_size(kernel.least.limiter())) += bound;
    }
    if (kernel.peak_ns > 0) {
      peaked_ns += kernel.ns;
      peak_ns += kernel.peak_ns;
    }
    const auto power = kernel.power_w ? kernel.power_w : power_w;
    has_power = has_power && power;
    powered_joule += power.value_or(0) * kernel.ns / ns_per_s;
  }

  SideShare share(double units, std::optional<double> usd_per_hour) const {
    SideShare out;
    if (bounded_ns > 0) out.of_bound = bound_ns / bounded_ns;
    if (peaked_ns > 0) out.mfu = peak_ns / peaked_ns;
    const auto most = std::ranges::max_element(by_limiter);
    if (*most > 0) out.limiter = static_cast<Limiter>(most - by_limiter.begin());
    if (units <= 0) return out;
    if (usd_per_hour) out.usd = ns / ns_per_s / seconds_per_hour * *usd_per_hour / units;
    if (has_power) out.joule = powered_joule / units;
    return out;
  }
};

struct Matched {
  const DeviceKernel *first, *second;
};

ClassRow fold_class(const std::vector<Matched>& kernels, const DeviceSide& first,
                    const DeviceSide& second, const DeviceRules& rules) {
  ClassRow out{.kernels = kernels.size()};
  std::array<Sums, 2> sums;
  double logs = 0, lows = 0, highs = 0, flops = 0, bytes = 0;
  for (const auto& [a, b] : kernels) {
    const Ahead ahead = judge_pair(*a, first.basis, *b, second.basis, rules);
    ++(ahead == Ahead::first    ? out.first_ahead
       : ahead == Ahead::second ? out.second_ahead
       : ahead == Ahead::tie    ? out.ties
                                : out.open);
    const Interval interval = ratio_interval(*a, *b);
    logs += std::log(b->ns / a->ns);
    lows += std::log(interval.low);
    highs += std::log(interval.high);
    flops += a->matmul_flops;
    bytes += a->bytes;
    sums[0].add(*a, first.power_w);
    sums[1].add(*b, second.power_w);
  }
  const auto n = as_double(kernels.size());
  out.ratio = std::exp(logs / n);
  out.ratio_interval = {std::exp(lows / n), std::exp(highs / n)};
  out.ahead =
      with_bounds(judge_ratio(out.ratio, out.ratio_interval, rules), first.basis, second.basis);
  out.is_matmul = flops > 0;
  const double units = out.is_matmul ? flops / flops_per_unit : bytes / bytes_per_unit;
  out.shares = {sums[0].share(units, first.usd_per_hour),
                sums[1].share(units, second.usd_per_hour)};
  return out;
}

DevicePair compare_two(const std::vector<DeviceSide>& sides, std::size_t first, std::size_t second,
                       const DeviceRules& rules) {
  const DeviceSide &a = sides[first], &b = sides[second];
  DevicePair out{.first = first, .second = second};
  std::map<Problem, const DeviceKernel*> of_second;
  for (const DeviceKernel& kernel : b.kernels) of_second.emplace(kernel.problem, &kernel);
  using Key = std::tuple<std::string, std::string, int, std::string>;
  std::map<Key, std::vector<Matched>> classes;
  CrossoverFinder crossovers;
  for (const DeviceKernel& kernel : a.kernels) {
    const auto other = of_second.find(kernel.problem);
    if (other == of_second.end()) {
      ++out.only_first;
      continue;
    }
    const ShapeClass shapes = shape_class_of(kernel.problem);
    classes[{kernel.problem.op, kernel.dtype, shapes.rank, shapes.name}].push_back(
        {&kernel, other->second});
    crossovers.add(kernel.problem, judge_pair(kernel, a.basis, *other->second, b.basis, rules));
    ++out.kernels;
  }
  out.only_second = b.kernels.size() - out.kernels;
  for (const auto& [key, kernels] : classes) {
    ClassRow row = fold_class(kernels, a, b, rules);
    std::tie(row.op, row.dtype, std::ignore, row.shapes) = key;
    out.classes.push_back(std::move(row));
  }
  out.crossovers = crossovers.found();
  out.series = crossovers.series();
  return out;
}

std::vector<DevicePair> all_pairs(const std::vector<DeviceSide>& sides, const DeviceRules& rules) {
  std::vector<DevicePair> out;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    for (std::size_t j = i + 1; j < sides.size(); ++j) {
      out.push_back(compare_two(sides, i, j, rules));
    }
  }
  return out;
}

Error no_shared_kernel(const std::vector<DeviceSide>& sides) {
  std::string what = "the sides have no kernel in common";
  for (const DeviceSide& side : sides) {
    what += "; " + side.name + ": " +
            (side.kernels.empty() ? "none at all" : "e.g. " + side.kernels.front().problem.text());
  }
  return refused(what, {}, "compare sides with kernels of the same problems");
}

}  // namespace

Ahead judge_pair(const DeviceKernel& first, TimeBasis first_basis, const DeviceKernel& second,
                 TimeBasis second_basis, const DeviceRules& rules) {
  return with_bounds(judge_ratio(second.ns / first.ns, ratio_interval(first, second), rules),
                     first_basis, second_basis);
}

std::size_t DevicePair::count(Ahead ahead) const {
  std::size_t out = 0;
  for (const ClassRow& row : classes) {
    out += ahead == Ahead::first    ? row.first_ahead
           : ahead == Ahead::second ? row.second_ahead
           : ahead == Ahead::tie    ? row.ties
                                    : row.open;
  }
  return out;
}

DeviceComparison compare_devices(std::vector<DeviceSide> sides, const DeviceRules& rules,
                                 std::vector<WhatIf> what_ifs) {
  if (sides.size() < 2 || sides.size() > sides_max) {
    throw refused(std::to_string(sides.size()) + " sides", {},
                  "name 2 to " + std::to_string(sides_max));
  }
  DeviceComparison out{.rules = rules};
  out.pairs = all_pairs(sides, rules);
  if (std::ranges::all_of(out.pairs, [](const DevicePair& pair) { return pair.kernels == 0; })) {
    throw no_shared_kernel(sides);
  }
  if (!what_ifs.empty()) {
    std::vector<DeviceSide> changed = sides;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      std::vector<WhatIf> own;
      std::ranges::copy_if(what_ifs, std::back_inserter(own),
                           [side](const WhatIf& one) { return one.side == side; });
      if (!own.empty()) changed[side] = with_ceilings(sides[side], own);
    }
    out.modelled = all_pairs(changed, rules);
  }
  out.sides = std::move(sides);
  out.what_ifs = std::move(what_ifs);
  return out;
}

}  // namespace halmark::history
