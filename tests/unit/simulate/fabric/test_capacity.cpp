// Maximum flow beside the least cut of all cuts, and bisections beside printed figures.

#include <bit>

#include "../../case_name.hpp"
#include "fabric_texts.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/routes.hpp"

namespace halmark::fabric {
namespace {

// Every way to put the switches on either side: the least capacity of links that lead across.
double least_cut(const Topology& topology, const std::vector<int>& from,
                 const std::vector<int>& to) {
  std::vector<int> free;
  for (std::size_t i = 0; i < topology.entities.size(); ++i) {
    if (topology.entities[i].forwards) free.push_back(static_cast<int>(i));
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t set = 0; set < (1U << free.size()); ++set) {
    std::vector<int> side(topology.entities.size(), -1);  // 0: with `from`, 1: with `to`, -1: out
    for (std::size_t i = 0; i < free.size(); ++i) {
      side[static_cast<std::size_t>(free[i])] = (set >> i & 1U) != 0 ? 1 : 0;
    }
    for (const int device : from) side[static_cast<std::size_t>(device)] = 0;
    for (const int device : to) side[static_cast<std::size_t>(device)] = 1;
    double cut = 0;
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const int a = side[static_cast<std::size_t>(topology.links[i].from)];
      const int b = side[static_cast<std::size_t>(topology.links[i].to)];
      if (a + b == 1 && a >= 0 && b >= 0) cut += topology.capacity_bytes_per_s(static_cast<int>(i));
    }
    least = std::min(least, cut);
  }
  return least;
}

class CapacityOf : public testing::TestWithParam<int> {
 protected:
  CapacityOf()
      : topology_(parse_fabric(test::random_text(static_cast<std::uint64_t>(GetParam()) + 1000,
                                                 2 + GetParam() % 6, 1 + GetParam() * 3 % 9),
                               "random.toml")),
        devices_(topology_.devices()) {}

  Topology topology_;
  std::vector<int> devices_;
};

TEST_P(CapacityOf, sets_is_the_least_cut_between_them) {
  const std::size_t half = devices_.size() / 2;
  const std::vector<int> from(devices_.begin(), devices_.begin() + static_cast<long>(half));
  const std::vector<int> to(devices_.begin() + static_cast<long>(half), devices_.end());
  EXPECT_DOUBLE_EQ(Capacity(topology_).between(from, to), least_cut(topology_, from, to));
  EXPECT_DOUBLE_EQ(Capacity(topology_).between({&from.front(), 1}, {&to.back(), 1}),
                   least_cut(topology_, {from.front()}, {to.back()}));
}

TEST_P(CapacityOf, ways_of_routing_is_no_more_and_of_one_pair_no_less_than_its_widest_path) {
  const Capacity capacity(topology_);
  const Router router(topology_);
  for (const int from : devices_) {
    for (const int to : devices_) {
      if (from == to) continue;
      const double routed = capacity.routed({&from, 1}, {&to, 1});
      EXPECT_LE(routed, capacity.between({&from, 1}, {&to, 1}));
      EXPECT_GE(routed, router.to(to).bytes_per_s[static_cast<std::size_t>(from)]);
    }
  }
}

TEST_P(CapacityOf, halves_is_the_least_of_all_halves) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t set = 0; set < (1U << devices_.size()); ++set) {
    if (static_cast<std::size_t>(std::popcount(set)) != devices_.size() / 2) continue;
    std::vector<int> from, to;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      ((set >> i & 1U) != 0 ? from : to).push_back(devices_[i]);
    }
    least = std::min(least, least_cut(topology_, from, to));
  }
  const Bisection bisection = bisection_of(topology_);
  EXPECT_TRUE(bisection.is_minimum);
  EXPECT_DOUBLE_EQ(bisection.bytes_per_s, least);
}

TEST_P(CapacityOf, a_faster_link_never_takes_any_away) {
  const double before = bisection_of(topology_).bytes_per_s;
  for (LinkFigure& figure : topology_.figures) {
    const double slow = figure.bytes_per_s;
    figure.bytes_per_s = 2 * slow;
    EXPECT_GE(bisection_of(topology_).bytes_per_s, before);
    figure.bytes_per_s = slow;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CapacityOf, testing::Range(0, 24), [](const auto& info) {
  return halmark::test::case_name({"seed", info.param});
});

// Half of the ranks each at 1/r of its adapter: what r means (DGX SuperPOD and fat trees alike).
TEST(Bisection, of_leaves_and_spines_is_half_the_ranks_over_the_oversubscription) {
  for (const int uplinks : {16, 8, 4}) {
    const Topology topology = parse_fabric(test::leaf_spine_text(64, 16, 4, uplinks), "l.toml");
    const double oversubscription = 16.0 / uplinks;
    EXPECT_DOUBLE_EQ(bisection_of(topology).bytes_per_s, 32 * 50e9 / oversubscription) << uplinks;
  }
}

// One direction: from the half that has the first device.
TEST(Bisection, of_links_of_one_way_is_that_of_the_first_half) {
  const auto one_way = [](const std::string& from, const std::string& to, double bandwidth_gbs) {
    return "[[link]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"\nduplex = \"one_way\"\n" +
           test::figure_text("ib", 1, bandwidth_gbs);
  };
  const Topology topology = parse_fabric(
      "id = \"x\"\nname = \"x\"\n[[entity]]\nname = \"a\"\nkind = \"device\"\n[[entity]]\n"
      "name = \"b\"\nkind = \"device\"\n" +
          one_way("a", "b", 10) + one_way("b", "a", 3),
      "x.toml");
  EXPECT_DOUBLE_EQ(bisection_of(topology).bytes_per_s, 10e9);
  EXPECT_DOUBLE_EQ(Capacity(topology).between(std::vector{1}, std::vector{0}), 3e9);
}

TEST(Bisection, of_one_device_is_nothing) {
  const Topology topology =
      parse_fabric("id = \"x\"\nname = \"x\"\n[node]\ndevices = 1\n", "x.toml");
  EXPECT_EQ(bisection_of(topology).bytes_per_s, 0);
}

// All halves of twelve devices are looked at; of thirteen the first half against the rest.
TEST(Bisection, of_thirteen_devices_is_that_of_the_ranks_in_their_order) {
  for (const int devices : {12, 13}) {
    std::string text = "id = \"x\"\nname = \"x\"\n[[entity]]\nname = \"s\"\nkind = \"switch\"\n";
    // The last devices have the slowest links: the least half would be of these.
    for (int i = 0; i < devices; ++i) {
      const std::string name = "d" + std::to_string(i);
      text += "[[entity]]\nname = \"" + name + "\"\nkind = \"device\"\n[[link]]\nfrom = \"" + name +
              "\"\nto = \"s\"\n" + test::figure_text("ib", 1, i % 2 == 0 ? 10 : 1);
    }
    const Bisection found = bisection_of(parse_fabric(text, "x.toml"));
    EXPECT_EQ(found.is_minimum, devices == 12);
    // Six slow ones against six fast: 6 GB/s. In order: three and three of six, 33 GB/s.
    EXPECT_DOUBLE_EQ(found.bytes_per_s, devices == 12 ? 6e9 : 33e9);
  }
}

}  // namespace
}  // namespace halmark::fabric
