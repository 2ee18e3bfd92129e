// Tori and meshes beside the formulas of textbooks (Dally and Towles, Principles and Practices of
// Interconnection Networks, chapter 5): diameter, number of links, bisection.

#include "../../case_name.hpp"
#include "fabric_texts.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/level_view.hpp"
#include "simulate/fabric/routes.hpp"

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
    const auto lines = static_cast<std::size_t>(size() / k);
    torus += lines * static_cast<std::size_t>(k > 2 ? k : k - 1);
    mesh += lines * static_cast<std::size_t>(k - 1);
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

}  // namespace
}  // namespace halmark::fabric
