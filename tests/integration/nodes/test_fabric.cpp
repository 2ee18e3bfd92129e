// halmark fabric show: whole commands.
#include <fstream>
#include <set>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FabricCommand : public HalmarkTest {};

TEST_F(FabricCommand, alone_lists_the_known_ones) {
  const Json known = data_of({"fabric", "show"})["known"];
  std::vector<std::string> ids;
  for (const Json& one : known) ids.push_back(one["id"]);
  EXPECT_THAT(ids, testing::IsSupersetOf({"lite", "leaf-spine", "nvl72", "one-host", "rail-su",
                                          "supernode", "torus-2d", "torus-3d", "cross-dc"}));
}

TEST_F(FabricCommand, shows_levels_sources_and_bisection_of_one) {
  const Json data = data_of({"fabric", "show", "leaf-spine"});
  EXPECT_EQ(data["counts"]["devices"], 192);
  EXPECT_EQ(data["levels"][1]["name"], "spine");
  EXPECT_NEAR(data["levels"][1]["oversubscription"].get<double>(), 3, 1e-6);
  // Of every link both ends stand in the fabric.
  std::set<std::string> names;
  for (const Json& entity : data["entities"]) names.insert(entity["name"]);
  for (const Json& link : data["links"]) {
    EXPECT_TRUE(names.contains(link["from"]) && names.contains(link["to"])) << link;
  }
  const Outcome text = halmark({"fabric", "show", "leaf-spine"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("spine"), HasSubstr("3.12 GB/s"), HasSubstr("tcp"),
                              HasSubstr("bisection")));
}

TEST_F(FabricCommand, every_known_fabric_can_be_shown) {
  const Json known = data_of({"fabric", "show"})["known"];
  EXPECT_GE(known.size(), 12u);
  for (const Json& one : known) {
    const Outcome o = halmark({"fabric", "show", one["id"]});
    EXPECT_EQ(o.exit_code, 0) << one["id"] << o.err;
    EXPECT_EQ(o.err, "");
    EXPECT_THAT(o.out, HasSubstr(one["id"].get<std::string>() + ": "));
  }
}

// 192 ranks of 4 leaves of 48: a ring moves 2 x 191/192 of the bytes over the leaf's 3.125 GB/s,
// and no way is faster than its bound.
TEST_F(FabricCommand, prices_collectives_over_all_ranks) {
  const Json data = data_of({"fabric", "collectives", "leaf-spine"});
  EXPECT_EQ(data["ranks"], 192);
  ASSERT_EQ(data["levels"].size(), 2u);
  EXPECT_EQ(data["levels"][0]["ranks"], 48);
  EXPECT_EQ(data["levels"][1]["ranks"], 4);
  std::set<std::string> names;
  for (const Json& row : data["collectives"]) {
    names.insert(row["collective"]);
    EXPECT_GE(row["seconds"].get<double>(), row["bound_s"].get<double>() * (1 - 1e-9)) << row;
  }
  EXPECT_TRUE(names.contains("all_reduce") && names.contains("all_to_all"));
  EXPECT_EQ(data["levels"][1]["shares_adapter"], true);
  // Two GPUs of a superchip meet over the links that all 72 meet over: 900 GB/s, no more.
  const Json nvl72 = data_of({"fabric", "collectives", "nvl72"});
  for (const Json& row : nvl72["collectives"]) {
    EXPECT_LE(row["bus_bytes_per_s"].get<double>(), 900e9) << row;
  }
  EXPECT_EQ(data_of({"fabric", "collectives", "rail-su"})["levels"][1]["shares_adapter"], false);
  for (const Json& one : data_of({"fabric", "show"})["known"]) {
    EXPECT_EQ(halmark({"fabric", "collectives", one["id"]}).exit_code, 0) << one["id"];
  }
}

// 48 hosts below a leaf whose uplinks carry 16: all replicas at once take three times as long as
// one, by links that share packet by packet, and longer by a hash of each flow.
TEST_F(FabricCommand, simulates_groups_that_share_uplinks) {
  const auto slower = [&](const std::string& fabric) {
    const Json data = data_of({"fabric", "collectives", fabric, "--groups", "48"});
    EXPECT_EQ(data["ranks"], 4);
    for (const Json& row : data["collectives"]) {
      if (row["collective"] != "all_gather" || row["bytes"].get<double>() < 1e9) continue;
      return row["by_events"]["slowest_group_s"].get<double>() /
             row["by_events"]["seconds"].get<double>();
    }
    return 0.0;
  };
  EXPECT_NEAR(slower("leaf-spine"), 3, 0.01);
  const std::filesystem::path shipped = test::in_source("/configs/fabrics/leaf-spine.toml");
  std::ifstream in(shipped);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string stated = "oversubscription = 3";
  text.replace(text.find(stated), stated.size(), "ecmp = \"hash\"");
  write("hash.toml", text);
  EXPECT_GT(slower("hash.toml"), 3.3);
  const Outcome o = halmark({"fabric", "collectives", "lite", "--groups", "3"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, HasSubstr("3 groups cannot be shared out over 2 ranks"));
}

TEST_F(FabricCommand, of_a_false_file_is_refused_in_one_line_with_the_place) {
  write("tcp.toml", R"(id = "x"
name = "x"
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
latency_us = 0.6
bandwidth_gbs = 3
source = "s"
)");
  const Outcome o = halmark({"fabric", "show", "tcp.toml"});
  EXPECT_EQ(o.exit_code, 2);
  EXPECT_TRUE(is_one_line(o.err));
  EXPECT_THAT(o.err, AllOf(HasSubstr("tcp.toml:14:14"), HasSubstr("implausible_latency")));
  const Outcome unknown = halmark({"fabric", "show", "leaf-spin"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("leaf-spine"));
}

// A virtual cable between two network namespaces: kernel TCP without a wire.
TEST_F(FabricCommand, probes_a_peer_in_another_network_namespace) {
  Launch two = base_;
  two.limit_s = 250;
  two.arguments = {"/usr/bin/unshare",
                   "--user",
                   "--map-root-user",
                   "--net",
                   "--mount",
                   "/bin/sh",
                   test::in_source("/tests/integration/nodes/two_namespaces.sh"),
                   test::in_build("/bin/halmark"),
                   path("two.toml")};
  const Outcome o = run(two);
  if (o.exit_code == 77 || (o.exit_code != 0 && o.err.starts_with("unshare:"))) {
    GTEST_SKIP() << "no two network namespaces can be made here: " << o.err;
  }
  ASSERT_EQ(o.exit_code, 0) << o.out << o.err;
  const Json links = envelope_of(o.out)["data"]["links"];
  EXPECT_EQ(links[0]["link"], "loopback");
  EXPECT_EQ(links[1]["link"], "tcp to 10.77.0.2:7777");
  for (const int i : {0, 1}) {
    EXPECT_GT(links[i]["latency_s"].get<double>(), 1e-6) << links;
    EXPECT_LT(links[i]["latency_s"].get<double>(), 20e-3) << links;
    EXPECT_GE(links[i]["latency_p99_s"], links[i]["latency_s"]);
  }
  // The file prices collectives over the cable that was measured.
  const Json prices = data_of({"fabric", "collectives", path("two.toml")});
  EXPECT_EQ(prices["ranks"], 2);
  const double latency_s = prices["levels"][0]["latency_s"];
  EXPECT_NEAR(latency_s, std::max(2.5e-6, links[1]["latency_s"].get<double>()), 0.02 * latency_s);
}

TEST_F(FabricCommand, refuses_a_peer_that_is_none) {
  const Outcome form = halmark({"fabric", "probe", "--peer", "nowhere"});
  EXPECT_EQ(form.exit_code, 2);
  EXPECT_TRUE(is_one_line(form.err));
  const Outcome absent = halmark({"fabric", "probe", "--peer", "127.0.0.1:1"});
  EXPECT_EQ(absent.exit_code, 5);
  EXPECT_TRUE(is_one_line(absent.err));
  EXPECT_THAT(absent.err, AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("--listen")));
  const Outcome folder = halmark({"fabric", "probe", "--disk", "/nowhere"});
  EXPECT_EQ(folder.exit_code, 5);
  EXPECT_THAT(folder.err, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace halmark::integration
