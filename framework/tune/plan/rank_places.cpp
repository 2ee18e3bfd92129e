#include "tune/plan/rank_places.hpp"

#include "core/lists.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/stack/rank_placement.hpp"

namespace halmark::tune {
namespace {

struct Meeting {
  Split split;
  const char* what;
};

// In which the ranks of a layout meet at all.
std::vector<Meeting> meetings_of(const Parallel& parallel) {
  std::vector<Meeting> out;
  if (parallel.tp > 1) out.push_back({Split::column, "the collectives of tensor parallelism"});
  if (parallel.pp > 1) out.push_back({Split::pipeline, "the transfers of a pipeline"});
  if (expert_layout(parallel).across_replicas > 1) {
    out.push_back({Split::expert, "the exchanges of experts"});
  }
  return out;
}

std::string rank_text(int rank, const ShardPlace& place) {
  return std::to_string(rank) + " (" + place.text() + ')';
}

}  // namespace

std::optional<Refusal> check_places(const Configuration& configuration, bool is_executed) {
  const std::vector<ShardPlace>& places = configuration.places;
  if (places.empty()) return std::nullopt;
  if (std::ssize(places) != configuration.devices()) {
    return Refusal{"places_do_not_match", std::to_string(configuration.devices()) +
                                              " ranks do not lie on " +
                                              std::to_string(places.size()) + " devices"};
  }
  if (!is_executed) return std::nullopt;
  for (const Meeting& meeting : meetings_of(configuration.parallel)) {
    for (const int rank : below(configuration.devices())) {
      const ShardPlace& own = places[as_size(rank)];
      for (const int other : meeting_ranks(configuration.parallel, meeting.split, rank)) {
        const ShardPlace& there = places[as_size(other)];
        if (there.backend == own.backend) continue;
        return Refusal{"not_executable",
                       "ranks " + rank_text(rank, own) + " and " + rank_text(other, there) +
                           " would meet in " + meeting.what +
                           ", which two backends do not have in common: not executable here"};
      }
    }
  }
  return std::nullopt;
}

std::optional<Refusal> check_nodes(const Configuration& configuration, const Target& target) {
  const int ranks = configuration.devices(), each = target.ranks_per_node;
  if (!target.is_spread(ranks)) return std::nullopt;
  if (ranks % each != 0 || ranks > target.nodes * each) {
    return Refusal{"places_do_not_match", std::to_string(ranks) + " ranks do not fill some of " +
                                              std::to_string(target.nodes) + " nodes of " +
                                              std::to_string(each)};
  }
  for (const Meeting& meeting : meetings_of(configuration.parallel)) {
    if (meeting_spread(configuration.parallel, meeting.split, each).is_even) continue;
    return Refusal{"not_executable", std::string("the ranks of ") + meeting.what +
                                         " lie unevenly over nodes of " + std::to_string(each)};
  }
  return std::nullopt;
}

std::optional<Refusal> check_ranks(const MemoryUse& use, const Configuration& configuration,
                                   const Target& target) {
  const Parallel& parallel = configuration.parallel;
  if (configuration.places.empty()) {
    return check_memory(use, target.memory_of_rank(configuration.devices()));
  }
  for (const int rank : below(parallel.devices())) {
    MemoryUse own = use;
    own.largest = use.stages[as_size(rank / parallel.tp % parallel.pp)];
    if (auto short_of = check_memory(own, target.memory_of_rank(configuration, rank))) {
      short_of->text += ", on " + configuration.places[as_size(rank)].text();
      return short_of;
    }
  }
  return std::nullopt;
}

}  // namespace halmark::tune
