// Balls in bins: flows that choose their uplinks by a hash.
#include "simulate/fabric/collision.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric {
namespace {

struct Row {
  std::int64_t uplinks, flows;
  double rate;
};

// Rate of the slowest flow relative to ideal sharing, mean of 20,000 draws, as published.
const std::vector<Row> published = {{4, 2, 0.87},   {4, 4, 0.51},   {4, 8, 0.59},  {8, 4, 0.70},
                                    {8, 8, 0.41},   {8, 16, 0.50},  {8, 32, 0.58}, {16, 8, 0.53},
                                    {16, 16, 0.35}, {16, 32, 0.43}, {16, 64, 0.52}};

TEST(Collision, rates_by_hash_are_those_published) {
  for (const Row& row : published) {
    EXPECT_NEAR(slowest_flow_share(Ecmp::hash, {.flows = row.flows, .uplinks = row.uplinks}),
                row.rate, 0.0075)
        << row.uplinks << ' ' << row.flows;
  }
}

// By throwing: beyond the counts that are exact too.
TEST(Collision, rates_by_hash_are_those_of_draws) {
  std::mt19937_64 random(7);
  for (const auto& [uplinks, flows, rate_of_flow] :
       std::vector<std::tuple<std::int64_t, std::int64_t, double>>{
           {4, 48, 0.25}, {3, 5, 0.5}, {1, 9, 1}, {7, 1000, 1}, {8, 1000, 1}, {32, 2000, 1}}) {
    constexpr int draws = 4000;
    const double even = std::min(
        rate_of_flow, std::min(1.0, static_cast<double>(uplinks) / static_cast<double>(flows)));
    double sum = 0;
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<int> load(static_cast<std::size_t>(uplinks), 0);
      for (std::int64_t i = 0; i < flows; ++i) ++load[random() % load.size()];
      sum += std::min(rate_of_flow, 1.0 / *std::ranges::max_element(load)) / even;
    }
    const Uplinks all{.flows = flows, .uplinks = uplinks, .bytes_per_s_flow = rate_of_flow};
    EXPECT_NEAR(slowest_flow_share(Ecmp::hash, all), sum / draws, 0.006) << uplinks << ' ' << flows;
  }
}

TEST(Collision, the_least_loaded_uplink_leaves_only_what_does_not_divide) {
  EXPECT_EQ(slowest_flow_share(Ecmp::least_loaded, {.flows = 3, .uplinks = 4}), 1);
  EXPECT_EQ(slowest_flow_share(Ecmp::least_loaded, {.flows = 16, .uplinks = 4}), 1);
  EXPECT_NEAR(slowest_flow_share(Ecmp::least_loaded, {.flows = 5, .uplinks = 4}), 5.0 / 4 / 2,
              1e-12);
}

TEST(Collision, packets_over_all_uplinks_share_them_evenly) {
  EXPECT_EQ(slowest_flow_share(Ecmp::spray, {.flows = 5, .uplinks = 4}), 1);
}

TEST(Collision, an_adapter_slower_than_an_uplink_hides_collisions) {
  const Uplinks two{.flows = 2, .uplinks = 2, .bytes_per_s = 2, .bytes_per_s_flow = 1};
  EXPECT_EQ(slowest_flow_share(Ecmp::hash, two), 1);
}

TEST(Collision, nothing_is_no_number_of_uplinks) {
  EXPECT_THROW(slowest_flow_share(Ecmp::hash, {.flows = 1, .uplinks = 0}), Error);
  EXPECT_THROW(slowest_flow_share(Ecmp::hash, {.flows = 0, .uplinks = 1}), Error);
  EXPECT_THROW(slowest_flow_share(Ecmp::hash, {.bytes_per_s = 0}), Error);
}

// Of n flows over two uplinks the fuller one has k with 2 C(n, k) / 2^n, and n / 2 once: exact up
// to 512 flows, near beyond.
double share_of_two(int n) {
  double sum = 0;
  for (int k = n / 2; k <= n; ++k) {
    const double ways = std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
    const double chance = (2 * k == n ? 1 : 2) * std::exp(ways - n * std::log(2.0));
    sum += chance * (n / 2.0) / k;
  }
  return sum;
}

TEST(Collision, is_exact_up_to_512_flows) {
  for (const int n : {2, 64, 480, 512}) {
    EXPECT_NEAR(slowest_flow_share(Ecmp::hash, {.flows = n, .uplinks = 2}), share_of_two(n), 1e-8)
        << n;
  }
  const double beyond = slowest_flow_share(Ecmp::hash, {.flows = 514, .uplinks = 2});
  EXPECT_NEAR(beyond, share_of_two(514), 0.02);
  EXPECT_GT(std::abs(beyond - share_of_two(514)), 1e-6);
}

TEST(Collision, a_flow_of_no_rate_is_refused) {
  EXPECT_THROW(slowest_flow_share(Ecmp::spray, {.flows = 1, .uplinks = 1, .bytes_per_s_flow = 0}),
               Error);
  EXPECT_EQ(slowest_flow_share(Ecmp::hash, {.flows = 1, .uplinks = 1}), 1);
}

}  // namespace
}  // namespace halmark::fabric
