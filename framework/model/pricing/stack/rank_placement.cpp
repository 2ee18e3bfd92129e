#include "model/pricing/stack/rank_placement.hpp"

#include <algorithm>
#include <map>
#include <ranges>

#include "core/numeric/cast.hpp"
#include "core/text/text.hpp"
#include "model/graph/expert_layout.hpp"

namespace halmark {

std::vector<int> meeting_ranks(const Parallel& parallel, Split split, int replica, int stage,
                               int tensor) {
  const auto rank = [&](int r, int s, int t) { return (r * parallel.pp + s) * parallel.tp + t; };
  std::vector<int> out;
  if (split == Split::pipeline) {
    for (int s = 0; s < parallel.pp; ++s) out.push_back(rank(replica, s, tensor));
  } else if (split == Split::expert) {
    const int across = expert_layout(parallel).across_replicas;
    for (int i = 0; i < across; ++i) {
      out.push_back(rank(replica / across * across + i, stage, tensor));
    }
  } else {
    for (int t = 0; t < parallel.tp; ++t) out.push_back(rank(replica, stage, t));
  }
  return out;
}

std::vector<int> meeting_ranks(const Parallel& parallel, Split split, int rank) {
  const int block = rank / parallel.tp;
  return meeting_ranks(parallel, split, block / parallel.pp, block % parallel.pp,
                       rank % parallel.tp);
}

MeetingSpread meeting_spread(const Parallel& parallel, Split split, int per_node) {
  MeetingSpread out;
  for (int rank = 0; rank < parallel.devices(); ++rank) {
    std::map<int, int> on_node;
    const std::vector<int> members = meeting_ranks(parallel, split, rank);
    for (const int member : members) ++on_node[member / per_node];
    const int most = std::ranges::max(on_node | std::views::values);
    out.is_even &= most * std::ssize(on_node) == std::ssize(members);
    if (std::ssize(on_node) < out.nodes) continue;
    out.ranks = static_cast<int>(members.size());
    out.nodes = static_cast<int>(on_node.size());
  }
  return out;
}

namespace {

std::vector<int> ranks_of_stage(const Parallel& parallel, int stage) {
  std::vector<int> out;
  for (int replica = 0; replica < parallel.dp; ++replica) {
    for (int tensor = 0; tensor < parallel.tp; ++tensor) {
      out.push_back((replica * parallel.pp + stage) * parallel.tp + tensor);
    }
  }
  return out;
}

bool are_alike(std::span<const RankPlacement> ranks, int a, int b) {
  return ranks.empty() || ranks[as_size(a)] == ranks[as_size(b)];
}

}  // namespace

std::vector<int> distinct_ranks(const Parallel& parallel, std::span<const RankPlacement> ranks,
                                int stage) {
  std::vector<int> out;
  for (const int rank : ranks_of_stage(parallel, stage)) {
    const bool is_known =
        std::ranges::any_of(out, [&](int known) { return are_alike(ranks, known, rank); });
    if (!is_known) out.push_back(rank);
  }
  return out;
}

int ranks_like(const Parallel& parallel, std::span<const RankPlacement> ranks, int stage,
               int rank) {
  const auto alike = std::ranges::count_if(
      ranks_of_stage(parallel, stage), [&](int other) { return are_alike(ranks, rank, other); });
  return static_cast<int>(alike);
}

std::string meeting_device(std::span<const RankPlacement> ranks, std::span<const int> members) {
  const auto device = [&](int rank) { return ranks[as_size(rank)].device; };
  const bool is_one =
      std::ranges::all_of(members, [&](int m) { return device(m) == device(members.front()); });
  if (is_one) return device(members.front());
  return join(members, "+", device);
}

}  // namespace halmark
