// `halmark tune --fleet`, `agent` and `fleet` over a PostgreSQL server of this process: the same
// rows as on one machine, whoever is lost meanwhile.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "halmark_fixture.hpp"
#include "tests/unit/postgres_server.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class Fleet : public HalmarkTest {
 protected:
  void SetUp() override {
    server_ = test::PostgresServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "no PostgreSQL server could be started";
    url_ = server_->database();
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=3000000";
    base_.limit_s = 120;
    know_peaks();
    tiny_sweep("fake", "shards = [1]");
    trials_ =
        2 * static_cast<std::int64_t>(data_of({"tune", "tiny.toml", "--plan"})["kernels"].size());
  }

  std::unique_ptr<Process> agent(const std::string& name, const std::string& lease = "2",
                                 Arguments more = {}) const {
    Arguments all = {"agent",   url_,  "--node",  name,
                     "--lease", lease, "--spool", path(name + ".db")};
    all.insert(all.end(), more.begin(), more.end());
    return std::make_unique<Process>(launch(all));
  }
  std::unique_ptr<Process> tune() const {
    return std::make_unique<Process>(launch({"tune", "tiny.toml", "--fleet", url_}));
  }

  Json fleet() const { return data_of({"fleet", url_}); }
  Json agent_of(const std::string& name) const {
    const Json all = fleet();
    for (const Json& a : all["agents"]) {
      if (a["node"] == name) return a;
    }
    return Json::object();
  }
  bool await(const std::function<bool()>& is_so, double limit_s = 30) const {
    const auto end = Clock::now() + std::chrono::duration<double>(limit_s);
    while (Clock::now() < end) {
      if (is_so()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
  bool await_rows(const std::string& name, int count) const {
    return await([&] { return agent_of(name).value("measured", 0) >= count; });
  }

  std::int64_t count(const std::string& query) const {
    return std::stoll(server_->value(url_, query));
  }
  // Every trial once, none left, nothing damaged.
  void expect_whole() const {
    EXPECT_EQ(count("SELECT count(*) FROM halmark.entry WHERE kind = 'measurement'"), trials_);
    EXPECT_EQ(count("SELECT count(*) FROM (SELECT DISTINCT key, body::json->>'round' FROM "
                    "halmark.entry WHERE kind = 'measurement') AS trial"),
              trials_);
    EXPECT_EQ(count("SELECT count(*) FROM halmark.unit WHERE state <> 'done'"), 0);
    EXPECT_TRUE(data_of({"verify", url_})["findings"].empty());
  }
  static void expect_front(const Outcome& o) {
    EXPECT_TRUE(o.exit_code == 0 || o.exit_code == 4) << o.exit_code << o.err;
    EXPECT_THAT(o.out, HasSubstr("on the front"));
  }
  static void end(Process& agent) {
    agent.signal(SIGTERM);
    EXPECT_EQ(agent.wait().exit_code, 143);
  }

  test::PostgresServer* server_ = nullptr;
  std::string url_;
  std::int64_t trials_ = 0;
};

TEST_F(Fleet, an_agent_measures_what_tune_asks_for_and_its_run_is_reported) {
  const auto one = agent("one");
  const Outcome o = tune()->wait();
  expect_front(o);
  expect_whole();
  const Json again = data_of({"tune", "tiny.toml", "--fleet", url_});
  EXPECT_EQ(again["front"].size(), data_of({"report", "--db", url_})["front"].size());
  EXPECT_EQ(count("SELECT count(*) FROM halmark.run"), 1);
  end(*one);
  EXPECT_EQ(agent_of("one")["state"], "left");
}

TEST_F(Fleet, two_commands_on_one_sweep_measure_each_case_once) {
  const auto first = tune(), second = tune();
  const auto one = agent("one"), two = agent("two");
  expect_front(first->wait());
  expect_front(second->wait());
  expect_whole();
  EXPECT_EQ(count("SELECT count(*) FROM halmark.run"), 1);
  EXPECT_EQ(count("SELECT sum(measured) FROM halmark.agent"), trials_);
}

TEST_F(Fleet, a_killed_agents_units_go_to_the_other) {
  const auto waiting = tune();
  const auto dies = agent("dies");
  ASSERT_TRUE(await_rows("dies", 1));
  dies->signal_group(SIGKILL);
  const auto lives = agent("lives");
  expect_front(waiting->wait());
  expect_whole();
  EXPECT_GE(agent_of("dies")["measured"], 1);
  EXPECT_TRUE(await([&] { return agent_of("dies")["state"] == "silent"; }));
  end(*lives);
}

TEST_F(Fleet, rows_wait_on_the_disk_while_the_server_is_away) {
  const auto waiting = tune();
  const auto one = agent("one");
  ASSERT_TRUE(await_rows("one", 1));
  server_->kill_now();
  EXPECT_TRUE(one->await_lines("rows go to", 1)) << one->err();
  server_->start_again();
  EXPECT_TRUE(one->await_lines("the server is back", 1)) << one->err();
  expect_front(waiting->wait());
  expect_whole();
  EXPECT_EQ(count("SELECT sum(lost) FROM halmark.agent"), 0);
  end(*one);
}

TEST_F(Fleet, tune_that_is_killed_goes_on_with_what_its_agents_did) {
  const auto one = agent("one");
  auto killed = tune();
  ASSERT_TRUE(await_rows("one", 2));
  killed->signal_group(SIGKILL);
  killed->wait();
  const Outcome o = tune()->wait();
  expect_front(o);
  expect_whole();
  EXPECT_EQ(count("SELECT count(*) FROM halmark.run"), 1);
  end(*one);
}

TEST_F(Fleet, an_interrupted_agent_hands_its_units_back_at_once) {
  const auto waiting = tune();
  const auto leaves = agent("leaves", "600");
  ASSERT_TRUE(await_rows("leaves", 1));
  leaves->signal(SIGTERM);
  EXPECT_EQ(leaves->wait().exit_code, 143);
  const auto stays = agent("stays", "600");
  expect_front(waiting->wait());
  expect_whole();
  end(*stays);
}

TEST_F(Fleet, says_why_nobody_takes_what_waits) {
  const auto waiting = tune();
  EXPECT_TRUE(waiting->await_lines("no agent is there", 1)) << waiting->err();
  EXPECT_THAT(fleet()["runs"][0]["waits_for"].get<std::string>(), HasSubstr("no agent is there"));
  waiting->signal(SIGINT);
  EXPECT_EQ(waiting->wait().exit_code, 130);
}

TEST_F(Fleet, an_agent_without_work_leaves_when_it_is_told_to) {
  const auto idle = agent("idle", "2", {"--idle", "1"});
  const Outcome o = idle->wait();
  EXPECT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("0 rows measured"));
}

TEST_F(Fleet, places_that_are_no_shared_database_are_refused_in_one_line) {
  const Outcome file = halmark({"tune", "tiny.toml", "--fleet", "results.db"});
  EXPECT_EQ(file.exit_code, 2) << file.err;
  EXPECT_TRUE(is_one_line(file.err)) << file.err;
  for (const char* place : {"results.db", "mysql://h/d"}) {
    for (const char* command : {"agent", "fleet"}) {
      const Outcome o = halmark({command, place});
      EXPECT_EQ(o.exit_code, 2) << command << ' ' << place << o.err;
      EXPECT_TRUE(is_one_line(o.err)) << o.err;
    }
  }
  EXPECT_EQ(halmark({"launch", "results.db", "--slurm", "2", "--print"}).exit_code, 2);
  const Outcome nobody = halmark({"agent", "postgresql://nobody@127.0.0.1:9/none"});
  EXPECT_EQ(nobody.exit_code, 1) << nobody.err;
  EXPECT_THAT(nobody.err, HasSubstr("cannot be reached"));
  const Outcome password = halmark({"launch", "postgresql://u:secret@h/d", "--slurm", "2"});
  EXPECT_EQ(password.exit_code, 2) << password.err;
  EXPECT_THAT(password.err, testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace halmark::integration
