// Which class a command plans for, and which node is none of its class.
#include <gmock/gmock.h>

#include "../error_of.hpp"
#include "fleet/nodes/class_choice.hpp"
#include "told_node.hpp"

namespace halmark::fleet {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::IsEmpty;

Agent agent(std::int64_t id, const std::string& node, const std::string& of_class,
            const std::string& state = "idle") {
  return {.id = id,
          .node = node,
          .offer = {.classes = {of_class, "cpu-" + node}, .plugins = {}, .tool = "1"},
          .state = state,
          .places = {{"fake:0", of_class}, {"cpu:0", "cpu-" + node}}};
}

ClassQuestion question(const std::string& wanted = "") {
  return {.wanted = wanted, .places = {{.backend = "fake", .device = "0"}}, .tool = "1"};
}

TEST(ClassChoice, is_the_one_class_that_is_there_by_its_first_agent) {
  const std::vector<Agent> all = {agent(3, "a", "device-1"), agent(5, "b", "device-1")};
  const ClassAnswer answer = chosen_class(question(), all);
  EXPECT_EQ(answer.agent, 3);
  EXPECT_EQ(answer.hardware_class, "device-1");
}

TEST(ClassChoice, of_several_is_the_one_that_is_named_by_its_begin) {
  const std::vector<Agent> all = {agent(3, "a", "device-1"), agent(5, "b", "device-2")};
  EXPECT_EQ(chosen_class(question("device-2"), all).agent, 5);
  EXPECT_EQ(chosen_class(question("cpu-b"), all).agent, 5) << "by the processor beside it";
  for (const char* wanted : {"", "device-"}) {
    const Error error = error_of([&] { chosen_class(question(wanted), all); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("device-1 (a), device-2 (b)"));
  }
}

TEST(ClassChoice, prefers_who_is_present_and_never_takes_who_was_turned_away) {
  const std::vector<Agent> all = {agent(1, "a", "device-1", refused_state),
                                  agent(2, "b", "device-2", "left"), agent(3, "c", "device-1")};
  EXPECT_EQ(chosen_class(question(), all).agent, 3);
  EXPECT_EQ(chosen_class(question(), std::span(all).first(2)).agent, 2) << "what it told holds";
  EXPECT_EQ(chosen_class(question(), std::span(all).first(1)).agent, std::nullopt);
}

TEST(ClassChoice, of_several_devices_is_each_of_their_classes_once) {
  std::vector<Agent> all = {agent(3, "a", "device-1")};
  const auto with = [&](const char* backend, const char* device) {
    ClassQuestion both = question();
    both.places.push_back({.backend = backend, .device = device});
    return chosen_class(both, all);
  };
  EXPECT_EQ(with("cpu", "0").hardware_class, "device-1+cpu-a");
  all[0].places["fake:1"] = "device-1";
  EXPECT_EQ(with("fake", "1").hardware_class, "device-1");
  all[0].places.erase("fake:1");
  EXPECT_EQ(with("fake", "1").waits, "a has no device fake:0 + fake:1");
}

TEST(ClassChoice, names_three_nodes_of_a_class_or_two_and_the_number_of_others) {
  std::vector<Agent> all;
  for (const char* name : {"a", "b", "c", "a"}) all.push_back(agent(1, name, "device-1"));
  EXPECT_EQ(chosen_class(question("x"), all).waits,
            "no agent has a class x..: there are device-1 (a, b, c)");
  all.push_back(agent(1, "d", "device-1"));
  all.push_back(agent(1, "e", "device-2"));
  EXPECT_EQ(chosen_class(question("x"), all).waits,
            "no agent has a class x..: there are device-1 (a, b and 2 more), device-2 (e)");
}

TEST(ClassChoice, waits_saying_what_is_lacking) {
  EXPECT_THAT(chosen_class(question(), {}).waits, HasSubstr("no agent is there"));
  std::vector<Agent> one = {agent(1, "a", "device-1")};
  EXPECT_THAT(chosen_class(question("cpu-z"), one).waits, HasSubstr("there are device-1 (a)"));
  one[0].places.erase("fake:0");
  EXPECT_THAT(chosen_class(question(), one).waits, HasSubstr("a has no device fake:0"));
  one[0].offer.tool = "2";
  EXPECT_THAT(chosen_class(question(), one).waits, HasSubstr("a runs halmark 2, and this is 1"));
}

TEST(NodeFacts, travel_without_their_host_and_stay_what_they_are) {
  const NodeFacts own = node(1e9);
  const std::string text = facts_text(own);
  const NodeFacts told = read_facts(text, "agent 1");
  EXPECT_EQ(facts_text(told), text);
  EXPECT_EQ(told.machine.machine.hardware_class(), own.machine.machine.hardware_class());
  EXPECT_EQ(told.machine.fingerprint, own.machine.machine.hardware_class() + "@fleet");
  EXPECT_EQ(text.find(own.machine.machine.host), std::string::npos);
  EXPECT_EQ(classes_by_place(told), classes_by_place(own));
  EXPECT_EQ(told.machine.measured->peaks.at(0).flops_per_s, 1e9);
  EXPECT_EQ(told.plugins.at(0).hash, "h1");
  EXPECT_THAT(told.plugins.at(0).path, IsEmpty());
  EXPECT_EQ(told.plugins.at(0).description->plugin_version, "7");
}

TEST(NodeFacts, that_nobody_can_read_name_their_agent) {
  for (const char* text : {"", "{}", "[1]", R"({"machine":{"cpu_model":7}})"}) {
    const Error error = error_of([&] { read_facts(text, "agent 9"); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("agent 9")) << text;
  }
}

TEST(Contradiction, is_a_factor_of_two_from_the_peers_in_either_direction) {
  const std::vector<Peer> peers = {{"a", node(100e9)}, {"b", node(110e9)}, {"c", node(5e9)}};
  EXPECT_EQ(contradiction_of(node(199e9), peers), "") << "the median of the peers is 100";
  EXPECT_EQ(contradiction_of(node(51e9), peers), "");
  EXPECT_THAT(contradiction_of(node(201e9), peers), HasSubstr("201 GFLOP/s"));
  EXPECT_EQ(contradiction_of(node(49e9), peers),
            "its peak f32_vector of 1 threads is 49 GFLOP/s, and that of class " +
                classes_by_place(node(1)).at("fake:0") +
                " is 100 GFLOP/s (3 agents of a and others)");
  EXPECT_THAT(contradiction_of(node(49e9), std::span(peers).first(1)),
              HasSubstr("is 100 GFLOP/s (one agent of a)"));
  EXPECT_EQ(contradiction_of(node(200e9), std::span(peers).first(1)), "") << "twice is allowed";
  EXPECT_EQ(contradiction_of(node(50e9), std::span(peers).first(1)), "");
  EXPECT_EQ(contradiction_of(node(1e15), {}), "") << "nobody is there to compare with";
}

TEST(Contradiction, is_a_peak_above_the_datasheet) {
  NodeFacts own = node(130e9);
  own.machine.datasheet = Device{.id = "sheet", .name = "Sheet", .kind = "cpu"};
  own.machine.datasheet->peaks = {{.path = "f32_vector", .flops_per_s = 100e9}};
  EXPECT_THAT(contradiction_of(own, {}), HasSubstr("datasheet of Sheet has 100 GFLOP/s"));
  own.machine.measured->peaks[0].flops_per_s = 125e9;
  EXPECT_EQ(contradiction_of(own, {}), "") << "a quarter above it is allowed";
  own.machine.measured->peaks[0].flops_per_s = 130e9;
  own.machine.datasheet->peaks[0].flops_per_s_high = 110e9;
  EXPECT_EQ(contradiction_of(own, {}), "") << "130 are no 1.25 times 110";
  own.machine.datasheet->peaks[0].path = "f64_vector";
  EXPECT_EQ(contradiction_of(own, {}), "") << "the sheet has no figure of it";
}

// The same level, access and threads: 40 GB/s of one are nothing against 10 GB/s of two.
TEST(Contradiction, is_a_bandwidth_beyond_that_of_the_peers) {
  NodeFacts own = node(1e9), other = node(1e9);
  own.machine.measured->bandwidths = {
      {.level = "memory", .threads = 2, .bytes_per_s = 40e9, .access = "read"}};
  other.machine.measured->bandwidths = {
      {.level = "memory", .threads = 1, .bytes_per_s = 10e9, .access = "read"}};
  const std::vector<Peer> peers = {{"a", other}};
  EXPECT_EQ(contradiction_of(own, peers), "");
  own.machine.measured->bandwidths[0].threads = 1;
  EXPECT_THAT(contradiction_of(own, peers),
              HasSubstr("its bandwidth memory read of 1 threads is 40 GB/s, and that of class "));
  own.machine.measured->bandwidths[0].threads = 0;
  own.machine.measured->peaks[0].isa = "avx2";
  EXPECT_EQ(contradiction_of(own, peers), "") << "another ceiling, and another instruction set";
}

TEST(Contradiction, is_of_peers_that_have_such_a_device) {
  NodeFacts other = node(1e9);
  other.machine.machine.cpu_model = "another model";
  other.machine.fingerprint = other.machine.machine.fingerprint();
  const std::vector<Peer> peers = {{"a", other}};
  EXPECT_EQ(contradiction_of(node(1e12), peers), "");
}

}  // namespace
}  // namespace halmark::fleet
