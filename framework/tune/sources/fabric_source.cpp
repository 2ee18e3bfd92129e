// Curves know more of libraries than closed forms do, and those would call a collective over two
// nodes faster than one inside a node: they are never below the curve of what lies inside.
#include "tune/sources/fabric_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "latency/judged.hpp"
#include "simulate/fabric/level_view.hpp"
#include "simulate/fabric_levels_of.hpp"

namespace halmark::tune {
namespace {

using simulate::Collective;
using simulate::Wire;

// Measured systems have two, four and eight ranks a node.
constexpr std::int64_t measured_ranks_max = 8;
// How far the rate of a link may be from a measured one for its curve to speak.
constexpr double rate_factor_max = 2;

std::optional<Wire> wire_of_measured(fabric::Transport transport, double bytes_per_s) {
  const Wire wire = wire_of(transport);
  // The slowest and the fastest of what known_systems.cpp has.
  const double slowest = wire == Wire::nvlink ? 300e9 : 32e9;
  const double fastest = wire == Wire::nvlink ? 900e9 : 32e9;
  if (wire == Wire::network || bytes_per_s * rate_factor_max < slowest ||
      bytes_per_s > fastest * rate_factor_max) {
    return std::nullopt;
  }
  return wire;
}

bool is_alike(const simulate::FabricLevel& a, const simulate::FabricLevel& b) {
  return a.latency_s == b.latency_s && a.bytes_per_s == b.bytes_per_s;
}

// What of a message the ranks of one innermost group exchange among themselves at least.
double inner_bytes(Collective collective, double bytes, std::int64_t inner, std::int64_t ranks) {
  if (collective != Collective::all_to_all) return bytes;
  return bytes * as_double(inner) / as_double(ranks);
}

}  // namespace

FabricSource::FabricSource(const fabric::Topology& topology, roofline::Ceilings ceilings,
                           bool adds_in_switch)
    : id_(topology.id),
      ceilings_(std::move(ceilings)),
      adds_in_switch_(adds_in_switch),
      whole_(simulate::fabric_levels_of(topology)) {
  std::int64_t devices = 1;
  std::size_t next = 0;
  const std::vector<fabric::LevelView> views = fabric::level_views(topology);
  for (const simulate::FabricLevel& level : whole_.levels) {
    devices *= level.ranks;
    while (next < views.size() &&
           (views[next].name == "rail" || as_int64(views[next].ranks) != devices)) {
      ++next;
    }
    transports_.push_back(views.at(next).transport);
  }
}

double FabricSource::bytes_per_s(std::int64_t devices) const {
  double out = 0;
  std::int64_t inside = 1;
  for (const simulate::FabricLevel& level : whole_.levels) {
    if (inside >= devices) break;
    inside *= level.ranks;
    out = level.bytes_per_s;
  }
  return out;
}

std::optional<FabricSource::Group> FabricSource::made(std::int64_t ranks,
                                                      std::int64_t stride) const {
  auto levels = simulate::group_levels(whole_, ranks, stride);
  if (!levels) return std::nullopt;
  Group out{.levels = *std::move(levels)};
  const std::vector<simulate::FabricLevel>& spanned = out.levels.fabric.levels;
  const simulate::FabricLevel& inner = spanned.front();
  for (const std::size_t level : out.levels.of_whole) out.transports.push_back(transports_[level]);
  out.inner = wire_of_measured(out.transports.front(), inner.bytes_per_s);
  // Ranks of two boards of one switch are as near as those of one.
  std::int64_t alike = inner.ranks;
  for (std::size_t i = 1; i < spanned.size() && is_alike(spanned[i], inner); ++i) {
    alike *= spanned[i].ranks;
  }
  out.inner_ranks = std::min(alike, measured_ranks_max);
  out.is_inner = out.inner_ranks == ranks;
  out.inner_bytes_per_s = inner.bytes_per_s;
  return out;
}

const std::optional<FabricSource::Group>& FabricSource::group(std::int64_t ranks,
                                                              std::int64_t stride) const {
  const auto known = groups_.find({ranks, stride});
  if (known != groups_.end()) return known->second;
  return groups_.emplace(std::pair(ranks, stride), made(ranks, stride)).first->second;
}

std::optional<LibraryTime> FabricSource::by_curve(Collective collective, double bytes,
                                                  const Group& group) const {
  if (!group.inner) return std::nullopt;
  const auto [it, is_new] = fits_.try_emplace({collective, group.inner_bytes_per_s}, std::nullopt);
  if (is_new) {
    it->second = simulate::fit_of_known_systems(
        collective, *group.inner,
        {.bytes_per_s = group.inner_bytes_per_s, .adds_in_switch = adds_in_switch_});
  }
  if (!it->second) return std::nullopt;
  const simulate::CollectiveFit& fit = *it->second;
  return LibraryTime{
      .s = fit.seconds(bytes, group.inner_ranks),
      .interval_s = fit.interval_s(bytes, group.inner_ranks),
      .way = *group.inner == Wire::nvlink ? "curve of NVLink systems" : "curve of a PCIe system"};
}

std::optional<Latency> FabricSource::latency(const Problem& problem, const Work& work,
                                             std::int64_t stride) const {
  const auto collective = simulate::collective_named(problem.op);
  const std::int64_t ranks = collective ? problem.params.value_or("ranks", 1) : 1;
  if (ranks < 2) return std::nullopt;
  const auto& of = group(ranks, stride);
  if (!of) return std::nullopt;
  const double bytes = work.message_bytes;
  auto inside = by_curve(*collective, inner_bytes(*collective, bytes, of->inner_ranks, ranks), *of);
  LibraryTime answer = of->is_inner && inside
                           ? *inside
                           : library_time(*collective, bytes, of->levels.fabric, of->transports);
  if (inside && answer.s < inside->s) {
    answer = {.s = inside->s,
              .interval_s = {inside->interval_s.low,
                             std::max(inside->interval_s.high, answer.interval_s.high)},
              .way = inside->way + " in its innermost level"};
  }
  const roofline::Bound bound = roofline::step_bound(problem, work, ceilings_);
  Latency out;
  out.ns = std::max(answer.s * ns_per_s, bound.ns());
  out.low_ns = std::clamp(answer.interval_s.low * ns_per_s, bound.ns(), out.ns);
  out.high_ns = std::max(answer.interval_s.high * ns_per_s, out.ns);
  out.provenance = Provenance::fabric;
  out.implementation = std::move(answer.way);
  out.origin = fmt::format("fabric {}: {} by {}", id_, problem.op, out.implementation);
  return judged(std::move(out), bound);
}

}  // namespace halmark::tune
