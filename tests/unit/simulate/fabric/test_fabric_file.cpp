// Fabric files that are refused: one line, with the place and the remedy.

#include "../../scratch_folder.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric {
namespace {

const std::string on_a_leaf = R"(id = "p"
name = "p"
[node]
count = 2
devices = 1
[node.host]
transport = "pcie"
latency_us = 0.5
bandwidth_gbs = 16
source = "s"
[network]
kind = "leaf"
transport = "tcp"
latency_us = 10
bandwidth_gbs = 3.125
source = "s"
)";

const std::string over_spines = R"(id = "p"
name = "p"
[node]
count = 8
devices = 1
[node.host]
transport = "pcie"
latency_us = 0.5
bandwidth_gbs = 16
source = "s"
[network]
kind = "leaf_spine"
nodes_per_leaf = 4
spines = 2
uplinks = 2
oversubscription = 2
transport = "ib"
latency_us = 1
bandwidth_gbs = 50
source = "s"
[network.uplink]
transport = "ib"
latency_us = 0.5
bandwidth_gbs = 50
source = "s"
)";

const std::string torus = R"(id = "t"
name = "t"
[node]
devices = 16
[scale_up]
kind = "torus"
shape = "4x4"
transport = "ici"
latency_us = 1
bandwidth_gbs = 45
source = "s"
)";

const std::string another_link =
    "transport = \"pcie\"\nlatency_us = 1\nbandwidth_gbs = 1\nsource = \"s\"\n";

struct Case {
  std::string name;
  const std::string* text;
  std::string from, to;  // the first `from` is replaced; at the end where it is ""
  std::string where;     // line:column
  std::string what, remedy;
};

TEST(RefusedFabric, says_where_and_why) {
  const Case rows[] = {
      {"no_bandwidth", &on_a_leaf, "= 3.125", "= 0", "15:17", "'bandwidth_gbs' is 0", ""},
      {"negative_bandwidth", &on_a_leaf, "= 3.125", "= -1", "15:17", "bandwidth_gbs", ""},
      {"infinite_bandwidth", &on_a_leaf, "= 3.125", "= inf", "15:17", "bandwidth_gbs", ""},
      {"tcp_of_2500_ns", &on_a_leaf, "= 10", "= 0.6", "14:14", "implausible_latency: 0.6 us",
       "transport"},
      {"no_latency", &on_a_leaf, "= 0.5", "= 0", "8:14", "implausible_latency", "latency"},
      {"unknown_transport", &on_a_leaf, "\"tcp\"", "\"tpc\"", "13:13", "'tpc'", "tcp"},
      {"network_over_pcie", &on_a_leaf, "\"tcp\"", "\"pcie\"", "13:13", "no transport of a network",
       "roce"},
      {"unknown_key", &on_a_leaf, "count", "cuont", "4:1", "unknown key 'cuont'", "count"},
      {"no_source", &on_a_leaf, "source = \"s\"\n[network]", "[network]", "6:1",
       "'source' is missing", ""},
      {"longer_than_light", &on_a_leaf, "",
       "[wan]\nsites = 2\ntransport = \"roce\"\nlatency_us = 400\nbandwidth_gbs = 50\n"
       "length_km = 100\nsource = \"s\"\n",
       "20:14", "implausible_latency: 400 us one way over roce and 100 km", ""},
      {"unknown_endpoint", &on_a_leaf, "",
       "[[link]]\nfrom = \"node0.device0\"\nto = \"node1.devise0\"\n" + another_link, "19:6",
       "'node1.devise0' is no device", "node1.device0"},
      {"to_itself", &on_a_leaf, "",
       "[[link]]\nfrom = \"node0.device0\"\nto = \"node0.device0\"\n" + another_link, "19:6",
       "to itself", ""},
      {"disconnected", &on_a_leaf, "", "[[entity]]\nname = \"lost\"\nkind = \"device\"\n", "18:8",
       "disconnected: 'lost' and 'node0.device0'", "links"},
      {"named_twice", &on_a_leaf, "", "[[entity]]\nname = \"node0.device0\"\nkind = \"device\"\n",
       "18:8", "twice", "name"},
      {"group_of_one", &on_a_leaf, "",
       "[[group]]\nlevel = \"rack\"\nmembers = [\"node0.device0\"]\n", "19:11",
       "a group of one device", ""},
      {"groups_that_overlap", &on_a_leaf, "",
       "[[group]]\nlevel = \"leaf\"\nmembers = [\"node0.device0\", \"node1.device0\"]\n", "19:11",
       "two groups of level 'leaf'", ""},
      {"group_of_switches", &on_a_leaf, "", "[[group]]\nlevel = \"rack\"\nmembers = [\"leaf0\"]\n",
       "19:11", "'leaf0' is a switch", ""},
      {"lite_of_three", &on_a_leaf, "[node]\ncount = 2", "profile = \"lite\"\n[node]\ncount = 3",
       "3:11", "profile lite: 3 devices", "full"},
      {"lite_over_rdma", &on_a_leaf,
       "[node]\ncount = 2\ndevices = 1\n[node.host]\ntransport = \"pcie\"",
       "profile = \"lite\"\n[node]\ncount = 2\ndevices = 1\n[node.host]\n"
       "transport = \"roce\"",
       "3:11", "RDMA in [node.host]", "full"},
      {"shared_adapter_beside_a_scale_up", &on_a_leaf, "devices = 1",
       "devices = 2\n[scale_up]\nkind = \"switch\"\n" + another_link, "19:8",
       "1 adapters for 2 devices", "adapter"},
      {"leaves_not_filled", &over_spines, "nodes_per_leaf = 4", "nodes_per_leaf = 3", "16:20",
       "oversubscription is 2", "cables"},
      {"uplinks_not_shared_out", &over_spines, "spines = 2", "spines = 3", "12:8",
       "2 uplinks cannot be shared out to 3 spines", "divisor"},
      {"unknown_ecmp", &over_spines, "oversubscription = 2",
       "oversubscription = 2\necmp = \"hashed\"", "17:8", "hashed", "hash"},
      {"false_oversubscription", &over_spines, "oversubscription = 2", "oversubscription = 3",
       "16:20", "make 2", "cables"},
      {"no_uplink", &over_spines, "[network.uplink]", "[network.uplnik]", "12:8",
       "nothing joins leaves and spines", "uplink"},
      {"torus_of_others", &torus, "devices = 16", "devices = 8", "7:9",
       "a torus of 16 devices, but the nodes have 8", "shape"},
      {"shape_without_a_length", &torus, "\"4x4\"", "\"4x\"", "7:9", "'4x' is no shape", "x"},
      {"shape_of_nothing", &torus, "\"4x4\"", "\"0x4\"", "7:9", "'0x4' is no shape", ""},
      {"switch_without_nodes", &torus, "[node]\ndevices = 16\n", "", "3:1",
       "[scale_up] joins nodes", "[node]"},
      {"numa_without_a_link", &on_a_leaf, "devices = 1", "devices = 2\nnuma = 2", "6:8",
       "nothing joins the 2 NUMA domains", "between_numa"},
      {"more_than_can_be", &on_a_leaf, "count = 2", "count = 60000", "5:11", "more than 65536",
       "counts"}};
  for (const Case& c : rows) {
    SCOPED_TRACE(c.name);
    std::string text = *c.text;
    ASSERT_NO_THROW(parse_fabric(text, "f.toml"));
    const std::size_t at = c.from.empty() ? text.size() : text.find(c.from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, c.from.size(), c.to);
    const Error error = halmark::test::error_of([&] { parse_fabric(text, "f.toml"); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_EQ(error.where(), "f.toml:" + c.where);
    says(error.what(), c.what);
    says(error.remedy(), c.remedy);
    EXPECT_EQ(error.line().find('\n'), std::string::npos);
  }
}

TEST(FabricFile, of_nothing_has_no_device) {
  const Error error =
      halmark::test::error_of([] { parse_fabric("id = \"x\"\nname = \"x\"\n", "f.toml"); });
  says(error.what(), "no device");
  EXPECT_EQ(error.where(), "f.toml:1:6");
}

TEST(FabricFile, expands_words_into_entities_that_are_named_after_their_place) {
  const Topology topology = parse_fabric(over_spines, "f.toml");
  std::vector<std::string> names;
  for (const Entity& entity : topology.entities) names.push_back(entity.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"node0.device0", "node7.device0", "node3.numa0",
                                            "node5.nic0", "leaf0", "leaf1", "spine0", "spine1"}));
  EXPECT_EQ(names.size(), 8u * 3 + 2 + 2);
  EXPECT_EQ(topology.links.size(), 8u * 3 + 2 * 2);
}

TEST(FabricFile, says_how_flows_choose_their_uplinks) {
  EXPECT_EQ(parse_fabric(over_spines, "f.toml").ecmp, Ecmp::spray);
  for (const std::string& name : ecmp_names()) {
    std::string text = over_spines;
    text.replace(text.find("oversubscription = 2"), 20, "ecmp = \"" + name + "\"");
    EXPECT_EQ(ecmp_name(parse_fabric(text, "f.toml").ecmp), name);
  }
}

TEST(FabricFile, an_unknown_name_is_refused_with_the_nearest) {
  const Error error = halmark::test::error_of(
      [] { known_fabric("nvl27", {halmark::test::in_source("/configs/fabrics")}); });
  says(error.line(), "unknown_fabric: 'nvl27'");
  says(error.line(), "nvl72");
}

// A folder before others: what it names, theirs do not; only files of TOML are fabrics.
TEST(KnownFabrics, are_those_of_the_first_folder_that_has_them_by_their_ids) {
  const halmark::test::ScratchFolder folder;
  const auto path = [&](const std::string& name) { return folder.path() / name; };
  const auto write = [&](const std::string& where, const std::string& id, const std::string& name) {
    std::filesystem::create_directories(path(where).parent_path());
    halmark::test::write_file(path(where).string(), "id = \"" + id + "\"\nname = \"" + name +
                                                        "\"\n[node]\ndevices = 1\n");
  };
  write("a/z.toml", "z", "first");
  write("a/file.toml", "named", "by its id");
  write("a/no.txt", "no", "");
  write("b/z.toml", "z", "second");
  write("b/c.toml", "c", "third");
  write("c.toml", "outside", "");
  const std::vector<std::filesystem::path> folders = {path("a"), path("absent"), path("b")};
  std::vector<std::string> known;
  for (const Topology& t : known_fabrics(folders)) known.push_back(t.id + ' ' + t.name);
  EXPECT_THAT(known, testing::ElementsAre("c third", "named by its id", "z first"));
  EXPECT_EQ(known_fabric("z", folders).name, "first");
  EXPECT_EQ(known_fabric("c", folders).name, "third");
  EXPECT_EQ(known_fabric("named", folders).name, "by its id");
  EXPECT_EQ(known_fabric(path("b/z.toml").string(), folders).name, "second");
  for (const char* none : {"file", "no", "../c", "absent", "sub/z"}) {
    refuses([&] { known_fabric(none, folders); }, "unknown_fabric: '" + std::string(none) + "'");
  }
}

}  // namespace
}  // namespace halmark::fabric
