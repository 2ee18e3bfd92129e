// An agent of this process with the fake plugin, against a real server: what it claims, stores,
// says and hands back.
#include "fleet/agent_loop.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "core/json/json.hpp"
#include "fleet/fleet.hpp"
#include "fleet/spool.hpp"
#include "fleet_database.hpp"
#include "host/plugin/discovery.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark::fleet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class AgentLoopTest : public FleetDatabase {
 protected:
  void SetUp() override {
    FleetDatabase::SetUp();
    if (IsSkipped()) return;
    node_.machine = tune::local_machine();
    node_.machine.measured.reset();
    node_.plugins = discover(
        {.paths = {test::in_build("/tests/plugins/hm_fake.so")}, .search_installed = false});
    ASSERT_TRUE(node_.plugins.at(0).is_loaded()) << node_.plugins[0].refusal;
    need_ = {classes_of(devices_of_node(node_).fingerprint()),
             devices_of_node(node_).plugins().hashes, tool_text()};
    options_.url = url_;
    options_.node = "n1";
    options_.spool = folder_ / "spool.db";
    options_.sentinel_file = folder_ / "state/sentinel.json";
    options_.idle_s = 0.2;
    options_.sentinel_s = 0;
    options_.say = [this](const std::string& line) { said_.push_back(line); };
    settings_.measure.sample_budget_s = 0.002;
    settings_.measure.warmup_cap_s = 0.01;
  }

  std::vector<std::int64_t> add(int count, const std::string& batch = "b") {
    std::vector<WorkUnit> all;
    for (int i = 0; i < count; ++i) {
      const KernelCase k{.problem = {"copy", {{"bytes", 64 * (i + 1)}}}, .backend = "fake"};
      all.push_back({.run = run_, .name = k.key(), .batch = batch, .cases = {k}});
    }
    return table_->add(all, settings_, need_);
  }
  // Whether the database takes connections; those that there are end.
  bool takes(bool any) const {
    const std::size_t at = url_.find("@/") + 2;
    const std::string name = url_.substr(at, url_.find('?', at) - at);
    return test::PostgresServer::get()->sql(
        std::string(url_).replace(at, name.size(), "postgres"),
        "ALTER DATABASE " + name + " ALLOW_CONNECTIONS " + (any ? "true" : "false") +
            "; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name +
            "'");
  }
  // The agent is stopped once that is so, or after a minute.
  AgentEnd run_until(const std::function<bool()>& is_so) {
    std::stop_source user;
    options_.stop = user.get_token();
    const std::jthread watch([&](const std::stop_token& ended) {
      while (!ended.stop_requested() && !is_so() && seconds_since(begun_) < 60) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      user.request_stop();
    });
    return run_agent(node_, options_);
  }
  Agent told() {
    const auto all = table_->agents();
    return all.empty() ? Agent{} : all.back();
  }

  const test::ScratchFolder folder_;
  const test::ScopedVariable script_{"HALMARK_FAKE_SCRIPT"};  // absent until a case says one
  NodeFacts node_;
  Fitness need_;
  AgentOptions options_;
  UnitSettings settings_;
  std::vector<std::string> said_;
  SteadyClock::time_point begun_ = SteadyClock::now();
};

TEST_F(AgentLoopTest, measures_what_waits_and_leaves_when_nothing_does) {
  const auto ids = add(10);
  const AgentEnd end = run_agent(node_, options_);
  EXPECT_EQ(end.measured, 10);
  EXPECT_EQ(end.failed, 0);
  EXPECT_EQ(end.lost, 0);
  EXPECT_FALSE(end.is_interrupted);
  EXPECT_EQ(table_->counts(ids), (UnitCounts{.done = 10}));
  const auto rows = store_->run_measurements(run_);
  ASSERT_THAT(rows, SizeIs(10));
  EXPECT_EQ(rows[0].plugin_hash, need_.plugins.at("fake"));
  const Agent agent = told();
  EXPECT_EQ(agent.state, "left");
  EXPECT_EQ(agent.doing, "");
  EXPECT_EQ(agent.node, "n1");
  EXPECT_EQ(agent.pid, ::getpid());
  EXPECT_EQ(agent.measured, 10);
  EXPECT_EQ(agent.offer.classes, need_.classes);
  ASSERT_FALSE(said_.empty());
  EXPECT_EQ(said_[0], "halmark: agent " + std::to_string(agent.id) +
                          " (n1): " + need_.classes.at(0) + ", halmark " + tool_text() + "\n");
  EXPECT_FALSE(std::filesystem::exists(options_.sentinel_file)) << "nobody was to look";
  EXPECT_EQ(WorkTable::agents_with_places(store_->session()).at(0).places, classes_by_place(node_));
}

TEST_F(AgentLoopTest, stores_failures_and_counts_them) {
  ::setenv("HALMARK_FAKE_SCRIPT", "wrong=zeros", 1);
  add(2);
  const AgentEnd end = run_agent(node_, options_);
  EXPECT_EQ(end.measured, 2);
  EXPECT_EQ(end.failed, 2);
  EXPECT_EQ(told().failed, 2);
  EXPECT_EQ(store_->run_measurements(run_).at(0).status, Status::wrong_result);
}

TEST_F(AgentLoopTest, without_work_leaves_after_the_time_that_it_was_given) {
  options_.idle_s = 1.5;
  const auto begin = SteadyClock::now();
  EXPECT_EQ(run_agent(node_, options_).measured, 0);
  EXPECT_GT(seconds_since(begin), 1.5);
  EXPECT_LT(seconds_since(begin), 30);
}

TEST_F(AgentLoopTest, that_is_interrupted_hands_back_what_it_has_not_measured) {
  const auto ids = add(60);
  options_.idle_s = 0;
  const AgentEnd end = run_until([&] { return !store_->run_measurements(run_).empty(); });
  EXPECT_TRUE(end.is_interrupted);
  EXPECT_GE(end.measured, 1);
  EXPECT_LT(end.measured, 60);
  const UnitCounts now = table_->counts(ids);
  EXPECT_EQ(now.leased, 0);
  EXPECT_EQ(now.done, end.measured);
  EXPECT_EQ(now.ready, 60 - end.measured);
  EXPECT_EQ(told().state, "left");
}

TEST_F(AgentLoopTest, says_what_it_measures_while_it_does) {
  ::setenv("HALMARK_FAKE_SCRIPT", "nap=prepare;nap_ns=1000000000;nap_every=1", 1);
  add(1);
  Agent seen;
  {
    const std::jthread looks([&] {
      const auto session = agent_session(url_);
      WorkTable table(*session);
      for (int i = 0; i < 1000 && seen.state != "measuring"; ++i) {
        const auto all = table.agents();
        if (!all.empty()) seen = all.back();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    (void)run_agent(node_, options_);
  }
  EXPECT_EQ(seen.state, "measuring");
  EXPECT_THAT(seen.doing, HasSubstr("copy bytes=64"));
}

// Another agent takes what this one has claimed: no test waits for a lease to end.
class AgentThatIsLate : public AgentLoopTest {
 protected:
  std::jthread thief(std::vector<std::int64_t> ids) {
    return std::jthread([this, ids = std::move(ids)] {
      const auto session = agent_session(url_);
      WorkTable table(*session);
      Agent other{.node = "n2", .pid = 1, .offer = need_, .state = "idle"};
      other.id = table.enter(other);
      for (int i = 0; i < 4000 && table.counts(ids).leased < std::ssize(ids); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      test::PostgresServer::get()->sql(
          url_,
          "UPDATE halmark.unit SET attempt = attempt + 1, lease_until = lease_until + interval '1 "
          "hour', agent = " +
              std::to_string(other.id));
    });
  }
  void SetUp() override {
    AgentLoopTest::SetUp();
    ::setenv("HALMARK_FAKE_SCRIPT", "nap=prepare;nap_ns=4000000000;nap_every=1", 1);
  }
};

TEST_F(AgentThatIsLate, stores_no_row_of_a_unit_that_was_taken_away) {
  const auto ids = add(1);
  const std::jthread takes = thief(ids);
  const AgentEnd end = run_agent(node_, options_);
  EXPECT_EQ(end.measured, 0);
  EXPECT_EQ(end.lost, 1);
  EXPECT_THAT(store_->run_measurements(run_), testing::IsEmpty());
  EXPECT_THAT(said_, Contains("halmark: a late row is not stored: unit " + std::to_string(ids[0]) +
                              " was taken by another agent\n"));
}

// With beats every 0.2 s it knows before it would store, and measures no further unit of the claim.
TEST_F(AgentThatIsLate, drops_what_it_holds_once_it_knows) {
  options_.lease_s = 0.6;
  const std::jthread takes = thief(add(3));
  const AgentEnd end = run_agent(node_, options_);
  EXPECT_EQ(end.measured, 0);
  EXPECT_EQ(end.lost, 0) << "it did not even try";
  EXPECT_THAT(said_, Contains("halmark: leases were taken by others: their units are dropped\n"));
}

// What an earlier process of this node could not deliver.
TEST_F(AgentLoopTest, delivers_what_waits_on_the_disk_before_it_claims) {
  const auto ids = add(2);
  Agent before{.node = "n1", .pid = 1, .offer = need_, .state = "idle"};
  before.id = table_->enter(before);
  const auto claim = table_->claim(before, 1);
  ASSERT_THAT(claim.units, SizeIs(1));
  Measurement row{.kernel_case = claim.units[0].cases.at(0)};
  row.status = Status::ok;
  row.duration_ns_median = 123;
  WorkUnit stranger = claim.units[0];
  stranger.attempt += 7;
  Spool spool(options_.spool);
  spool.keep(before.id, claim.units[0], {row});
  spool.keep(before.id, stranger, {row});
  const AgentEnd end = run_agent(node_, options_);
  EXPECT_EQ(end.measured, 2) << "one of the disk and one of its own";
  EXPECT_EQ(end.lost, 1);
  EXPECT_TRUE(spool.is_empty());
  EXPECT_EQ(table_->counts(ids).done, 2);
  EXPECT_THAT(said_, Contains("halmark: the server is back: 1 of 2 units that waited in " +
                              options_.spool + " are stored\n"));
}

// Its peak is ten times that of another node of its class.
TEST_F(AgentLoopTest, whose_peaks_are_not_those_of_its_class_is_turned_away) {
  const auto with_peak = [&](double flops_per_s) {
    NodeFacts out = node_;
    out.machine.measured = Device{.id = "cpu:0", .name = "n", .kind = "cpu"};
    out.machine.measured->is_measured = true;
    out.machine.measured->memory_bytes = 1 << 30;
    out.machine.measured->fingerprint = out.machine.fingerprint;
    out.machine.measured->peaks = {
        {.path = "f32_vector", .threads = 1, .flops_per_s = flops_per_s, .source = "a test"}};
    out.plugins[0].description->devices.at(0).kind = "cpu";
    return out;
  };
  const NodeFacts peer = with_peak(1e9), odd = with_peak(10e9);
  options_.node = "n2";
  (void)run_agent(peer, options_);
  options_.node = "n1";
  const Error error = test::error_of([&] { (void)run_agent(odd, options_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), "n1");
  EXPECT_THAT(error.line(), HasSubstr("this node is not of its class: its peak f32_vector of 1 "
                                      "threads is 10 GFLOP/s"));
  EXPECT_EQ(told().state, "refused");
  EXPECT_THAT(told().doing, HasSubstr("10 GFLOP/s"));
}

TEST_F(AgentLoopTest, of_a_server_that_was_never_reached_fails) {
  options_.url = "postgresql://nobody@127.0.0.1:9/none";
  EXPECT_EQ(test::error_of([&] { (void)run_agent(node_, options_); }).exit_code(), ExitCode::error);
}

TEST_F(AgentLoopTest, keeps_its_rows_while_the_server_is_away_and_comes_back) {
  ::setenv("HALMARK_FAKE_SCRIPT", "nap=prepare;nap_ns=500000000;nap_every=1", 1);
  const auto ids = add(8);
  options_.idle_s = 3;
  std::atomic<bool> is_spooled = false;
  options_.say = [&](const std::string& line) {
    said_.push_back(line);
    if (line.starts_with("halmark: rows go to " + options_.spool)) is_spooled = true;
  };
  const std::jthread refuses([&] {
    const auto wait_for = [](const auto& is_so) {
      for (int i = 0; i < 6000 && !is_so(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    };
    wait_for([&] { return !store_->run_measurements(run_).empty(); });
    EXPECT_TRUE(takes(false));
    wait_for([&] { return is_spooled.load(); });
    EXPECT_TRUE(takes(true));
  });
  const AgentEnd end = run_agent(node_, options_);
  EXPECT_EQ(end.measured, 8);
  EXPECT_EQ(end.lost, 0);
  EXPECT_EQ(table_->counts(ids).done, 8);
  EXPECT_TRUE(is_spooled);
  EXPECT_THAT(said_, Contains(HasSubstr("the server is back: ")));
}

TEST_F(AgentLoopTest, tries_again_where_the_server_is_away_and_does_not_leave_for_it) {
  options_.idle_s = 2;
  const std::jthread refuses([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    EXPECT_TRUE(takes(false));
    std::this_thread::sleep_for(std::chrono::seconds(3));
    EXPECT_TRUE(takes(true));
  });
  const auto begin = SteadyClock::now();
  EXPECT_EQ(run_agent(node_, options_).measured, 0);
  EXPECT_GT(seconds_since(begin), 4.5) << "two seconds from when the server was back";
  EXPECT_LT(seconds_since(begin), 25) << "it asks again soon";
  EXPECT_EQ(told().state, "left");
  EXPECT_EQ(std::ranges::count_if(
                said_, [](const std::string& s) { return s.ends_with("; trying again\n"); }),
            1);
}

TEST_F(AgentLoopTest, as_a_command_says_what_it_has_done) {
  add(1);
  const test::ScopedVariable state("XDG_STATE_HOME", folder_.path().string());
  options_.spool.clear();
  const report::View view = serve_node(node_, options_);
  EXPECT_EQ(view.text, "1 rows measured, 0 of them failed, 0 leases lost\n");
  EXPECT_EQ(view.data["measured"], 1);
  EXPECT_EQ(view.data["failed"], 0);
  EXPECT_EQ(view.data["lost"], 0);
  EXPECT_EQ(view_of(url_).data["agents"].at(0)["measured"], 1);
}

// Its look is a history of one; a past that knows these kernels as ten times as fast makes it
// unfit.
TEST_F(AgentLoopTest, looks_at_itself_and_claims_nothing_while_it_is_not_what_it_was) {
  ::setenv("HALMARK_FAKE_SCRIPT", "unsupported=gemm", 1);  // the slowest two of its four kernels
  const auto ids = add(1);
  options_.sentinel_s = 600;
  options_.lease_s = 600;
  EXPECT_EQ(run_agent(node_, options_).measured, 1);
  Json history = read_json_file(options_.sentinel_file);
  EXPECT_EQ(history["schema"], "halmark.sentinel");
  ASSERT_GE(history["looks_ns"].size(), 1u) << "those that a busy machine did not spoil";
  EXPECT_LE(history["looks_ns"].size(), 2u);
  for (auto& [name, looks] : history["looks_ns"].items()) {
    EXPECT_THAT(name, HasSubstr(" on fake:0 by plugin " + need_.plugins.at("fake").substr(0, 12)));
    ASSERT_EQ(looks.size(), 1u);
    looks = std::vector<double>(5, looks[0].get<double>() / 10);
  }
  // Of a node that scatters by half nothing has moved; fifty looks are kept.
  Json scattered = history;
  std::size_t count = 50;
  for (auto& [name, looks] : scattered["looks_ns"].items()) {
    const double ns = 10 * looks[0].get<double>();
    std::vector<double> past;
    for (std::size_t i = 0; i < count; ++i)
      past.push_back((0.5 + 0.5 * static_cast<double>(i % 3)) * ns);
    looks = past;
    count = count == 50 ? 49 : 50;
  }
  test::write_file(options_.sentinel_file, dump_json(scattered));
  add(2);
  EXPECT_EQ(run_agent(node_, options_).measured, 1);
  for (const Json& looks : read_json_file(options_.sentinel_file)["looks_ns"]) {
    const bool is_new = looks.back() != looks[looks.size() - 2];
    EXPECT_TRUE(looks.size() == 50 || (looks.size() == 49 && !is_new)) << looks.size();
  }
  test::write_file(options_.sentinel_file, dump_json(history));
  add(3);
  options_.idle_s = 0;
  int beats = 0;
  const AgentEnd unfit = run_until([&] { return told().state == "unfit" && ++beats > 3; });
  EXPECT_EQ(unfit.measured, 0);
  EXPECT_EQ(table_->counts(ids).done, 1);
  EXPECT_THAT(store_->run_measurements(run_), SizeIs(2));
  EXPECT_THAT(said_, Contains(HasSubstr("W-NODE-01: ")));
}

}  // namespace
}  // namespace halmark::fleet
