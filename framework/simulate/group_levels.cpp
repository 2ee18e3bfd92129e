#include "simulate/group_levels.hpp"

#include <algorithm>

namespace halmark::simulate {
namespace {

// The largest divisor of `ranks` that `inside` divides and that is not above `most`.
std::int64_t held(std::int64_t ranks, std::int64_t inside, std::int64_t most) {
  for (std::int64_t count = std::min(ranks, most); count > inside; --count) {
    if (ranks % count == 0 && count % inside == 0) return count;
  }
  return inside;
}

}  // namespace

std::optional<GroupLevels> group_levels(const FabricLevels& whole, std::int64_t ranks,
                                        std::int64_t stride) {
  GroupLevels out{.fabric = whole, .of_whole = {}};
  out.fabric.levels.clear();
  std::int64_t devices = 1, inside = 1;
  for (std::size_t i = 0; i < whole.levels.size() && inside < ranks; ++i) {
    devices *= whole.levels[i].ranks;
    const std::int64_t here = held(ranks, inside, devices / stride);
    if (here == inside) continue;
    FabricLevel level = whole.levels[i];
    level.ranks = here / inside;
    level.shares_adapter =
        level.shares_adapter && !out.of_whole.empty() && out.of_whole.back() + 1 == i;
    out.fabric.levels.push_back(level);
    out.of_whole.push_back(i);
    inside = here;
  }
  if (inside < ranks) return std::nullopt;
  return out;
}

}  // namespace halmark::simulate
