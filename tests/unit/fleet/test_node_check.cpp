// What a node is told before it would enter, whom it is compared with, and for which one a command
// plans.
#include "fleet/nodes/node_check.hpp"

#include <gmock/gmock.h>

#include "../error_of.hpp"
#include "fleet/nodes/peers.hpp"
#include "fleet/nodes/planning.hpp"
#include "fleet_database.hpp"
#include "told_node.hpp"

namespace halmark::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Nodes : public FleetDatabase {
 protected:
  static Fitness offer_of(const NodeFacts& facts) {
    const tune::NamedDevices devices = devices_of_node(facts);
    return {classes_of(devices.fingerprint()), devices.plugins().hashes, tool_text()};
  }
  Agent told(const std::string& name, const NodeFacts& facts, const std::string& state = "idle") {
    Agent out{.node = name, .pid = 1, .offer = offer_of(facts), .state = state};
    out.facts = facts_text(facts);
    out.places = classes_by_place(facts);
    out.id = table_->enter(out);
    return out;
  }
  void forget(const Agent& agent, const std::string& how_long) {
    test::PostgresServer::get()->sql(url_, "UPDATE halmark.agent SET heard = heard - interval '" +
                                               how_long +
                                               "' WHERE id = " + std::to_string(agent.id));
  }
  std::vector<std::string> peers(const NodeFacts& own, const std::string& node = "me") {
    std::vector<std::string> out;
    for (const Peer& peer : peers_of(store_->session(), own, node)) out.push_back(peer.node);
    return out;
  }
};

TEST_F(Nodes, are_compared_with_the_latest_of_each_other_node_of_their_class) {
  const NodeFacts own = node(1e9);
  EXPECT_THAT(peers(own), IsEmpty());
  told("a", node(2e9));
  told("me", node(3e9));
  told("b", node(4e9), refused_state);
  told("c", node(5e9));
  told("a", node(6e9));
  NodeFacts stranger = node(7e9);
  stranger.machine.machine.cpu_model = "another";
  stranger.machine.fingerprint = stranger.machine.machine.fingerprint();
  told("d", stranger);
  EXPECT_THAT(peers(own), ElementsAre("a", "c"));
  const auto found = peers_of(store_->session(), own, "me");
  EXPECT_EQ(found[0].facts.machine.measured->peaks.at(0).flops_per_s, 6e9);
}

TEST_F(Nodes, are_compared_with_those_of_a_day_of_this_version_and_sixteen_at_most) {
  const NodeFacts own = node(1e9);
  forget(told("old", own), "25 hours");
  forget(told("new", own), "23 hours");
  Agent other{.node = "other", .pid = 1, .offer = offer_of(own), .state = "idle"};
  other.offer.tool = "0";
  other.facts = facts_text(own);
  other.places = classes_by_place(own);
  table_->enter(other);
  other.offer.tool = tool_text();
  other.node = "unreadable";
  other.facts = "{}";
  table_->enter(other);
  EXPECT_THAT(peers(own), ElementsAre("new"));
  for (int i = 0; i < 20; ++i) told("n" + std::to_string(i), own);
  EXPECT_THAT(peers(own), SizeIs(16));
}

TEST_F(Nodes, that_would_be_of_use_pass) {
  const NodeFacts own = node(91.2e9);
  NodeCheck check = check_node(own, url_, "me");
  EXPECT_EQ(check.exit_code, ExitCode::ok);
  EXPECT_EQ(check.view.data["verdict"], "no work waits");
  EXPECT_EQ(check.view.data["pass"], true);
  EXPECT_EQ(check.view.data["node"], "me");
  EXPECT_EQ(check.view.data["tool"], tool_text());
  EXPECT_THAT(check.view.text, testing::StartsWith("node me, halmark " + tool_text() + "\n"));
  EXPECT_THAT(check.view.text, testing::EndsWith("pass: no work waits\n"));
  const Json device = check.view.data["devices"].at(0);
  EXPECT_EQ(device["device"], "fake:0");
  EXPECT_EQ(device["class"], classes_by_place(own).at("fake:0"));
  EXPECT_EQ(device["plugin_hash"], "h1");
  EXPECT_EQ(device["plugin_version"], "7");
  table_->add(units(2), {}, offer_of(own));
  check = check_node(own, url_, "me");
  EXPECT_EQ(check.exit_code, ExitCode::ok);
  EXPECT_EQ(check.view.data["verdict"], "2 units of work wait for it");
  EXPECT_EQ(check.view.data["waiting"], 2);
  EXPECT_EQ(check.view.data["waiting_for_others"], 0);
  EXPECT_THAT(table_->agents(), IsEmpty()) << "nobody has entered";
}

TEST_F(Nodes, for_which_nothing_of_what_waits_is_are_told_why) {
  table_->add(units(1), {}, need());
  EXPECT_EQ(check_node(node(1e9), url_, "me").exit_code, ExitCode::partial) << "of one unit too";
  table_->add(units(3), {}, need());
  const NodeCheck check = check_node(node(1e9), url_, "me");
  EXPECT_EQ(check.exit_code, ExitCode::partial);
  EXPECT_EQ(check.view.data["waiting"], 0);
  EXPECT_EQ(check.view.data["waiting_for_others"], 3);
  EXPECT_EQ(check.view.data["pass"], false);
  const std::string said = check.view.data["verdict"];
  EXPECT_THAT(said, testing::StartsWith("3 units of work wait and none is for it: run " +
                                        std::to_string(run_) + ": no agent has the class cpu-1a"));
  EXPECT_THAT(check.view.text, HasSubstr("\nfail: 3 units of work wait"));
}

TEST_F(Nodes, that_contradict_their_class_or_have_no_device_fail) {
  told("a", node(1e9));
  NodeFacts odd = node(10e9);
  const NodeCheck refused = check_node(odd, url_, "me");
  EXPECT_EQ(refused.exit_code, ExitCode::refused);
  EXPECT_THAT(refused.view.data["verdict"].get<std::string>(), HasSubstr("10 GFLOP/s"));
  odd.plugins.clear();
  const NodeCheck unfit = check_node(odd, url_, "me");
  EXPECT_EQ(unfit.exit_code, ExitCode::unfit);
  EXPECT_EQ(unfit.view.data["verdict"], "no plugin offers a device here: halmark doctor says why");
  EXPECT_EQ(test::error_of([&] { (void)check_node(odd, "results.db", "me"); }).exit_code(),
            ExitCode::refused);
}

// The best of each path over numbers of threads, and of the memory alone.
TEST_F(Nodes, show_the_best_of_their_peaks) {
  NodeFacts own = node(50e9);
  own.plugins[0].description->devices.at(0).kind = "cpu";
  Device& measured = *own.machine.measured;
  measured.peaks.push_back({.path = "f32_vector", .threads = 2, .flops_per_s = 91.2e9});
  measured.peaks.push_back({.path = "bf16_matrix", .threads = 2, .flops_per_s = 200e9});
  const auto shown = [&] {
    return check_node(own, url_, "me").view.data["devices"].at(0)["peaks"].get<std::string>();
  };
  EXPECT_EQ(shown(), "bf16_matrix 200 GFLOP/s, f32_vector 91.2 GFLOP/s");
  measured.bandwidths = {{.level = "memory", .threads = 1, .bytes_per_s = 10e9},
                         {.level = "memory", .threads = 2, .bytes_per_s = 20.1e9},
                         {.level = "L2", .threads = 2, .bytes_per_s = 500e9}};
  EXPECT_EQ(shown(), "bf16_matrix 200 GFLOP/s, f32_vector 91.2 GFLOP/s, memory 20.1 GB/s");
  measured.peaks.clear();
  EXPECT_EQ(shown(), "memory 20.1 GB/s");
  measured.bandwidths.clear();
  EXPECT_EQ(shown(), "none in its file");
  own.machine.measured.reset();
  EXPECT_EQ(shown(), "not measured yet");
  own.plugins[0].hash = "0123456789abcdef";
  EXPECT_THAT(check_node(own, url_, "me").view.text, HasSubstr("  0123456789ab  7 "))
      << "twelve digits of the build, and its version";
}

class Planning : public Nodes {
 protected:
  void SetUp() override {
    Nodes::SetUp();
    sweep_.backend = "fake";
  }
  PlanningQuestion question() {
    return {.url = url_,
            .wanted_class = "",
            .sweep = sweep_,
            .waits = false,
            .validates = validates_,
            .plugins_here = [this] { return here_; },
            .stop = user_.get_token(),
            .say = [this](const std::string& line) { said_.push_back(line); }};
  }
  Error refusal() {
    return test::error_of([&] { (void)facts_to_plan_with(question()); });
  }

  Sweep sweep_;
  bool validates_ = false;
  std::stop_source user_;
  std::vector<FoundPlugin> here_;
  std::vector<std::string> said_;
};

TEST_F(Planning, is_by_what_the_agent_of_the_class_told) {
  const Agent agent = told("a", node(3e9));
  const auto facts = facts_to_plan_with(question());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->machine.measured->peaks.at(0).flops_per_s, 3e9);
  EXPECT_THAT(facts->plugins.at(0).path, IsEmpty());
  EXPECT_THAT(said_, ElementsAre("halmark: planning for " + agent.places.at("fake:0") +
                                 ", by what agent " + std::to_string(agent.id) + " tells of it\n"));
}

TEST_F(Planning, without_an_agent_is_refused_or_waits) {
  EXPECT_EQ(refusal().exit_code(), ExitCode::refused);
  EXPECT_EQ(refusal().where(), "--fleet");
  EXPECT_THAT(refusal().line(), HasSubstr("no agent is there"));
  PlanningQuestion waits = question();
  waits.waits = true;
  waits.say = [this](const std::string& line) {
    said_.push_back(line);
    user_.request_stop();
  };
  EXPECT_FALSE(facts_to_plan_with(waits)) << "interrupted";
  EXPECT_THAT(said_,
              ElementsAre("halmark: waiting to plan: no agent is there: start 'halmark agent "
                          "URL' on a machine that has fake:0\n"));
  waits.url = "results.db";
  EXPECT_EQ(test::error_of([&] { (void)facts_to_plan_with(waits); }).exit_code(),
            ExitCode::refused);
}

TEST_F(Planning, is_of_no_agent_that_contradicts_itself) {
  Agent liar{.node = "a", .pid = 1, .offer = offer_of(node(1e9)), .state = "idle"};
  liar.facts = facts_text(node(1e9));
  liar.places = {{"fake:0", "device-of-another-class"}};
  liar.id = table_->enter(liar);
  EXPECT_EQ(refusal().where(), "agent " + std::to_string(liar.id));
  EXPECT_THAT(refusal().line(),
              HasSubstr("says that it is of class device-of-another-class, and what it tells of "
                        "its machine is of " +
                        classes_by_place(node(1e9)).at("fake:0")));
}

TEST_F(Planning, that_validates_here_needs_the_same_class_and_build_here) {
  told("a", node(3e9));
  validates_ = true;
  EXPECT_THAT(refusal().line(), HasSubstr("validation and nights run on this machine, whose "
                                          "fake:0 is absent"));
  here_ = node(1e9).plugins;
  here_[0].hash = "h2";
  EXPECT_THAT(refusal().line(), HasSubstr("this is another build of fake than the agents'"));
  EXPECT_EQ(refusal().where(), "/p.so");
  here_[0].hash = "h1";
  const auto facts = facts_to_plan_with(question());
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->plugins.at(0).path, "/p.so") << "where it lies here";
  here_[0].description->devices.at(0).driver = "another driver";
  EXPECT_THAT(refusal().line(), HasSubstr("whose fake:0 is device-"));
}

TEST_F(Planning, of_a_night_is_held_against_this_machine_too) {
  told("a", node(3e9));
  sweep_.nightly.emplace();
  EXPECT_THAT(refusal().line(), HasSubstr("fake:0 is absent"));
}

TEST_F(Planning, for_shards_is_for_each_of_their_devices) {
  sweep_.shards_on = {{{.backend = "fake", .device = "0"}, {.backend = "other", .device = "0"}}};
  told("a", node(3e9));
  EXPECT_THAT(refusal().line(), HasSubstr("a has no device fake:0 + other:0"));
}

}  // namespace
}  // namespace halmark::fleet
