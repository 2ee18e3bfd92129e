// Placements against the enumeration of all of them, on every small cluster.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "export/cluster/placement.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::exports {
namespace {

struct Best {
  std::size_t extra_parts = 0, nodes = 0;
  auto operator<=>(const Best&) const = default;
};

// Every assignment of every server to every set of nodes with an equal part on each.
std::optional<Best> enumerated(const std::vector<int>& free, int groups, int servers) {
  std::optional<Best> best;
  const std::size_t sets = std::size_t{1} << free.size();
  const std::function<void(std::vector<int>, std::size_t, int, std::size_t)> place_next =
      [&](std::vector<int> left, std::size_t used, int more, std::size_t parts) {
        if (more == 0) {
          const Best found{parts - static_cast<std::size_t>(servers),
                           static_cast<std::size_t>(std::popcount(used))};
          if (!best || found < *best) best = found;
          return;
        }
        for (std::size_t set = 1; set < sets; ++set) {
          const int count = std::popcount(set);
          if (groups % count != 0) continue;
          std::vector<int> after = left;
          bool fits = true;
          for (std::size_t i = 0; i < free.size(); ++i) {
            if ((set >> i & 1U) != 0) fits = (after[i] -= groups / count) >= 0 && fits;
          }
          if (fits)
            place_next(after, used | set, more - 1, parts + static_cast<std::size_t>(count));
        }
      };
  place_next(free, 0, servers, 0);
  return best;
}

void check(const std::vector<std::int64_t>& devices, int groups, int servers) {
  std::vector<ClusterNode> nodes;
  for (const std::int64_t d : devices) nodes.push_back({"n" + std::to_string(nodes.size()), {d}});
  const auto placed =
      place(nodes, {.group_devices = 1, .groups = groups, .may_span = true}, servers);
  const auto best = enumerated({devices.begin(), devices.end()}, groups, servers);
  ASSERT_EQ(placed.has_value(), best.has_value());
  if (!placed) return;
  EXPECT_EQ(placed->extra_parts, best->extra_parts);
  EXPECT_EQ(placed->nodes_used, best->nodes);
  std::vector<std::int64_t> left = devices;
  for (const PlacedServer& server : placed->servers) {
    for (const std::size_t node : server.nodes) {
      left[node] -= groups / static_cast<std::int64_t>(server.nodes.size());
    }
  }
  EXPECT_GE(std::ranges::min(left), 0);
  EXPECT_EQ(std::accumulate(devices.begin(), devices.end(), std::int64_t{0}) -
                std::accumulate(left.begin(), left.end(), std::int64_t{0}),
            std::int64_t{groups} * servers);
}

TEST(Placement, equals_the_enumeration_on_every_small_cluster) {
  for (int groups = 1; groups <= 4; ++groups) {
    for (int servers = 1; servers <= 3; ++servers) {
      for (std::int64_t a = 1; a <= 5; ++a) {
        for (std::int64_t b = 0; b <= a; ++b) {
          for (std::int64_t c = 0; c <= b; ++c) {
            SCOPED_TRACE(test::case_name({groups, servers, a, b, c}));
            check({a, b, c}, groups, servers);
          }
        }
      }
    }
  }
}

TEST(Placement, a_group_stays_within_a_domain) {
  const std::vector<ClusterNode> nodes = {{"a", {4, 4}}, {"b", {6, 2}}};
  EXPECT_EQ(capacities(nodes, 4), (std::vector<int>{2, 1}));
  const ServerShape shape{.group_devices = 4, .groups = 1};
  EXPECT_TRUE(place(nodes, shape, 3));
  EXPECT_FALSE(place(nodes, shape, 4));
}

TEST(Placement, a_thousand_alike_nodes_are_quick) {
  std::vector<ClusterNode> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back({"n" + std::to_string(i), {8}});
  const auto placed = place(nodes, {.group_devices = 4, .groups = 1}, 1500);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->nodes_used, 750u);
}

}  // namespace
}  // namespace halmark::exports
