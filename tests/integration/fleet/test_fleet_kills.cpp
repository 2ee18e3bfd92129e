// SIGKILLs at random instants of agents and of their workers, while a sweep waits for them: rows
// that the server has stay as they were, no trial is stored twice, no process is left, and whoever
// is started again ends the sweep. HALMARK_KILLS asks for more than five.
#include <poll.h>

#include <cstdlib>
#include <random>

#include "tests/integration/fleet/fleet_fixture.hpp"
#include "tests/integration/running_processes.hpp"

namespace halmark::integration {
namespace {

int agent_kills_wanted() {
  const char* text = std::getenv("HALMARK_KILLS");
  return text != nullptr ? std::atoi(text) : 5;
}

class FleetKills : public FleetTest {
 protected:
  // 0 while nobody has made the tables.
  std::int64_t seen(const std::string& query) const {
    const std::string value = server_->value(url_, query);
    return value.empty() ? 0 : std::stoll(value);
  }
  std::int64_t last_row() const { return seen("SELECT coalesce(max(id), 0) FROM halmark.entry"); }
  std::string rows(std::int64_t up_to) const {
    return server_->value(url_,
                          "SELECT md5(string_agg(concat_ws(' ', id, run, checksum, body), ' ' "
                          "ORDER BY id)) FROM halmark.entry WHERE id <= " +
                              std::to_string(up_to));
  }
  std::int64_t stored() const {
    return seen("SELECT count(*) FROM halmark.entry WHERE kind = 'measurement'");
  }
  std::int64_t doubled() const {
    return seen(
        "SELECT count(*) - count(DISTINCT (key, body::json->>'round')) FROM halmark.entry "
        "WHERE kind = 'measurement'");
  }

  void begin_sweep() {
    url_ = server_->database();
    waiting_ = tune();
  }
  void end_sweep() {
    expect_front(waiting_->wait());
    expect_whole();
  }

  // The instant lies anywhere in the life of an agent that does the whole sweep.
  void wait_at_random() {
    std::uniform_int_distribution<int> instant(0, static_cast<int>(life_.count()));
    poll(nullptr, 0, instant(random_));
  }
  // What was started below an agent ends with it.
  void kill_agent(std::unique_ptr<Process>& agent) {
    const std::vector<RunningProcess> below = descendants_of(agent->pid());
    agent->signal(SIGKILL);
    agent->wait();
    agent.reset();
    EXPECT_TRUE(await([&] { return std::ranges::none_of(below, is_running); }, 10));
    ++agents_;
  }
  void kill_a_worker(Process& agent) {
    const std::vector<RunningProcess> below = descendants_of(agent.pid());
    if (!below.empty() && kill(below[random_() % below.size()].pid, SIGKILL) == 0) ++workers_;
  }

  std::mt19937 random_{20261128};
  std::unique_ptr<Process> waiting_;
  std::chrono::milliseconds life_{};
  int agents_ = 0, workers_ = 0;
};

TEST_F(FleetKills, of_agents_and_workers_lose_no_row_and_double_none) {
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000";
  begin_sweep();
  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<Process> one = agent("one", "1");
  end_sweep();
  life_ = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  end(*one);
  one.reset();
  begin_sweep();
  while (agents_ + workers_ < agent_kills_wanted() && !HasFailure()) {
    const std::int64_t last = last_row();
    const std::string before = rows(last);
    if (!one) one = agent("one", "1");
    wait_at_random();
    if (workers_ <= agents_) {  // in turns: none may be there to be hit
      kill_a_worker(*one);
    } else {
      kill_agent(one);
    }
    EXPECT_EQ(rows(last), before) << "a row that was there is lost or altered";
    EXPECT_EQ(doubled(), 0) << "a trial is stored twice";
    if (stored() < trials_) continue;
    end_sweep();
    if (one) end(*std::exchange(one, nullptr));
    begin_sweep();
  }
  EXPECT_EQ(agents_, agent_kills_wanted() / 2);
  EXPECT_EQ(workers_, agent_kills_wanted() - agents_);
  RecordProperty("kills_of_agents", agents_);
  RecordProperty("kills_of_workers", workers_);
  if (!one) one = agent("one", "1");
  end_sweep();
  end(*one);
}

}  // namespace
}  // namespace halmark::integration
