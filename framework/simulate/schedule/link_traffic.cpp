#include "simulate/schedule/link_traffic.hpp"

#include <map>

#include "core/lists.hpp"
#include "simulate/collectives/rank_order.hpp"
#include "simulate/group_levels.hpp"
#include "simulate/schedule/program/piece_visits.hpp"

namespace halmark::schedule {
namespace {

using simulate::Collective;

// Every pair needs a route, and every destination a look at all entities.
constexpr double looks_max = 4e7;

std::size_t index(std::int64_t value) { return as_size(value); }

// Collectives of one kind on the devices of one stage.
struct Traffic {
  std::int32_t stage = 0, to_stage = 0;
  Among among = Among::block;
  Collective collective = Collective::all_reduce;
  std::int64_t ranks = 1, stride = 1;
  auto operator<=>(const Traffic&) const = default;
};

class Accounting {
 public:
  Accounting(const DeviceGrid& grid, const Site& site, std::uint64_t seed)
      : grid_(grid),
        site_(site),
        carrier_(carrier_of(site, actors_of(site, grid.devices()), seed, graph_)),
        bytes_(graph_.links(), 0) {}

  void add(const Traffic& traffic, double message_bytes) {
    if (traffic.among == Among::next_stage) {
      const std::int64_t away = (traffic.to_stage - traffic.stage) * grid_.block;
      for (const std::int64_t p : below(grid_.pipelines)) {
        for (const std::int64_t i : below(grid_.block)) {
          const std::int64_t from = grid_.first(p, traffic.stage) + i;
          send(from, from + away, message_bytes);
        }
      }
    } else if (traffic.among == Among::copies) {
      for (const std::int64_t i : below(grid_.tensor)) {
        add_group(traffic, grid_.copies(traffic.stage, i), message_bytes);
      }
    } else {
      std::vector<std::int64_t> group(index(traffic.ranks));
      for (const std::int64_t p : below(grid_.pipelines)) {
        for (const std::int64_t i : below(grid_.block / traffic.ranks)) {
          const std::int64_t base = grid_.first(p, traffic.stage) +
                                    i / traffic.stride * traffic.stride * traffic.ranks +
                                    i % traffic.stride;
          for (const std::int64_t k : below(traffic.ranks))
            group[index(k)] = base + k * traffic.stride;
          add_group(traffic, group, message_bytes);
        }
      }
    }
  }

  std::vector<simulate::TimelineResource> links() const {
    std::vector<simulate::TimelineResource> out;
    for (const auto i : indices(bytes_)) {
      const auto link = static_cast<events::LinkIndex>(i);
      const double rate = graph_.bytes_per_s(link);
      out.push_back({.name = carrier_->name_of(link),
                     .is_link = true,
                     .bytes_per_s = rate,
                     .bytes = bytes_[i],
                     .busy_ps = events::picoseconds(bytes_[i] / rate)});
    }
    return out;
  }

 private:
  void send(std::int64_t from, std::int64_t to, double bytes) {
    const simulate::Passage passage = carrier_->passage(as_int(from), as_int(to), 0);
    for (const events::Hop& hop : graph_.path(passage.path)) {
      bytes_[events::at(hop.link)] += bytes * hop.weight;
    }
  }

  void add_group(const Traffic& traffic, const std::vector<std::int64_t>& group, double bytes) {
    const std::size_t ranks = group.size();
    if (traffic.collective == Collective::send_recv) {
      for (const auto k : indices(ranks)) send(group[k], group[(k + 1) % ranks], bytes);
      return;
    }
    const simulate::RankShape shape = shape_of(traffic);
    for (std::size_t level = 0; level < shape.levels(); ++level) {
      const double of_rank = bytes * share(traffic.collective, shape, level);
      for (const auto k : indices(ranks)) {
        const auto rank = as_int(k);
        const std::int32_t digit = (shape.digit(rank, level) + 1) % shape.ranks[level];
        const auto peer = as_size(shape.with_digit(rank, level, digit));
        send(group[k], group[peer], of_rank);
      }
    }
  }

  // Of the message, what a rank sends over a level.
  static double share(Collective collective, const simulate::RankShape& shape, std::size_t level) {
    const double r = shape.ranks[level], inside = shape.inside[level];
    if (collective == Collective::all_to_all) return (r - 1) * inside / shape.count;
    if (collective == Collective::broadcast) return 1 / inside;
    return simulate::bus_factor(collective, r) / inside;
  }

  simulate::RankShape shape_of(const Traffic& traffic) const {
    const auto levels = simulate::group_levels(site_.levels, traffic.ranks, traffic.stride);
    if (!levels) return simulate::RankShape({traffic.ranks});
    auto ranks = mapped(levels->fabric.levels, &simulate::FabricLevel::ranks);
    return simulate::RankShape(ranks);
  }

  const DeviceGrid& grid_;
  const Site& site_;
  events::TaskGraph graph_;  // for its links alone
  std::unique_ptr<SiteCarrier> carrier_;
  std::vector<double> bytes_;
};

}  // namespace

std::optional<std::vector<simulate::TimelineResource>> link_traffic(const Programs& programs,
                                                                    const DeviceGrid& grid,
                                                                    const Site& site,
                                                                    std::uint64_t seed) {
  if (site.topology == nullptr) return std::nullopt;
  const auto entities = as_double(site.topology->entities.size());
  if (entities * as_double(grid.devices()) > looks_max) return std::nullopt;
  std::map<Traffic, double> traffic;
  for_each_piece(programs,
                 [&](std::int32_t stage, std::int32_t to, const Piece& piece, double times) {
                   if (piece.among == Among::device) return;
                   traffic[{.stage = stage,
                            .to_stage = to,
                            .among = piece.among,
                            .collective = piece.collective,
                            .ranks = piece.group.ranks,
                            .stride = piece.group.stride}] += times * piece.message_bytes;
                 });
  Accounting accounting(grid, site, seed);
  for (const auto& [kind, bytes] : traffic) accounting.add(kind, bytes);
  return accounting.links();
}

}  // namespace halmark::schedule
