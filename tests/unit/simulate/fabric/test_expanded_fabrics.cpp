// Small fabrics of each kind, with every link and level that their words stand for.

#include <utility>

#include "core/numeric/cast.hpp"
#include "fabric_texts.hpp"
#include "simulate/fabric/fabric_file.hpp"

namespace halmark::fabric {
namespace {

// "from - to by figure [xcables]", a line each; names lose "device" to "d", "numa" to "h".
std::string short_name(std::string name) {
  for (const auto& [word, letter] : {std::pair{"node", "n"}, std::pair{"device", "d"},
                                     std::pair{"numa", "h"}, std::pair{"switch", "s"}}) {
    if (const std::size_t at = name.find(word); at != name.npos) {
      name.replace(at, std::string(word).size(), letter);
    }
  }
  return name;
}

std::string links_of(const Topology& topology) {
  std::string out;
  const auto name = [&](int i) { return short_name(topology.entities[as_size(i)].name); };
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const Link& link = topology.links[i];
    out += name(link.from) + " - " + name(link.to) + " by " +
           topology.figure_of(static_cast<int>(i)).name;
    if (link.cables != 1) out += " x" + std::to_string(link.cables);
    out += '\n';
  }
  return out;
}

std::string levels_of(const Topology& topology) {
  std::string out;
  for (const Level& level : topology.levels) {
    out += level.name + ':';
    for (const auto& group : level.groups) {
      out += " {";
      for (const int device : group) {
        out += (out.back() == '{' ? "" : " ") + short_name(topology.entities[as_size(device)].name);
      }
      out += '}';
    }
    out += '\n';
  }
  return out;
}

const std::string head = "id = \"f\"\nname = \"f\"\n";
const std::string host = "[node.host]\n" + test::figure_text("pcie", 0.5, 64);
const std::string scale_up = test::figure_text("nvlink", 1, 450);
const std::string network = test::figure_text("ib", 1, 50);
const std::string uplink = "[network.uplink]\n" + test::figure_text("ib", 0.5, 50);

Topology read(const std::string& text) { return parse_fabric(head + text, "f.toml"); }

TEST(ExpandedFabric, of_numa_domains_joins_each_host_with_every_other) {
  const Topology t =
      read("[node]\ncount = 2\ndevices = 5\nnuma = 3\n" + host + "[node.between_numa]\n" +
           test::figure_text("xgmi", 0.2, 64) + "[network]\nkind = \"leaf\"\n" + network);
  EXPECT_EQ(links_of(t).substr(0, links_of(t).find("n1.")),
            "n0.h0 - n0.h1 by node.between_numa\n"
            "n0.h0 - n0.h2 by node.between_numa\n"
            "n0.h1 - n0.h2 by node.between_numa\n"
            "n0.d0 - n0.h0 by node.host\n"
            "n0.d1 - n0.h0 by node.host\n"
            "n0.d2 - n0.h1 by node.host\n"
            "n0.d3 - n0.h1 by node.host\n"
            "n0.d4 - n0.h2 by node.host\n")
      << "domain of device i: 3 i / 5, rounded down";
  EXPECT_EQ(levels_of(t),
            "numa: {n0.d0 n0.d1} {n0.d2 n0.d3} {n1.d0 n1.d1} {n1.d2 n1.d3}\n"
            "node: {n0.d0 n0.d1 n0.d2 n0.d3 n0.d4} {n1.d0 n1.d1 n1.d2 n1.d3 n1.d4}\n"
            "leaf: {n0.d0 n0.d1 n0.d2 n0.d3 n0.d4 n1.d0 n1.d1 n1.d2 n1.d3 n1.d4}\n");
  std::map<std::string, std::pair<int, int>> places;
  for (const Entity& e : t.entities) {
    EXPECT_EQ(e.forwards, e.kind != EntityKind::device) << e.name;
    places[e.name] = {e.node, e.numa};
  }
  EXPECT_EQ(places["node1.device3"], std::pair(1, 1));
  EXPECT_EQ(places["node1.numa2"], std::pair(1, 2));
  EXPECT_EQ(places["node0.nic0"], std::pair(0, 0));
  EXPECT_EQ(places["leaf0"], std::pair(-1, -1));
}

TEST(ExpandedFabric, of_a_scale_up_switch_joins_the_nodes_of_a_domain) {
  const Topology t = read("[node]\ncount = 4\ndevices = 1\n" + host +
                          "[scale_up]\nkind = \"switch\"\nnodes = 2\n" + scale_up +
                          "[network]\nkind = \"leaf\"\n" + network);
  const std::string links = links_of(t);
  EXPECT_EQ(links.substr(0, links.find("n0.nic0")),
            "n0.d0 - n0.h0 by node.host\nn1.d0 - n1.h0 by node.host\n"
            "n2.d0 - n2.h0 by node.host\nn3.d0 - n3.h0 by node.host\n"
            "n0.d0 - domain0.s by scale_up\nn1.d0 - domain0.s by scale_up\n"
            "n2.d0 - domain1.s by scale_up\nn3.d0 - domain1.s by scale_up\n");
  EXPECT_EQ(levels_of(t), "domain: {n0.d0 n1.d0} {n2.d0 n3.d0}\nleaf: {n0.d0 n1.d0 n2.d0 n3.d0}\n");
  for (const Entity& e : t.entities) {
    EXPECT_EQ(e.forwards, e.kind == EntityKind::network_switch || e.kind == EntityKind::nic)
        << e.name << ": nobody sends to another device through the host";
  }
}

TEST(ExpandedFabric, of_two_tiers_has_a_switch_in_every_node) {
  const Topology t = read(
      "[node]\ncount = 4\ndevices = 2\n[scale_up]\nkind = \"two_tier\"\n"
      "nodes = 2\n" +
      scale_up + "[scale_up.uplink]\n" + test::figure_text("nvlink", 0.5, 900) +
      "[network]\nkind = \"leaf\"\nnics = 2\n" + network + host);
  EXPECT_NE(links_of(t).find("n0.d0 - n0.s by scale_up\nn0.d1 - n0.s by scale_up\n"
                             "n0.s - domain0.s by scale_up.uplink\n"
                             "n1.d0 - n1.s by scale_up\nn1.d1 - n1.s by scale_up\n"
                             "n1.s - domain0.s by scale_up.uplink\n"
                             "n2.d0 - n2.s by scale_up\nn2.d1 - n2.s by scale_up\n"
                             "n2.s - domain1.s by scale_up.uplink\n"
                             "n3.d0 - n3.s by scale_up\nn3.d1 - n3.s by scale_up\n"
                             "n3.s - domain1.s by scale_up.uplink\n"),
            std::string::npos)
      << links_of(t);
  EXPECT_EQ(levels_of(t),
            "node: {n0.d0 n0.d1} {n1.d0 n1.d1} {n2.d0 n2.d1} {n3.d0 n3.d1}\n"
            "domain: {n0.d0 n0.d1 n1.d0 n1.d1} {n2.d0 n2.d1 n3.d0 n3.d1}\n"
            "leaf: {n0.d0 n0.d1 n1.d0 n1.d1 n2.d0 n2.d1 n3.d0 n3.d1}\n");
}

// Ranks count the longest dimension slowest: rank r is at row r / 2, column r % 2.
TEST(ExpandedFabric, of_a_torus_joins_neighbours_and_ends) {
  EXPECT_EQ(links_of(read("[node]\ndevices = 6\n[scale_up]\nkind = \"torus\"\nshape = \"2x3\"\n" +
                          scale_up)),
            "n0.d0 - n0.d2 by scale_up\nn0.d1 - n0.d3 by scale_up\n"
            "n0.d2 - n0.d4 by scale_up\nn0.d3 - n0.d5 by scale_up\n"
            "n0.d4 - n0.d0 by scale_up\nn0.d5 - n0.d1 by scale_up\n"
            "n0.d0 - n0.d1 by scale_up\nn0.d2 - n0.d3 by scale_up\n"
            "n0.d4 - n0.d5 by scale_up\n");
  const Topology mesh =
      read("[node]\ndevices = 3\n[scale_up]\nkind = \"mesh\"\nshape = \"3\"\n" + scale_up);
  EXPECT_EQ(links_of(mesh), "n0.d0 - n0.d1 by scale_up\nn0.d1 - n0.d2 by scale_up\n");
  EXPECT_EQ(levels_of(mesh), "mesh: {n0.d0 n0.d1 n0.d2}\n");
  for (const Entity& e : mesh.entities) EXPECT_TRUE(e.forwards) << "a device passes on in a torus";
}

// Two adapters for five devices: the first serves two and hangs on the host of the first of them.
TEST(ExpandedFabric, of_shared_adapters_hangs_them_on_hosts) {
  const Topology t = read("[node]\ncount = 2\ndevices = 5\nnuma = 2\n" + host +
                          "[node.between_numa]\n" + test::figure_text("xgmi", 0.2, 64) +
                          "[network]\nkind = \"rail\"\nnics = 2\nspines = 1\nuplinks = 3\n"
                          "nodes_per_leaf = 2\n" +
                          network + uplink);
  const std::string links = links_of(t);
  EXPECT_EQ(links.substr(links.find("n0.nic0")),
            "n0.nic0 - rail0 by network\nn0.h0 - n0.nic0 by node.host\n"
            "n0.nic1 - rail1 by network\nn0.h0 - n0.nic1 by node.host\n"
            "n1.nic0 - rail0 by network\nn1.h0 - n1.nic0 by node.host\n"
            "n1.nic1 - rail1 by network\nn1.h0 - n1.nic1 by node.host\n"
            "rail0 - spine0 by network.uplink x3\nrail1 - spine0 by network.uplink x3\n");
  EXPECT_NE(levels_of(t).find("rail: {n0.d0 n0.d1 n1.d0 n1.d1} "
                              "{n0.d2 n0.d3 n0.d4 n1.d2 n1.d3 n1.d4}\n"),
            std::string::npos)
      << levels_of(t);
}

TEST(ExpandedFabric, of_rails_has_one_for_each_adapter_of_a_group_of_nodes) {
  const Topology t = read("[node]\ncount = 4\ndevices = 2\n" + host +
                          "[network]\nkind = \"rail\"\nnics = 2\nspines = 1\nuplinks = 1\n"
                          "nodes_per_leaf = 2\n" +
                          network + uplink);
  EXPECT_NE(levels_of(t).find("rail: {n0.d0 n1.d0} {n0.d1 n1.d1} {n2.d0 n3.d0} {n2.d1 n3.d1}\n"),
            std::string::npos)
      << levels_of(t);
  const std::string links = links_of(t);
  EXPECT_EQ(links.substr(links.find("n3.nic0")),
            "n3.nic0 - rail2 by network\nn3.d0 - n3.nic0 by node.host\n"
            "n3.nic1 - rail3 by network\nn3.d1 - n3.nic1 by node.host\n"
            "rail0 - spine0 by network.uplink\nrail1 - spine0 by network.uplink\n"
            "rail2 - spine0 by network.uplink\nrail3 - spine0 by network.uplink\n");
}

TEST(ExpandedFabric, of_more_adapters_than_devices_gives_each_one_at_least) {
  const Topology t = read("[node]\ncount = 2\ndevices = 1\n" + host +
                          "[network]\nkind = \"leaf\"\nnics = 2\n" + network);
  EXPECT_EQ(links_of(t),
            "n0.d0 - n0.h0 by node.host\nn1.d0 - n1.h0 by node.host\n"
            "n0.nic0 - leaf0 by network\nn0.d0 - n0.nic0 by node.host\n"
            "n0.nic1 - leaf0 by network\nn0.d0 - n0.nic1 by node.host\n"
            "n1.nic0 - leaf0 by network\nn1.d0 - n1.nic0 by node.host\n"
            "n1.nic1 - leaf0 by network\nn1.d0 - n1.nic1 by node.host\n");
  EXPECT_EQ(levels_of(t), "leaf: {n0.d0 n1.d0}\n") << "the spine's group is the leaf's";
}

TEST(ExpandedFabric, of_sites_joins_every_pair_of_gateways) {
  const Topology t = read("[node]\ncount = 6\ndevices = 1\n" + host +
                          "[network]\nkind = \"leaf_spine\"\nnodes_per_leaf = 1\nspines = 2\n"
                          "uplinks = 4\n" +
                          network + uplink + "[wan]\nsites = 3\ncables = 5\n" +
                          test::figure_text("roce", 1000, 50));
  const std::string links = links_of(t);
  EXPECT_EQ(links.substr(links.find("n4.nic0")),
            "n4.nic0 - site2.leaf0 by network\nn4.d0 - n4.nic0 by node.host\n"
            "n5.nic0 - site2.leaf1 by network\nn5.d0 - n5.nic0 by node.host\n"
            "site2.leaf0 - site2.spine0 by network.uplink x2\n"
            "site2.leaf1 - site2.spine0 by network.uplink x2\n"
            "site2.leaf0 - site2.spine1 by network.uplink x2\n"
            "site2.leaf1 - site2.spine1 by network.uplink x2\n"
            "site0.spine0 - site0.gateway by network.uplink x5\n"
            "site0.spine1 - site0.gateway by network.uplink x5\n"
            "site1.spine0 - site1.gateway by network.uplink x5\n"
            "site1.spine1 - site1.gateway by network.uplink x5\n"
            "site0.gateway - site1.gateway by wan x5\n"
            "site2.spine0 - site2.gateway by network.uplink x5\n"
            "site2.spine1 - site2.gateway by network.uplink x5\n"
            "site0.gateway - site2.gateway by wan x5\n"
            "site1.gateway - site2.gateway by wan x5\n");
  EXPECT_EQ(levels_of(t),
            "site: {n0.d0 n1.d0} {n2.d0 n3.d0} {n4.d0 n5.d0}\n"
            "wan: {n0.d0 n1.d0 n2.d0 n3.d0 n4.d0 n5.d0}\n");
}

TEST(ExpandedFabric, of_sites_with_a_leaf_each_leaves_by_the_leaf) {
  const Topology t =
      read("[node]\ncount = 2\ndevices = 1\n" + host + "[network]\nkind = \"leaf\"\n" + network +
           "[wan]\nsites = 2\n" + test::figure_text("roce", 1000, 50));
  const std::string links = links_of(t);
  EXPECT_EQ(links.substr(links.find("site0.leaf0 - site0.gateway")),
            "site0.leaf0 - site0.gateway by network\nsite1.leaf0 - site1.gateway by network\n"
            "site0.gateway - site1.gateway by wan\n");
  EXPECT_EQ(levels_of(t), "wan: {n0.d0 n1.d0}\n");
}

TEST(ExpandedFabric, has_single_groups_beside_those_of_words) {
  const Topology t =
      read("[node]\ncount = 4\ndevices = 1\n" + host + "[network]\nkind = \"leaf\"\n" + network +
           "[[group]]\nlevel = \"rack\"\nmembers = [\"node1.device0\", "
           "\"node0.device0\"]\n[[group]]\nlevel = \"rack\"\n"
           "members = [\"node2.device0\", \"node3.device0\"]\n");
  EXPECT_EQ(levels_of(t), "leaf: {n0.d0 n1.d0 n2.d0 n3.d0}\nrack: {n0.d0 n1.d0} {n2.d0 n3.d0}\n");
  const Topology pair = read(
      "[[entity]]\nname = \"a\"\nkind = \"device\"\n[[entity]]\nname = \"b\"\nkind = \"device\"\n"
      "[[link]]\nfrom = \"a\"\nto = \"b\"\ncables = 3\n" +
      network);
  EXPECT_EQ(levels_of(pair), "all: {a b}\n");
  EXPECT_EQ(links_of(pair), "a - b by link[0] x3\n");
}

}  // namespace
}  // namespace halmark::fabric
