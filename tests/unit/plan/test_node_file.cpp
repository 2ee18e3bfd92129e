#include "plan/device/node_file.hpp"

#include <gmock/gmock.h>

#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string said_of(const std::string& text) {
  const Error error = test::error_of([&] { (void)parse_nodes(text, "n.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

std::string node(const std::string& names, const std::string& more = "devices = 8\n") {
  return "[[node]]\nnames = " + names + "\n" + more;
}

TEST(NodeFile, lists_each_name_with_its_domains) {
  const std::string text =
      node("[\"gpu-1\", \"gpu-2.rack\"]") + node("\"big\"", "devices = 6\ndomains = [4, 2]\n");
  const auto expect = [](const std::vector<ClusterNode>& nodes) {
    ASSERT_EQ(nodes.size(), 3u);
    EXPECT_EQ(nodes[0].name, "gpu-1");
    EXPECT_THAT(nodes[0].domains, ElementsAre(8));
    EXPECT_EQ(nodes[1].name, "gpu-2.rack");
    EXPECT_THAT(nodes[1].domains, ElementsAre(8));
    EXPECT_EQ(nodes[2].name, "big");
    EXPECT_THAT(nodes[2].domains, ElementsAre(4, 2));
  };
  expect(parse_nodes(text, "n.toml"));
  const test::ScratchFolder folder;
  test::write_file(folder / "n.toml", text);
  expect(read_nodes(folder / "n.toml"));
}

TEST(NodeFile, a_name_is_what_a_cluster_calls_a_host) {
  for (const char* bad : {"", "A", "a_b", "-a", "a-", ".a", "a.", "a b"}) {
    EXPECT_THAT(said_of(node('"' + std::string(bad) + '"')), HasSubstr("is no name of a node"))
        << bad;
  }
  EXPECT_EQ(parse_nodes(node('"' + std::string(253, 'a') + '"'), "n.toml").size(), 1u);
  test::expect_each(said_of, {{node('"' + std::string(254, 'a') + '"'), "is no name of a node"},
                              {node("\"A\""), "n.toml:2:9"}});
}

TEST(NodeFile, devices_are_one_to_1024_and_all_in_some_domain) {
  EXPECT_THAT(parse_nodes(node("\"a\"", "devices = 1\n"), "n")[0].domains, ElementsAre(1));
  EXPECT_THAT(parse_nodes(node("\"a\"", "devices = 1024\ndomains = 1024\n"), "n")[0].domains,
              ElementsAre(1024));
  test::expect_each(said_of, {{node("\"a\"", "devices = 0\n"), "'devices'"},
                              {node("\"a\"", "devices = 1025\n"), "'devices'"},
                              {node("\"a\"", "devices = 8\ndomains = [4, 3]\n"),
                               "n.toml:4:11: domains are not the 8 devices of the node"},
                              {node("\"a\"", "devices = 8\ndomains = [8, 0]\n"), "'domains'"},
                              {node("\"a\"", "devices = 8\ndomains = [1025, 2]\n"), "'domains'"}});
}

TEST(NodeFile, no_node_one_named_twice_and_unknown_keys_are_refused) {
  test::expect_each(
      said_of, {{"", "n.toml: no node is listed"},
                {node("\"a\"") + node("[\"b\", \"a\"]"), "n.toml:5:9: node 'a' is named twice"},
                {node("\"a\"", "devices = 8\nrack = 1\n"), "unknown key 'rack'"},
                {"rack = 1\n" + node("\"a\""), "unknown key 'rack'"}});
}

}  // namespace
}  // namespace halmark
