#include <gmock/gmock.h>

#include "plan/device/node_file.hpp"
#include "plan/served_sweep.hpp"
#include "plan/toml/load_file.hpp"
#include "plan/toml/toml_table.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LoadFile, reads_buckets_and_levels) {
  const RequestLoad load = parse_load(
      "[[bucket]]\ninput_tokens = 512\noutput_tokens = 128\nrequests_per_s = 2.5\n"
      "[[bucket]]\ninput_tokens = 8000\noutput_tokens = 1\nrequests_per_s = 1\n"
      "[slo]\nttft_ms = 500\n",
      "load.toml");
  ASSERT_EQ(load.buckets.size(), 2u);
  EXPECT_EQ(load.buckets[0].text(), "512 + 128 tokens");
  EXPECT_EQ(load.buckets[0].requests_per_s, 2.5);
  ASSERT_EQ(load.levels.size(), 1u);
  EXPECT_EQ(load.levels[0].objective, Objective::ttft);
  EXPECT_EQ(load.levels[0].limit, 500e6);
}

TEST(LoadFile, refuses_with_the_place) {
  expect_error([] { (void)parse_load("", "load.toml"); }, "[[bucket]]");
  expect_error(
      [] { (void)parse_load("[[bucket]]\ninput_tokens = 0\noutput_tokens = 1\n", "load.toml"); },
      "load.toml:2");
  expect_error(
      [] {
        (void)parse_load(
            "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\n"
            "requests_per_s = 1\nrate = 1\n",
            "load.toml");
      },
      "load.toml:5");
}

TEST(ServiceLevels, read_from_a_command_line_as_from_a_sweep) {
  const auto levels =
      service_levels({.slo = {"ttft_ms=500", "tokens_per_s=12.5"}, .ttft = {}, .tpot = {}});
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].limit, 500e6);
  EXPECT_EQ(levels[1].limit, 12.5);
  expect_error([] { (void)service_levels({.slo = {"ttft=5"}, .ttft = {}, .tpot = {}}); },
               "ttft_ms");
  for (const char* bad : {"", "=", "ttft_ms", "ttft_ms=", "ttft_ms=-1", "ttft_ms=1s"}) {
    EXPECT_EQ(error_of([bad] {
                (void)service_levels({.slo = {bad}, .ttft = {}, .tpot = {}});
              }).exit_code(),
              ExitCode::refused)
        << bad;
  }
}

TEST(LoadFile, has_one_to_64_buckets) {
  const auto load_of = [](int buckets) {
    std::string text;
    for (int i = 0; i < buckets; ++i) {
      text += "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\nrequests_per_s = 1\n";
    }
    return parse_load(text, "load.toml");
  };
  EXPECT_EQ(load_of(1).buckets.size(), 1u);
  EXPECT_EQ(load_of(64).buckets.size(), 64u);
  EXPECT_THAT(error_of([&] { load_of(65); }).line(),
              testing::AllOf(HasSubstr("65 buckets of requests"), HasSubstr("1 to 64")));
  const auto rate = [](const std::string& rate) {
    return parse_load(
               "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\nrequests_per_s = " + rate + "\n",
               "load.toml")
        .buckets.at(0)
        .requests_per_s;
  };
  EXPECT_EQ(rate("1e9"), 1e9);
  EXPECT_EQ(rate("1e-9"), 1e-9);
  expect_error([&] { rate("1.1e9"); }, "'requests_per_s'");
  expect_error([&] { rate("0.9e-9"); }, "'requests_per_s'");
}

TEST(ServiceLevels, end_at_1e15_and_name_their_place) {
  const auto levels = service_levels({.slo = {"ttft_ms=1e15"}, .ttft = {}, .tpot = {}});
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].limit, 1e21) << "in ns";
  EXPECT_EQ(levels[0].where, "--slo");
  EXPECT_EQ(levels[0].objective, Objective::ttft);
  for (const char* bad : {"ttft_ms=1.1e15", "ttft_ms=0", "ttft_ms=nan", "ttft_ms=5="}) {
    EXPECT_THAT(
        error_of([bad] { (void)service_levels({.slo = {bad}, .ttft = {}, .tpot = {}}); }).line(),
        testing::AllOf(HasSubstr("--slo"), HasSubstr("states no limit"),
                       HasSubstr("as in ttft_ms=500")))
        << bad;
  }
  for (const StatedLevels& twice : {StatedLevels{{"ttft_ms=500"}, "1s", {}},
                                    StatedLevels{{"tpot_ms=5", "tpot_ms=6"}, {}, {}}}) {
    expect_error([&] { (void)service_levels(twice); }, "is stated twice");
  }
  const auto both = service_levels({{"tokens_per_s=9"}, "1.5s", "30ms"});
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both[1].objective, Objective::ttft);
  EXPECT_EQ(both[1].limit, 1.5e9);
  EXPECT_EQ(both[2].objective, Objective::tpot);
  EXPECT_EQ(both[2].limit, 30e6);
  expect_error([] { (void)service_levels({{}, "500", {}}); }, "is no duration");
  expect_error([] { (void)service_levels({.slo = {"=5"}, .ttft = {}, .tpot = {}}); },
               "names no level");
}

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

// "a.a.a" with `dots` dots.
std::string dotted(int dots) {
  std::string out = "a";
  for (int i = 0; i < dots; ++i) out += ".a";
  return out;
}

std::string brackets(int levels) {
  const auto n = static_cast<std::size_t>(levels);
  return "a = " + std::string(n, '[') + std::string(n, ']') + '\n';
}

std::string refusal(const std::string& text) {
  const Error error = error_of([&] { prescan_toml(text, "f.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(Prescan, sixty_four_dots_in_a_key_pass_and_sixty_five_do_not) {
  EXPECT_NO_THROW(prescan_toml(dotted(64) + " = 1\n", "f.toml"));
  EXPECT_EQ(refusal("x = 1\n" + dotted(65) + " = 1\n"),
            "f.toml:2:130: more than 64 dots in one key");
}

TEST(Prescan, sixty_four_dots_in_a_header_pass_and_sixty_five_do_not) {
  EXPECT_NO_THROW(prescan_toml("[" + dotted(64) + "]\n[[" + dotted(64) + "]]\n", "f.toml"));
  EXPECT_NE(refusal("[" + dotted(65) + "]\n").find("more than 64 dots"), std::string::npos);
  EXPECT_NE(refusal("[[" + dotted(65) + "]]\n").find("more than 64 dots"), std::string::npos);
}

TEST(Prescan, dots_are_counted_per_key) {
  std::string text = "a = { ";
  for (int i = 0; i < 100; ++i) text += (i > 0 ? ", k" : "k") + std::to_string(i) + ".b.c = 1.5";
  EXPECT_NO_THROW(prescan_toml(text + " }\n", "f.toml"));
  EXPECT_NE(refusal("a = { x = 1, " + dotted(65) + " = 1 }\n").find("dots"), std::string::npos);
}

TEST(Prescan, dots_and_brackets_in_strings_and_comments_are_text) {
  const std::string dots(1000, '.'), open(1000, '[');
  for (const std::string& text :
       {"a = \"" + dots + open + "\"\n", "a = '" + dots + open + "'\n",
        "a = \"\"\"" + dots + "\n" + open + "\"\"\"\n", "a = '''" + dots + "\n" + open + "'''\n",
        "# " + dots + open + "\na = 1 # " + dots + "\n", "\"" + dots + "\" = 1\n",
        "a = \"\\\"" + dots + "\"\n", "a = \"\"\"\\\"\"\"" + dots + "\"\"\"\n"}) {
    EXPECT_NO_THROW(prescan_toml(text, "f.toml")) << text.substr(0, 12);
  }
}

// A multi-line string may end in two more quotes; what follows them is text no longer.
TEST(Prescan, nothing_hides_behind_the_quotes_at_the_end_of_a_string) {
  for (const char* string : {"\"\"\"x\"\"\"", "\"\"\"x\"\"\"\"", "\"\"\"x\"\"\"\"\"", "'''x'''",
                             "'''x''''", "'''x'''''", "\"x\"", "'x'", "\"\"", "''"}) {
    const std::string text = "a = { s = " + std::string(string) + ", " + dotted(65) + " = 1 }\n";
    EXPECT_NE(refusal(text).find("more than 64 dots"), std::string::npos) << string;
  }
}

TEST(Prescan, nesting_is_limited_on_both_sides) {
  EXPECT_NO_THROW(prescan_toml(brackets(64), "f.toml"));
  EXPECT_EQ(refusal(brackets(65)), "f.toml:1:69: nesting exceeds 64");
  std::string tables = "a = ";
  for (int i = 0; i < 65; ++i) tables += "{ a = ";
  EXPECT_NE(refusal(tables).find("nesting exceeds 64"), std::string::npos);
}

TEST(Prescan, a_line_of_65536_bytes_passes_and_one_more_does_not) {
  const std::string line = "a = '" + std::string(65536 - 6, 'x') + "'";
  ASSERT_EQ(line.size(), 65536u);
  EXPECT_NO_THROW(prescan_toml(line + "\n" + line + "\n" + line, "f.toml"));
  const std::string said = refusal("x = 1\n" + line + " \n");
  EXPECT_TRUE(said.starts_with("f.toml:2:65537: the line is longer than 65536 bytes")) << said;
}

TEST(Prescan, size_is_limited_on_both_sides) {
  std::string text;
  while (text.size() + 64 <= toml_bytes_max) text += std::string(63, '#') + '\n';
  ASSERT_EQ(text.size(), toml_bytes_max);
  EXPECT_NO_THROW(prescan_toml(text, "f.toml"));
  EXPECT_EQ(refusal(text + "\n"), "f.toml: the file has 1048577 bytes; the limit is 1048576");
}

TEST(Prescan, a_nul_byte_is_refused) {
  EXPECT_NE(refusal(std::string("a = 1\0\n", 7)).find("NUL"), std::string::npos);
}

TEST(Prescan, unfinished_text_ends_the_scan_without_a_crash) {
  for (const char* text : {"", "\"", "'", "\"\"\"", "'''", "\"\\", "a = \"\"\"\\", "[", "]", "}}}",
                           "\"abc\n", "#", "a = \"\"\"\"", "\xef\xbb\xbf"}) {
    EXPECT_NO_THROW(prescan_toml(text, "f.toml")) << text;
  }
}

TEST(Prescan, what_it_lets_through_the_library_survives) {
  for (const std::string& text : {dotted(64) + " = 1\n", brackets(64), "[" + dotted(64) + "]\n"}) {
    EXPECT_NO_THROW(TomlTable::parse(text, "f.toml"));
  }
  for (const char* text : {"\"", "a = \"\"\"", "[", "a = \"\"\"\"", "a = {", "a.b.c"}) {
    EXPECT_EQ(error_of([&] { TomlTable::parse(text, "f.toml"); }).exit_code(), ExitCode::refused);
  }
}

}  // namespace
}  // namespace halmark
