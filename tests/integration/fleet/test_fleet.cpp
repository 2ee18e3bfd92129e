// `halmark tune --fleet`, `agent` and `fleet` over a PostgreSQL server of this process: the same
// rows as on one machine, whoever is lost meanwhile.
#include "fleet_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Fleet : public FleetTest {};

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
  const auto early = tune();  // nobody told yet of any machine
  EXPECT_TRUE(early->await_lines("waiting to plan: no agent is there", 1)) << early->err();
  early->signal(SIGINT);
  EXPECT_EQ(early->wait().exit_code, 130);
  EXPECT_EQ(halmark({"tune", "tiny.toml", "--plan", "--fleet", url_}).exit_code, 2);
  agent("left", "2", {"--idle", "1"})->wait();
  const auto waiting = tune();
  EXPECT_TRUE(waiting->await_lines("no agent is there: start", 1)) << waiting->err();
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
