// Where ranks lie that do not all lie on parts of one device, and who meets whom.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "model/graph/graph.hpp"

namespace halmark {

// Ranks of equal placements execute alike.
struct RankPlacement {
  std::string backend, device = "0";
  int parts = 1;                // cuts of the device, of which the rank has one
  int at_once = 1;              // ranks of the deployment on this device: they run at once
  std::int64_t ring_bytes = 0;  // see StackPlacement
  auto operator<=>(const RankPlacement&) const = default;
};

// Who meets in a collective, by its split: the stages of a pipeline, the replicas that exchange
// rows of experts, else the ranks of a tensor-parallel group. Ranks as build_stacks numbers them.
std::vector<int> meeting_ranks(const Parallel& parallel, Split split, int replica, int stage,
                               int tensor);
std::vector<int> meeting_ranks(const Parallel& parallel, Split split, int rank);

// How the ranks of one meeting lie on nodes that ranks fill in their order, `per_node` each: of all
// groups of the split, the one on most nodes.
struct MeetingSpread {
  int ranks = 1, nodes = 1;
  bool is_even = true;  // as many on each of its nodes, in every group
};
MeetingSpread meeting_spread(const Parallel& parallel, Split split, int per_node);

// One rank of a stage per kind of placement among its ranks, the first of each; without placements
// the first rank.
std::vector<int> distinct_ranks(const Parallel& parallel, std::span<const RankPlacement> ranks,
                                int stage);

// Of the stage's ranks those that are placed as `rank` is, itself among them.
int ranks_like(const Parallel& parallel, std::span<const RankPlacement> ranks, int stage, int rank);

// The devices of a backend on which these ranks lie, in their order: "0" where all share it, else
// one per rank: "0+1".
std::string meeting_device(std::span<const RankPlacement> ranks, std::span<const int> members);

}  // namespace halmark
