// S bytes of n ranks. Level i has r_i groups of G_i ranks each (G_0 = 1), latency a_i, B_i bytes/s
// of a rank. What leaves a group of G_i together has G_i ranks' shares of the level: G_i B_i.
#include "simulate/collectives/cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

namespace halmark::simulate {
namespace {

// Steps by level, to which a protocol adds its own cost, and seconds of transfer.
struct Cost {
  double latency_s = 0, steps = 0, transfer_s = 0;
  double unhidden_s = 0;  // additions
};

struct Level {
  double r = 1, g = 1, a = 0, b = 1;
  double near = 0, hops = 1;  // latency to a neighbour; links of a message to anyone
  bool adds = false, shares_adapter = false;
  double reached = 0;      // ranks that one reaches through its adapter of this level
  double levels_over = 0;  // that share its adapters, one after the other
};

class Formulas {
 public:
  Formulas(Collective collective, double bytes, const FabricLevels& fabric)
      : op_(collective), s_(bytes), n_(as_double(fabric.ranks())), fabric_(fabric) {
    double inner = 1;
    for (const FabricLevel& l : fabric.levels) {
      if (l.ranks == 1) continue;
      const auto r = as_double(l.ranks);
      levels_.push_back({.r = r,
                         .g = inner,
                         .a = l.latency_s,
                         .b = l.bytes_per_s,
                         .near = l.neighbour_latency_s > 0 ? l.neighbour_latency_s : l.latency_s,
                         .hops = l.hops,
                         .adds = l.in_switch_ranks_min > 0 && l.ranks >= l.in_switch_ranks_min,
                         .shares_adapter = l.shares_adapter});
      inner *= r;
    }
    double beyond = 0, over = 0;
    for (auto it = levels_.rbegin(); it != levels_.rend(); ++it) {
      Level& l = *it;
      l.reached = (l.r - 1) * l.g + beyond;
      l.levels_over = over;
      beyond = l.shares_adapter ? l.reached : 0;
      over = l.shares_adapter ? over + 1 : 0;
    }
  }

  std::optional<Cost> of(Algorithm algorithm) const {
    switch (algorithm) {
      case Algorithm::ring:
        return ring();
      case Algorithm::tree:
        return tree();
      case Algorithm::halving_doubling:
        return halving_doubling();
      case Algorithm::one_shot:
        return one_shot();
      case Algorithm::two_shot:
        return two_shot();
      case Algorithm::in_switch:
        return in_switch();
      case Algorithm::hierarchical:
        return hierarchical();
    }
    return std::nullopt;
  }

 private:
  bool is_gather() const {
    return op_ == Collective::all_gather || op_ == Collective::reduce_scatter;
  }
  // An all-reduce is a reduce-scatter and an all-gather.
  double passes() const { return op_ == Collective::all_reduce ? 2 : 1; }
  double additions_s() const {
    const bool adds = op_ == Collective::all_reduce || op_ == Collective::reduce_scatter;
    if (!adds || fabric_.reduced_bytes_per_s <= 0) return 0;
    return (n_ - 1) / n_ * s_ / fabric_.reduced_bytes_per_s;
  }

  template <class Steps>
  Cost with_steps(Steps steps, double Level::*latency = &Level::a) const {
    Cost out;
    for (const Level& l : levels_) {
      out.steps += steps(l);
      out.latency_s += steps(l) * (l.*latency);
    }
    return out;
  }
  template <class Seconds>
  double slowest(Seconds seconds) const {
    double out = 0;
    for (const Level& l : levels_) out = std::max(out, seconds(l));
    return out;
  }

  // Around all ranks lead r - 1 hops within each of the n / (G r) groups of a level, and one more
  // of the outermost level closes the ring. Each part of the message passes all of them but one,
  // and the last to arrive misses one of the nearest. All levels carry at once.
  std::optional<Cost> ring() const {
    if (op_ == Collective::send_recv) return std::nullopt;
    if (op_ == Collective::all_to_all) {  // to each of the others in turn
      Cost out = with_steps([](const Level& l) { return (l.r - 1) * l.g; });
      out.transfer_s = slowest([&](const Level& l) { return l.reached * l.hops / n_ * s_ / l.b; });
      return out;
    }
    // A broadcast begins at a place of the ring, behind the hop that closes it.
    const Level* nearest = &*std::ranges::min_element(levels_, {}, &Level::near);
    if (op_ == Collective::broadcast) nearest = &levels_.back();
    const auto steps = [&](const Level& l) {
      const double hops = (l.r - 1) * std::round(n_ / (l.g * l.r));
      return passes() * (hops + (&l == &levels_.back() ? 1 : 0) - (&l == nearest ? 1 : 0));
    };
    Cost out = with_steps(steps, &Level::near);
    const double of_rank = bus_factor(op_, n_) * s_;
    out.transfer_s = slowest([&](const Level& l) { return of_rank / (l.g * l.b); });
    return out;
  }

  // The root sends within its group to r - 1 others, and once more for every level outside of it.
  std::optional<Cost> tree() const {
    if (op_ != Collective::all_reduce && op_ != Collective::broadcast) return std::nullopt;
    Cost out = with_steps([&](const Level& l) { return passes() * std::ceil(std::log2(l.r)); });
    out.transfer_s = slowest([&](const Level& l) {
      return passes() * s_ * l.hops / (l.g * l.b) * std::max(1.0, (l.r - 1 + l.levels_over) / l.r);
    });
    return out;
  }

  // Near partners first, so that of a message S / G crosses a level.
  std::optional<Cost> halving_doubling() const {
    if (op_ == Collective::broadcast || op_ == Collective::send_recv) return std::nullopt;
    for (const Level& l : levels_) {
      if (!std::has_single_bit(as_uint64(l.r))) return std::nullopt;
    }
    Cost out = with_steps([&](const Level& l) { return passes() * std::log2(l.r); });
    for (const Level& l : levels_) {
      const double part = op_ == Collective::all_to_all ? std::log2(l.r) * s_ / 2
                                                        : passes() * s_ / l.g * (l.r - 1) / l.r;
      out.transfer_s += part * l.hops / l.b;
    }
    out.unhidden_s = additions_s();
    return out;
  }

  // One step: the farthest partner's latency.
  Cost direct(double count) const {
    double farthest = 0;
    for (const Level& l : levels_) farthest = std::max(farthest, l.a);
    return {.latency_s = count * farthest, .steps = count};
  }

  std::optional<Cost> one_shot() const {
    Cost out = direct(1);
    const double blocks = op_ == Collective::all_reduce || op_ == Collective::broadcast ? 1 : n_;
    out.transfer_s = slowest([&](const Level& l) {
      if (op_ == Collective::send_recv) return s_ / l.b;
      return l.reached * l.hops * s_ / blocks / l.b;
    });
    return out;
  }

  // A broadcast scatters first.
  std::optional<Cost> two_shot() const {
    if (op_ != Collective::all_reduce && op_ != Collective::broadcast) return std::nullopt;
    Cost out = direct(2);
    out.transfer_s =
        slowest([&](const Level& l) { return 2 * l.reached * l.hops / n_ * s_ / l.b; });
    return out;
  }

  // A rank sends its message and receives the sum; 1 / n of it more, as measured bus bandwidths of
  // NVLink SHARP have it: (n + 1) / n.
  std::optional<Cost> in_switch() const {
    const bool can = std::ranges::all_of(levels_, &Level::adds);
    const bool copies = op_ == Collective::broadcast;
    if (!can || (op_ != Collective::all_reduce && !copies)) return std::nullopt;
    Cost out = with_steps([&](const Level&) { return copies ? 1.0 : 2.0; });
    const double of_rank = copies ? s_ : (n_ + 1) / n_ * s_;
    out.transfer_s = slowest([&](const Level& l) { return of_rank / (l.g * l.b); });
    return out;
  }

  // Rings within the levels, from the inside out (and back): S / G of a message is left for each.
  std::optional<Cost> hierarchical() const {
    const bool is_personal = op_ == Collective::all_to_all;
    if (levels_.size() < 2 || (op_ != Collective::all_reduce && !is_gather() && !is_personal)) {
      return std::nullopt;
    }
    Cost out = with_steps([&](const Level& l) { return passes() * (l.r - 1); }, &Level::near);
    double carried = 0;  // by an adapter, with what leaves by it for the levels outside
    for (auto it = levels_.rbegin(); it != levels_.rend(); ++it) {
      const Level& l = *it;
      const double part = is_personal ? s_ : s_ / l.g;
      const double bytes = passes() * part * (l.r - 1) / l.r;
      carried += bytes;
      out.transfer_s = fabric_.levels_overlap ? std::max(out.transfer_s, carried / l.b)
                                              : out.transfer_s + bytes / l.b;
      if (!l.shares_adapter) carried = 0;
    }
    return out;
  }

  Collective op_;
  double s_, n_;
  const FabricLevels& fabric_;
  std::vector<Level> levels_;
};

constexpr auto algorithms = enum_names<Algorithm>("ring", "tree", "halving_doubling", "one_shot",
                                                  "two_shot", "in_switch", "hierarchical");

}  // namespace

std::string_view algorithm_name(Algorithm algorithm) { return algorithms.of(algorithm); }

std::vector<CollectiveTime> collective_times(Collective collective, double bytes,
                                             const FabricLevels& fabric) {
  check(fabric);
  std::vector<CollectiveTime> out;
  if (fabric.ranks() <= 1) return out;
  const Formulas formulas(collective, bytes, fabric);
  std::vector<Protocol> protocols = fabric.protocols;
  if (protocols.empty()) protocols.emplace_back();
  for (const auto i : indices(algorithms.all)) {
    const auto algorithm = static_cast<Algorithm>(i);
    const std::optional<Cost> cost = formulas.of(algorithm);
    if (!cost) continue;
    const bool is_tree = algorithm == Algorithm::tree;
    for (const Protocol& p : protocols) {
      const double base = is_tree ? p.tree_base_s : p.base_s;
      const double hop = is_tree ? p.tree_hop_s : p.hop_s;
      out.push_back({.algorithm = algorithm,
                     .protocol = p.name,
                     .latency_s = base + cost->latency_s + cost->steps * hop,
                     .transfer_s = cost->transfer_s / p.bandwidth_share + cost->unhidden_s});
    }
  }
  std::ranges::stable_sort(out, {}, &CollectiveTime::seconds);
  return out;
}

}  // namespace halmark::simulate
