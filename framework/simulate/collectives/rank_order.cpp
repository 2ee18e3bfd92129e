#include "simulate/collectives/rank_order.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark::simulate {
namespace {

// Even places have children, odd ones have none: of a place with lowest bit b the parent is the
// place with that bit gone and the next one set, or without it where that lies beyond the end.
std::int32_t parent_in_first(std::int32_t place, std::int32_t count) {
  const std::int32_t bit = place & -place;
  const std::int32_t upwards = (place ^ bit) | (bit << 1);
  return upwards >= count ? place ^ bit : upwards;
}

}  // namespace

RankShape::RankShape(const std::vector<std::int64_t>& all) {
  for (const std::int64_t of_level : all) {
    if (of_level == 1) continue;
    ranks.push_back(as_int(of_level));
    inside.push_back(count);
    count *= ranks.back();
  }
}

std::size_t RankShape::level_between(std::int32_t a, std::int32_t b) const {
  std::size_t level = levels() - 1;
  while (level > 0 && digit(a, level) == digit(b, level)) --level;
  return level;
}

std::vector<std::int32_t> RankShape::ring(std::int32_t channel) const {
  std::vector<std::int32_t> out = {0};
  for (const auto level : indices(levels())) {
    const std::vector<std::int32_t> group = out;
    out.clear();
    for (const std::int32_t i : below(ranks[level])) {
      const std::int32_t digit = level == 0 ? (i + channel) % ranks[0] : i;
      const std::size_t begin = out.size();
      for (const std::int32_t rank : group) out.push_back(rank + digit * inside[level]);
      if (i % 2 == 1) std::ranges::reverse(out.begin() + as_int64(begin), out.end());
    }
  }
  return out;
}

std::vector<std::int32_t> tree_parents(std::int32_t count, bool is_second) {
  std::vector<std::int32_t> out(as_size(count), -1);
  // Where a node of the second tree stands: mirrored, or turned by one where mirroring would leave
  // the even at even places. The root stays.
  const auto place_of = [&](std::int32_t node) {
    if (!is_second || node == 0) return node;
    return count % 2 == 1 ? count - node : node % (count - 1) + 1;
  };
  std::vector<std::int32_t> node_at(out.size());
  for (const std::int32_t node : below(count)) {
    node_at[as_size(place_of(node))] = node;
  }
  for (std::int32_t node = 1; node < count; ++node) {
    const std::int32_t parent = parent_in_first(place_of(node), count);
    out[as_size(node)] = node_at[as_size(parent)];
  }
  return out;
}

}  // namespace halmark::simulate
