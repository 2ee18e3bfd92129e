// A fabric as a document, as a file, and what its transports take at least.

#include "fabric_texts.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/fabric_json.hpp"
#include "simulate/fabric/fabric_schema.hpp"
#include "simulate/fabric/fabric_text.hpp"
#include "simulate/fabric/level_view.hpp"
#include "simulate/fabric/transport.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric {
namespace {

TEST(FabricDocument, has_every_part_with_its_unit) {
  const Topology t = parse_fabric(
      "id = \"f\"\nname = \"n\"\ndevice = \"h100-sxm\"\nnotes = [\"a note\"]\n[node]\ncount = 2\n"
      "devices = 1\n[node.host]\n" +
          test::figure_text("pcie", 0.5, 64) + "[network]\nkind = \"leaf\"\necmp = \"hash\"\n" +
          test::figure_text("roce", 1000, 50) +
          "length_km = 3\nduplex = \"half\"\n[[tier]]\nname = \"nvme\"\nscope = \"node\"\nbytes = "
          "7\n"
          "read_gbs = 2\nwrite_gbs = 1\nlatency_us = 80\nsource = \"data sheet\"\n",
      "f.toml");
  const Json document = fabric_json(t, level_views(t), bisection_of(t));
  EXPECT_EQ(document["counts"],
            Json::parse(R"({"devices": 2, "hosts": 2, "nics": 2, "switches": 1, "links": 6})"));
  EXPECT_EQ(document["id"], "f");
  EXPECT_EQ(document["name"], "n");
  EXPECT_EQ(document["profile"], "full");
  EXPECT_EQ(document["device"], "h100-sxm");
  EXPECT_EQ(document["notes"], Json::array({"a note"}));
  EXPECT_EQ(document["ecmp"], "hash");
  EXPECT_EQ(document["figures"][1], Json::parse(R"({"name": "network", "transport": "roce",
      "latency_ns": 1e6, "bytes_per_s": 5e10, "duplex": "half", "length_km": 3.0,
      "source": "test"})"));
  EXPECT_EQ(document["figures"][0]["duplex"], "full");
  EXPECT_EQ(document["tiers"], Json::parse(R"([{"name": "nvme", "scope": "node", "bytes": 7,
      "read_bytes_per_s": 2e9, "write_bytes_per_s": 1e9, "latency_ns": 8e4,
      "source": "data sheet"}])"));
  EXPECT_EQ(document["entities"][0], Json::parse(R"({"name": "node0.numa0", "kind": "host",
      "node": 0, "numa": 0, "forwards": true})"));
  EXPECT_EQ(document["entities"][5], Json::parse(R"({"name": "leaf0", "kind": "switch",
      "node": null, "numa": null, "forwards": true})"));
  EXPECT_EQ(document["entities"][4]["kind"], "nic");
  EXPECT_EQ(document["links"][0], Json::parse(R"({"from": "node0.device0", "to": "node0.numa0",
      "figure": "node.host", "cables": 1})"));
  // Two links of 500 ns and two of 1 ms.
  EXPECT_EQ(document["levels"], Json::parse(R"([{"name": "leaf", "groups": 1, "ranks": 2,
      "hops_nearest": 4, "hops_farthest": 4, "latency_ns_nearest": 2001000.0,
      "latency_ns_farthest": 2001000.0, "bytes_per_s_flow": 5e10, "bytes_per_s_rank": 5e10,
      "oversubscription": 1.0, "transport": "roce"}])"));
  EXPECT_EQ(document["bisection"], Json::parse(R"({"bytes_per_s": 5e10, "is_minimum": true})"));
}

TEST(FabricDocument, of_any_device_names_none) {
  const Topology t = parse_fabric("id = \"f\"\nname = \"n\"\n[node]\ndevices = 1\n", "f.toml");
  const Json document = fabric_json(t, {}, bisection_of(t));
  EXPECT_TRUE(document["device"].is_null());
  EXPECT_EQ(document["bisection"], Json::parse(R"({"bytes_per_s": 0.0, "is_minimum": true})"));
}

TEST(FabricFileText, of_one_machine_halves_the_latency_from_rank_to_rank) {
  const MeasuredFabric one{
      .id = "here",
      .name = "n",
      .devices = 4,
      .inside = {Transport::pcie, 0.9e-6, 11.2e9, "so"},
      .tiers = {{"host", 64, 20e9, 0, 1e-7, "a chase"}, {"nvme", 99, 2e9, 1e9, 8e-5, "a disk"}},
      .notes = {"one", "two"}};
  EXPECT_EQ(fabric_text(one),
            "# Written by halmark fabric probe.\nid = \"here\"\nname = \"n\"\n"
            "notes = [\"one\",\"two\"]\n\n[node]\ncount = 1\ndevices = 4\n\n[node.host]\n"
            "transport = \"pcie\"\nlatency_us = 0.45\nbandwidth_gbs = 11.2\nsource = \"so\"\n\n"
            "[[tier]]\nname = \"host\"\nscope = \"node\"\nbytes = 64\nread_gbs = 20\n"
            "latency_us = 0.1\nsource = \"a chase\"\n\n"
            "[[tier]]\nname = \"nvme\"\nscope = \"node\"\nbytes = 99\nread_gbs = 2\n"
            "write_gbs = 1\nlatency_us = 80\nsource = \"a disk\"\n");
}

// Found by watching the reader: of words, of single entities and of a torus.
TEST(FabricSchema, has_the_keys_of_the_reader_with_their_limits) {
  const FileSchema schema = fabric_schema();
  EXPECT_EQ(schema.name, "fabric");
  for (const char* path : {"id", "node.numa", "scale_up.nodes", "scale_up.shape", "network.spines",
                           "entity[].name", "link[].from", "group[].members", "tier[].bytes"}) {
    EXPECT_TRUE(schema.keys.contains(path)) << path;
  }
  EXPECT_EQ(schema.keys.at("network.ecmp").choices, ecmp_names());
  EXPECT_EQ(schema.keys.at("link[].cables").high, 4096);
  EXPECT_EQ(schema.keys.at("wan.sites").low, 2);
  EXPECT_EQ(schema.keys.at("wan.sites").high, 64);
  EXPECT_GT(schema.meanings.size(), 40u);
}

// Least share of an end, and of a link between two switches, in ns.
TEST(LatencyFloors, are_those_of_the_table_of_transports) {
  struct Floor {
    Transport transport;
    double end_ns, switch_ns;
  };
  for (const Floor& f : {Floor{Transport::shared_memory, 10, 10}, Floor{Transport::pcie, 50, 50},
                         Floor{Transport::nvlink, 100, 100}, Floor{Transport::xgmi, 50, 50},
                         Floor{Transport::ici, 50, 50}, Floor{Transport::ub, 100, 100},
                         Floor{Transport::ib, 250, 90}, Floor{Transport::roce, 250, 200},
                         Floor{Transport::tcp, 1250, 200}}) {
    const std::string name(transport_name(f.transport));
    EXPECT_EQ(latency_floor_ns(f.transport, 0, 0), f.switch_ns) << name;
    EXPECT_EQ(latency_floor_ns(f.transport, 1, 0), f.end_ns) << name;
    EXPECT_EQ(latency_floor_ns(f.transport, 2, 0), 2 * f.end_ns) << name;
    EXPECT_EQ(is_rdma(f.transport), name == "ib" || name == "roce");
    EXPECT_EQ(is_network(f.transport), name == "ib" || name == "roce" || name == "tcp");
  }
  // 1.468 / 299,792.458 km/s: 4.8967 us a kilometre, beside the ends.
  EXPECT_NEAR(latency_floor_ns(Transport::ib, 1, 10), 250 + 48'967, 1);
}

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

TEST(TransportNames, read_back) {
  for (const std::string& name : transport_names()) {
    ASSERT_TRUE(parse_transport(name)) << name;
    EXPECT_EQ(transport_name(*parse_transport(name)), name);
  }
  EXPECT_FALSE(parse_transport("ethernet"));
}

// A round trip of 2.5 us over kernel TCP, as some pages print, is none: it needs RDMA.
TEST(LatencyFloor, of_a_round_trip_of_2500_ns_allows_rdma_and_no_tcp) {
  constexpr double one_way_ns = 2500.0 / 2;
  EXPECT_GT(latency_floor_ns(Transport::tcp, 2, 0), one_way_ns);
  EXPECT_LT(latency_floor_ns(Transport::ib, 2, 0), one_way_ns);
  EXPECT_LT(latency_floor_ns(Transport::roce, 2, 0), one_way_ns);
}

// ITU-T G.652 fibre: about 4.9 us a kilometre.
TEST(LatencyFloor, grows_with_the_fibre) {
  const double ns_per_km =
      (latency_floor_ns(Transport::roce, 0, 1000) - latency_floor_ns(Transport::roce, 0, 0)) / 1000;
  EXPECT_NEAR(ns_per_km, 4900, 50);
}

}  // namespace
}  // namespace halmark::fabric
