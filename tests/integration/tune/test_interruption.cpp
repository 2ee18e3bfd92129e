// Killed or interrupted at any moment: what was told is kept, and the same command goes on.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/integration/running_processes.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

class Interruption : public HalmarkTest {
 protected:
  Interruption() {
    tiny_sweep("fake", "shards = [1]");
    // Long enough that a signal can arrive inside a call, short enough for five runs.
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
  }
  Launch tune() const { return launch({"tune", "tiny.toml", "--db", "r.db"}); }
  std::int64_t measurements() const {
    if (!fs::exists(path("r.db"))) return 0;
    return sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'measurement'");
  }
  void expect_intact() const {
    const Json check = data_of({"verify", "r.db"});
    EXPECT_TRUE(check["findings"].empty()) << check.dump(1);
  }
  void expect_complete() const {
    const auto kernels = data_of({"tune", "tiny.toml", "--plan"})["kernels"].size();
    EXPECT_EQ(measurements(), 2 * static_cast<std::int64_t>(kernels));
    // Nothing was measured twice: one row per case and round.
    EXPECT_EQ(sql_count(path("r.db"),
                        "SELECT count(*) FROM (SELECT DISTINCT key, json_extract(body, '$.round') "
                        "FROM entry WHERE kind = 'measurement')"),
              measurements());
    // Neighbours of this machine can spoil a row, which then has its label: none was lost.
    EXPECT_EQ(sql_count(path("r.db"),
                        "SELECT count(*) FROM entry WHERE kind = 'measurement' AND "
                        "NOT json_extract(body, '$.duration_ns_median') > 0"),
              0);
  }
  // 4: rows that neighbours of this machine spoiled.
  static testing::Matcher<int> is_finished() { return testing::AnyOf(0, 4); }
};

TEST_F(Interruption, five_kills_lose_nothing) {
  std::mt19937 random(20260117);
  for (int kill = 0; kill < 5; ++kill) {
    const std::int64_t before = measurements();
    Process process(tune());
    const auto line = static_cast<std::size_t>(before) + 1 + random() % 6;
    ASSERT_TRUE(process.await_lines("tune ", line)) << process.err();
    process.signal(SIGKILL);
    const Outcome o = process.wait();
    EXPECT_EQ(o.signal, SIGKILL);
    EXPECT_GE(told_trials(o.err), static_cast<int>(line) - 1);
    EXPECT_GE(measurements(), told_trials(o.err)) << "a told row is missing after kill " << kill;
    EXPECT_GT(measurements(), before);
    expect_intact();
  }
  const Outcome last = run(tune());
  EXPECT_THAT(last.exit_code, is_finished()) << last.err;
  expect_intact();
  expect_complete();
}

TEST_F(Interruption, a_killed_run_leaves_no_process_behind) {
  Process process(tune());
  ASSERT_TRUE(process.await_lines("tune ", 3));
  const std::vector<RunningProcess> workers = descendants_of(process.pid());
  ASSERT_FALSE(workers.empty());
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
  // Workers notice by themselves; nobody is left to reap them.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto is_any_left = [&] { return std::ranges::any_of(workers, is_running); };
  while (is_any_left() && std::chrono::steady_clock::now() < limit) poll(nullptr, 0, 20);
  EXPECT_FALSE(is_any_left());
}

TEST_F(Interruption, sigint_ends_with_130_and_the_same_command_goes_on) {
  Process process(tune());
  ASSERT_TRUE(process.await_lines("tune ", 4));
  process.signal_group(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130) << o.err;
  EXPECT_GE(measurements(), told_trials(o.err));
  EXPECT_LT(measurements(), 50);
  expect_intact();
  const Outcome second = run(tune());
  EXPECT_THAT(second.exit_code, is_finished()) << second.err;
  expect_complete();
}

TEST_F(Interruption, sigterm_ends_with_143) {
  Process process(tune());
  ASSERT_TRUE(process.await_lines("tune ", 2));
  process.signal(SIGTERM);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 143) << o.err;
  expect_intact();
}

TEST_F(Interruption, an_interrupted_run_says_so_in_its_envelope) {
  Process process(launch({"tune", "tiny.toml", "--db", "r.db", "--json"}));
  ASSERT_TRUE(process.await_lines("tune ", 2)) << process.err();
  process.signal(SIGINT);
  const Outcome o = process.wait();
  EXPECT_EQ(o.exit_code, 130);
  const Json e = envelope_of(o.out);
  EXPECT_EQ(e["status"], "interrupted");
  EXPECT_EQ(e["exit_code"], 130);
}

// Its plan was hashed in a layout that is read but no longer written.
TEST_F(Interruption, an_unfinished_run_of_an_earlier_layout_is_kept_and_a_new_one_begins) {
  fs::copy_file(test::in_source("/tests/data/fixtures/interrupted.db"), path("r.db"));
  const std::int64_t before = measurements();
  ASSERT_GT(before, 0);
  std::string sweep = read("tiny.toml");
  const std::string name = "name = \"tiny\"";
  ASSERT_NE(sweep.find(name), std::string::npos) << sweep;
  write("tiny.toml", sweep.replace(sweep.find(name), name.size(), "name = \"dense\""));
  const Outcome first = run(tune()), second = run(tune());
  const std::string line =
      "halmark: run 1 of this sweep was not finished by halmark 0.1.0; it is kept, and a new run "
      "begins\n";
  EXPECT_THAT(first.exit_code, is_finished()) << first.err;
  EXPECT_NE(first.err.find(line), std::string::npos) << first.err;
  EXPECT_EQ(second.err.find(line), std::string::npos) << second.err;
  const std::int64_t kernels =
      static_cast<std::int64_t>(data_of({"tune", "tiny.toml", "--plan"})["kernels"].size());
  EXPECT_EQ(measurements(), before + 2 * kernels);
  expect_intact();
}

}  // namespace
}  // namespace halmark::integration
