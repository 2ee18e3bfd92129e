// SIGKILLs at random instants, of a sweep or of one of its workers, on the fake device and on the
// CPU: what was told is stored and stays as it was, the database stays intact, and the same command
// ends what was begun. Ten of each backend; HALMARK_KILLS asks for more.
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/integration/running_processes.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

int kills_wanted() {
  const char* text = std::getenv("HALMARK_KILLS");
  return text != nullptr ? std::atoi(text) : 5;
}

class ManyKills : public HalmarkTest, public testing::WithParamInterface<std::string> {
 protected:
  ManyKills() {
    // Measured peaks would be most of a run's life.
    if (GetParam() == "cpu") know_peaks();
    tiny_sweep(GetParam(), "shards = [1]");
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=500000;timer=device_event";
    trials_ =
        2 * static_cast<std::int64_t>(data_of({"tune", "tiny.toml", "--plan"})["kernels"].size());
  }

  // A database for each run that came to its end.
  std::string database() const { return "r" + std::to_string(finished_) + ".db"; }
  Launch tune() const { return launch({"tune", "tiny.toml", "--db", database()}); }

  std::int64_t stored() const {
    if (!fs::exists(path(database()))) return 0;
    return sql_count(path(database()), "SELECT count(*) FROM entry WHERE kind = 'measurement'");
  }
  std::int64_t distinct() const {
    return sql_count(path(database()),
                     "SELECT count(*) FROM (SELECT DISTINCT key, json_extract(body, '$.round') "
                     "FROM entry WHERE kind = 'measurement')");
  }

  // 4: rows that neighbours of this machine spoiled.
  static testing::Matcher<int> is_finished() { return testing::AnyOf(0, 4); }

  // The instant lies anywhere in the life of a run.
  void wait_at_random(std::chrono::milliseconds life) {
    std::uniform_int_distribution<int> instant(0, static_cast<int>(life.count()));
    poll(nullptr, 0, instant(random_));
  }

  // All rows up to an id, byte for byte.
  std::string rows(std::int64_t up_to) const {
    if (up_to == 0) return "";
    return sql(path(database()),
               "SELECT group_concat(id || ' ' || run || ' ' || checksum || ' ' || body, '\n') FROM "
               "(SELECT * FROM entry WHERE id <= " +
                   std::to_string(up_to) + " ORDER BY id)");
  }
  std::int64_t last_row() const {
    if (!fs::exists(path(database()))) return 0;
    return sql_count(path(database()), "SELECT coalesce(max(id), 0) FROM entry");
  }

  void expect_nothing_lost(const Outcome& o, std::int64_t last, const std::string& before) {
    EXPECT_GE(stored(), told_trials(o.err)) << "a told row is missing: " << o.err;
    if (!fs::exists(path(database()))) return;
    EXPECT_EQ(rows(last), before) << "a row that was there is lost or altered";
    EXPECT_EQ(distinct(), stored()) << "a trial is stored twice";
    const Json check = data_of({"verify", database()});
    EXPECT_TRUE(check["findings"].empty()) << check.dump(1);
  }

  void note_end(const Outcome& o) {
    if (o.signal != 0 || o.exit_code == 5) return;  // 5: killed while the plugin was asked
    EXPECT_EQ(stored(), trials_);
    ++finished_;
  }

  std::mt19937 random_{20261121};
  std::int64_t trials_ = 0;
  int finished_ = 0;
};

TEST_P(ManyKills, lose_nothing_whoever_is_hit) {
  const auto begin = Clock::now();
  ASSERT_THAT(run(tune()).exit_code, is_finished());
  EXPECT_EQ(stored(), trials_);
  const auto life = std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin);
  ++finished_;
  int parents = 0, workers = 0;
  while (parents + workers < kills_wanted() && !HasFailure()) {
    const std::int64_t last = last_row();
    const std::string before = rows(last);
    Process process(tune());
    wait_at_random(life);
    const std::vector<RunningProcess> below = descendants_of(process.pid());
    const bool hits_worker = random_() % 2 == 0 && !below.empty();
    const pid_t victim = hits_worker ? below[random_() % below.size()].pid : process.pid();
    if (kill(victim, SIGKILL) == 0) ++(hits_worker ? workers : parents);
    const Outcome o = process.wait();
    ASSERT_FALSE(o.timed_out) << o.err;
    // A lost worker is replaced, or its trial is a row that says so; never the end of the run.
    if (o.signal == 0) {
      EXPECT_TRUE(o.exit_code == 0 || o.exit_code == 4 || o.exit_code == 5) << o.err;
    }
    expect_nothing_lost(o, last, before);
    note_end(o);
  }
  EXPECT_GE(parents, kills_wanted() / 8);
  EXPECT_GE(workers, kills_wanted() / 8);
  RecordProperty("kills_of_sweeps", parents);
  RecordProperty("kills_of_workers", workers);
  // Whatever is left open is ended by the same command.
  const Outcome end = run(tune());
  EXPECT_THAT(end.exit_code, is_finished()) << end.err;
  EXPECT_EQ(stored(), trials_);
}

std::vector<std::string> backends() {
#ifdef HALMARK_HAS_CPU
  return {"fake", "cpu"};
#else
  return {"fake"};
#endif
}
INSTANTIATE_TEST_SUITE_P(Backends, ManyKills, testing::ValuesIn(backends()),
                         [](const auto& info) { return test::case_name({info.param}); });

}  // namespace
}  // namespace halmark::integration
