// Where shards lie, and what measured steps say of predicted ones.
#include "simulate/sharding/placement.hpp"

#include "simulate/sharding/calibration.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

// Devices by NUMA domain of one node: {3, 5}.
fabric::Topology node_of(const std::vector<int>& domains) {
  fabric::Topology out;
  for (std::size_t d = 0; d < domains.size(); ++d) {
    for (int i = 0; i < domains[d]; ++i) {
      out.entities.push_back({.name = "node0.device" + std::to_string(out.entities.size()),
                              .kind = fabric::EntityKind::device,
                              .node = 0,
                              .numa = static_cast<int>(d)});
    }
  }
  return out;
}

TEST(Placement, puts_a_tensor_group_into_one_numa_domain) {
  // In the order of the fabric the second pair would lie across the domains.
  const fabric::Topology node = node_of({3, 3});
  const Placement placed = place_shards(node, {.dp = 2, .tp = 2});
  EXPECT_EQ(placed.groups, 2);
  EXPECT_EQ(placed.in_domain, 2);
  EXPECT_EQ(placed.entities, (std::vector<int>{0, 1, 3, 4}));
  EXPECT_EQ(place_shards(node, {.dp = 3, .tp = 2}).in_domain, 2) << "one pair is left over";
  EXPECT_EQ(place_shards(node, {.tp = 4}).in_domain, 0);
}

TEST(Placement, has_as_many_groups_in_one_domain_as_the_domains_hold) {
  std::mt19937 engine(2);
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); };
  for (int round = 0; round < 500; ++round) {
    std::vector<int> domains;
    int devices = 0;
    for (int d = 0; d <= below(4); ++d) {
      domains.push_back(1 + below(6));
      devices += domains.back();
    }
    const int tp = 1 + below(4);
    if (devices < tp) continue;
    const Parallel parallel{.dp = 1 + below(devices / tp), .tp = tp};
    std::int64_t most = 0;
    for (const int d : domains) most += d / tp;
    const Placement placed = place_shards(node_of(domains), parallel);
    EXPECT_EQ(placed.in_domain, std::min<std::int64_t>(most, parallel.dp));
    EXPECT_EQ(std::set<int>(placed.entities.begin(), placed.entities.end()).size(),
              static_cast<std::size_t>(parallel.devices()))
        << "a device is one shard";
  }
}

TEST(Calibration, is_the_geometric_mean_with_its_interval) {
  const std::vector<PredictedMeasured> pairs = {{100, 120}, {200, 260}, {50, 70}};
  const Calibration found = calibrate(pairs);
  EXPECT_EQ(found.pairs, 3u);
  EXPECT_NEAR(found.factor, std::cbrt(1.2 * 1.3 * 1.4), 1e-12);
  // t(0.975, 2) = 4.302653 (tables of Student's t).
  const double logs[] = {std::log(1.2), std::log(1.3), std::log(1.4)};
  const double middle = (logs[0] + logs[1] + logs[2]) / 3;
  double squares = 0;
  for (const double l : logs) squares += (l - middle) * (l - middle);
  const double half = 4.302653 * std::sqrt(squares / 2 / 3);
  EXPECT_NEAR(found.interval->low, std::exp(middle - half), 1e-6);
  EXPECT_NEAR(found.interval->high, std::exp(middle + half), 1e-6);
}

TEST(Calibration, corrects_nothing_with_fewer_than_three_pairs) {
  const std::vector<PredictedMeasured> two = {{100, 200}, {100, 200}, {0, 5}, {7, 0}};
  const Calibration found = calibrate(two);
  EXPECT_EQ(found.pairs, 2u);
  EXPECT_EQ(found.factor, 1);
  EXPECT_FALSE(found.interval);
  EXPECT_FALSE(found.is_applied());
}

TEST(Calibration, corrects_each_kind_by_its_own_factor) {
  const StepCalibration by{.compute = {.pairs = 3, .factor = 2, .interval = {}},
                           .communication = {.pairs = 3, .factor = 5, .interval = {}}};
  const OperatorTime time = corrected([](const Operator&) { return 10.0; }, by);
  EXPECT_EQ(*time({.name = "q_proj", .kind = OperatorKind::linear}), 20);
  EXPECT_EQ(*time({.name = "all_reduce", .kind = OperatorKind::collective}), 50);
}

}  // namespace
}  // namespace halmark::simulate
