// configs/fabrics beside what vendors print of the same systems.
// Maximum flow beside the least cut of all cuts, and bisections beside printed figures.

#include <bit>
#include <filesystem>

#include "../../case_name.hpp"
#include "core/numeric/cast.hpp"
#include "fabric_texts.hpp"
#include "levels.hpp"
#include "plan/device/device_file.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/device_fabric.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/routes.hpp"
#include "tests/checkout.hpp"

namespace halmark::fabric {
namespace {

const std::vector<std::filesystem::path> folders = {halmark::test::in_source("/configs/fabrics")};

TEST(ShippedFabrics, are_read_and_named_as_their_files) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folders.front())) {
    const Topology topology = read_fabric(entry.path().string());
    EXPECT_EQ(topology.id, entry.path().stem().string());
    for (const LinkFigure& figure : topology.figures) EXPECT_NE(figure.source, "") << topology.id;
    ++count;
  }
  EXPECT_GE(count, 12u);
}

TEST(ShippedFabrics, join_known_devices_by_the_links_that_these_have) {
  for (const Topology& topology : known_fabrics(folders)) {
    if (topology.device.empty()) continue;
    const auto device =
        find_device(topology.device, {halmark::test::in_source("/configs/devices")});
    ASSERT_TRUE(device) << topology.id << " names " << topology.device;
    for (const LinkFigure& figure : topology.figures) {
      if (figure.name != "scale_up") continue;
      ASSERT_FALSE(device->links.empty());
      const halmark::Link& link = device->links.front();
      // A torus has several links of which each is a part.
      const double parts = link.bytes_per_s / figure.bytes_per_s;
      EXPECT_NEAR(parts, std::round(parts), 1e-9) << topology.id;
    }
  }
}

Topology own_link_of(const char* id, std::int64_t devices) {
  return device_fabric(*find_device(id, {halmark::test::in_source("/configs/devices")}), devices);
}

TEST(DeviceFabrics, carry_what_the_first_word_of_their_link_says) {
  const std::pair<const char*, Transport> known[] = {
      {"h200", Transport::nvlink},    {"a100-pcie", Transport::pcie},
      {"gaudi3", Transport::roce},    {"raspberry-pi-5", Transport::tcp},
      {"mi300x", Transport::xgmi},    {"tpu-v5e", Transport::ici},
      {"ascend-910c", Transport::ub}, {"trainium2", Transport::ici}};
  for (const auto& [id, transport] : known) {
    EXPECT_EQ(own_link_of(id, 2).figures.front().transport, transport) << id;
  }
}

// NVIDIA H100 whitepaper: 3.6 TB/s of bisection bandwidth in an 8-GPU server, both directions.
TEST(DeviceFabrics, of_eight_h100_have_the_printed_bisection) {
  EXPECT_DOUBLE_EQ(2 * bisection_of(own_link_of("h100-sxm", 8)).bytes_per_s, 3.6e12);
  EXPECT_TRUE(own_link_of("epyc-9654", 1).links.empty()) << "one device needs no link";
}

// docs.cloud.google.com/tpu/docs/v4: "Bisection bandwidth per Pod 24 TB/s", of links of 45 to 50
// GB/s: 512 of them lead across.
TEST(ShippedFabrics, bisection_of_the_tpu_v4_pod_is_near_the_printed_one) {
  const double bisection = bisection_of(known_fabric("torus-3d", folders)).bytes_per_s;
  EXPECT_NEAR(bisection, 24e12, 0.07 * 24e12);
}

// NVIDIA H100 whitepaper: 3.6 TB/s of bisection bandwidth in an 8-GPU server, both directions.
TEST(ShippedFabrics, bisection_of_the_hgx_server_is_the_printed_one) {
  const Bisection bisection = bisection_of(known_fabric("nvlink-node", folders));
  EXPECT_TRUE(bisection.is_minimum);
  EXPECT_DOUBLE_EQ(2 * bisection.bytes_per_s, 3.6e12);
}

// NVIDIA GB200 NVL72 page: 130 TB/s of NVLink, of 72 GPUs and both directions.
TEST(ShippedFabrics, nvl72_carries_the_printed_total) {
  const Topology topology = known_fabric("nvl72", folders);
  const LevelView domain = level(level_views(topology), "domain");
  EXPECT_EQ(domain.ranks, 72u);
  EXPECT_NEAR(2 * 72 * domain.bytes_per_s_rank, 130e12, 1e12);
  EXPECT_DOUBLE_EQ(bisection_of(topology).bytes_per_s, 36 * 900e9);
}

// DGX SuperPOD reference architecture H100, table 4: 8 leaves, 4 spines, 256 leaf-spine cables.
TEST(ShippedFabrics, the_scalable_unit_has_the_printed_parts_and_no_bottleneck) {
  const Topology topology = known_fabric("rail-su", folders);
  int leaves = 0, spines = 0, cables = 0;
  for (const Entity& entity : topology.entities) {
    leaves += entity.name.starts_with("rail") ? 1 : 0;
    spines += entity.name.starts_with("spine") ? 1 : 0;
  }
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const bool is_uplink = topology.figure_of(static_cast<int>(i)).name == "network.uplink";
    cables += is_uplink ? topology.links[i].cables : 0;
  }
  EXPECT_EQ(leaves, 8);
  EXPECT_EQ(spines, 4);
  EXPECT_EQ(cables, 256);
  EXPECT_DOUBLE_EQ(bisection_of(topology).bytes_per_s, 128 * 50e9);
  // 64 B end to end, DeepSeek-V3 hardware paper: 2.8 us in one leaf, 3.7 across.
  const auto views = level_views(topology);
  EXPECT_NEAR(level(views, "rail").latency_ns_farthest, 2800, 1);
  EXPECT_NEAR(level(views, "spine").latency_ns_farthest, 3700, 1);
}

TEST(ShippedFabrics, the_oversubscribed_one_gives_a_rank_a_third_over_the_spine) {
  const auto views = level_views(known_fabric("leaf-spine", folders));
  EXPECT_DOUBLE_EQ(level(views, "leaf").bytes_per_s_rank, 3.125e9);
  EXPECT_NEAR(level(views, "spine").bytes_per_s_rank, 3.125e9 / 3, 1);
  EXPECT_NEAR(level(views, "spine").oversubscription, 3, 1e-6);
}

// Round trip of kernel TCP through one switch: 20 to 60 us.
TEST(ShippedFabrics, lite_has_two_ranks_on_one_leaf_with_the_round_trip_of_tcp) {
  const Topology topology = known_fabric("lite", folders);
  EXPECT_EQ(topology.profile, "lite");
  EXPECT_EQ(topology.devices().size(), 2u);
  const auto views = level_views(topology);
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].name, "leaf");
  EXPECT_DOUBLE_EQ(views[0].bytes_per_s_flow, 3.125e9);
  EXPECT_GT(2 * views[0].latency_ns_farthest, 20e3);
  EXPECT_LT(2 * views[0].latency_ns_farthest, 60e3);
}

TEST(ShippedFabrics, distances_between_sites_take_their_time) {
  const auto views = level_views(known_fabric("cross-dc", folders));
  EXPECT_EQ(level(views, "wan").ranks, 64u);
  EXPECT_GT(level(views, "wan").latency_ns_nearest, 490e3);
  EXPECT_DOUBLE_EQ(level(views, "wan").bytes_per_s_rank, 8 * 50e9 / 32);
}

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
      side[as_size(free[i])] = (set >> i & 1U) != 0 ? 1 : 0;
    }
    for (const int device : from) side[as_size(device)] = 0;
    for (const int device : to) side[as_size(device)] = 1;
    double cut = 0;
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const int a = side[as_size(topology.links[i].from)];
      const int b = side[as_size(topology.links[i].to)];
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
      EXPECT_GE(routed, router.to(to).bytes_per_s[as_size(from)]);
    }
  }
}

TEST_P(CapacityOf, halves_is_the_least_of_all_halves) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t set = 0; set < (1U << devices_.size()); ++set) {
    if (as_size(std::popcount(set)) != devices_.size() / 2) continue;
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
