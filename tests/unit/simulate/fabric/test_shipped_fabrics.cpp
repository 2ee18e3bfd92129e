// configs/fabrics beside what vendors print of the same systems.

#include <filesystem>

#include "levels.hpp"
#include "plan/device/device_file.hpp"
#include "simulate/fabric/capacity.hpp"
#include "simulate/fabric/device_fabric.hpp"
#include "simulate/fabric/fabric_file.hpp"
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

}  // namespace
}  // namespace halmark::fabric
