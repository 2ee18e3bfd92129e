// A fabric as a document, as a file, and what its transports take at least.

#include "fabric_texts.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/fabric_json.hpp"
#include "simulate/fabric/fabric_schema.hpp"
#include "simulate/fabric/fabric_text.hpp"

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

}  // namespace
}  // namespace halmark::fabric
