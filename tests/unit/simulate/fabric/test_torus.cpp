// Tori and meshes beside the formulas of textbooks (Dally and Towles, Principles and Practices of
// Interconnection Networks, chapter 5): diameter, number of links, bisection.
// Balls in bins: flows that choose their uplinks by a hash.

#include "../../case_name.hpp"
#include "core/numeric/cast.hpp"
#include "fabric_texts.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/collision.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/level_view.hpp"
#include "simulate/fabric/routes.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric {
namespace {

constexpr double link_bytes_per_s = 45e9;

struct Case {
  std::string shape;
  std::vector<int> dims;
};

class Torus : public testing::TestWithParam<Case> {
 protected:
  int size() const {
    const auto& dims = GetParam().dims;
    return std::accumulate(dims.begin(), dims.end(), 1, std::multiplies<>());
  }
  Topology build(const std::string& kind) const {
    return parse_fabric(test::torus_text(kind, GetParam().shape, size(), link_bytes_per_s / 1e9),
                        "t.toml");
  }
};

TEST_P(Torus, diameter_is_the_sum_of_half_lengths) {
  int expected = 0;
  for (const int k : GetParam().dims) expected += k / 2;
  const Topology topology = build("torus");
  const Router router(topology);
  for (const int device : topology.devices()) {
    EXPECT_EQ(std::ranges::max(router.to(device).hops), expected);
  }
}

TEST_P(Torus, diameter_of_the_mesh_is_the_sum_of_lengths_less_one) {
  int expected = 0;
  for (const int k : GetParam().dims) expected += k - 1;
  const Topology topology = build("mesh");
  const Router router(topology);
  int farthest = 0;
  for (const int device : topology.devices()) {
    farthest = std::max(farthest, std::ranges::max(router.to(device).hops));
  }
  EXPECT_EQ(farthest, expected);
}

TEST_P(Torus, has_one_link_per_device_and_dimension_of_three_or_more) {
  std::size_t torus = 0, mesh = 0;
  for (const int k : GetParam().dims) {
    const auto lines = as_size(size() / k);
    torus += lines * as_size(k > 2 ? k : k - 1);
    mesh += lines * as_size(k - 1);
  }
  EXPECT_EQ(build("torus").links.size(), torus);
  EXPECT_EQ(build("mesh").links.size(), mesh);
}

// Odd lengths have no plane between the halves.
class EvenTorus : public Torus {};

TEST_P(EvenTorus, bisection_is_two_cuts_across_the_longest_dimension_and_one_in_a_mesh) {
  const int longest = std::ranges::max(GetParam().dims);
  const double cut = size() / longest * link_bytes_per_s;
  EXPECT_DOUBLE_EQ(bisection_of(build("torus")).bytes_per_s, longest > 2 ? 2 * cut : cut);
  EXPECT_DOUBLE_EQ(bisection_of(build("mesh")).bytes_per_s, cut);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return halmark::test::case_name({info.param.shape});
}

const auto even =
    testing::Values(Case{"4x4", {4, 4}}, Case{"2x2", {2, 2}}, Case{"8x4", {8, 4}},
                    Case{"4x8", {4, 8}}, Case{"2x4x4", {2, 4, 4}}, Case{"4x4x4", {4, 4, 4}},
                    Case{"6x2x3", {6, 2, 3}}, Case{"1x6", {1, 6}}, Case{"2x2x2x4", {2, 2, 2, 4}});
const auto odd = testing::Values(Case{"5x3", {5, 3}}, Case{"7", {7}}, Case{"3x3x3", {3, 3, 3}});

INSTANTIATE_TEST_SUITE_P(Even, Torus, even, name_of);
INSTANTIATE_TEST_SUITE_P(Odd, Torus, odd, name_of);
INSTANTIATE_TEST_SUITE_P(Shapes, EvenTorus, even, name_of);

// From a corner to the opposite one of an even torus each way round is as short: 2 x 2 x the orders
// of 2 + 2 steps.
TEST(TorusPaths, are_counted_over_all_orders_and_ways_round) {
  const Topology topology = parse_fabric(test::torus_text("torus", "4x4", 16, 45), "t.toml");
  const RouteTree tree = Router(topology).to(topology.devices().front());
  EXPECT_EQ(tree.hops[10], 4);
  EXPECT_EQ(tree.paths[10], 2 * 2 * 6);
}

TEST(TorusLevel, gives_a_rank_all_of_its_links) {
  const Topology topology = parse_fabric(test::torus_text("torus", "4x4x4", 64, 45), "t.toml");
  const std::vector<LevelView> views = level_views(topology);
  ASSERT_EQ(views.size(), 1u);
  EXPECT_DOUBLE_EQ(views[0].bytes_per_s_rank, 6 * 45e9);
  EXPECT_EQ(views[0].hops_nearest, 1);
  EXPECT_EQ(views[0].hops_farthest, 6);
  EXPECT_DOUBLE_EQ(views[0].latency_ns_farthest, 6000);
}

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
    const double even =
        std::min(rate_of_flow, std::min(1.0, as_double(uplinks) / as_double(flows)));
    double sum = 0;
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<int> load(as_size(uplinks), 0);
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
