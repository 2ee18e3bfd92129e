
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/fabric_text.hpp"
#include "simulate/fabric/level_view.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric {
namespace {

MeasuredFabric measured() {
  return {.id = "here",
          .name = "a machine with \"quotes\"",
          .devices = 4,
          .inside = {Transport::shared_memory, 0.9e-6, 11.2e9, "measured so"},
          .tiers = {{"host", std::int64_t{64} << 30, 20e9, 0, 1e-7, "a chase"}},
          .notes = {"one note"}};
}

TEST(FabricText, of_one_machine_is_read_back_with_what_was_measured_between_its_ranks) {
  const Topology topology = parse_fabric(fabric_text(measured()), "here.toml");
  EXPECT_EQ(topology.name, "a machine with \"quotes\"");
  const auto levels = level_views(topology);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].ranks, 4);
  EXPECT_NEAR(levels[0].latency_ns_farthest, 900, 1e-3);
  EXPECT_NEAR(levels[0].bytes_per_s_flow, 11.2e9, 1e3);
}

TEST(FabricText, of_two_machines_has_the_measured_latency_from_rank_to_rank) {
  MeasuredFabric two = measured();
  two.inside.latency_s = 0.2e-6;
  two.network = MeasuredLink{Transport::tcp, 14e-6, 1.2e9, "measured so"};
  const auto levels = level_views(parse_fabric(fabric_text(two), "two.toml"));
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].ranks, 2);
  EXPECT_NEAR(levels[0].latency_ns_farthest, 14000, 0.1);
  EXPECT_NEAR(levels[0].bytes_per_s_flow, 1.2e9, 1e3);
}

// Loopback is faster than any wire: a file of it stays one that can be read.
TEST(FabricText, a_network_as_fast_as_no_wire_is_kept_at_what_its_transport_takes) {
  MeasuredFabric two = measured();
  two.network = MeasuredLink{Transport::tcp, 1e-6, 1.2e9, "measured so"};
  EXPECT_NO_THROW(parse_fabric(fabric_text(two), "two.toml"));
  says(fabric_text(two), "latency_us = 1.25\n");
}

}  // namespace
}  // namespace halmark::fabric
