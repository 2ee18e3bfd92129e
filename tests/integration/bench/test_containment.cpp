// What the user is promised of a plugin that hangs, devours memory or leaves daemons, and of a
// command or a worker that somebody kills, through the program.
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/integration/running_processes.hpp"

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

class Containment : public HalmarkTest {
 protected:
  Arguments bench(Arguments more = {}) const {
    Arguments out = {"bench",   "--op", "gemm",       "--params", "m=8,n=256,k=256",
                     "--dtype", "f32",  "--sets",     "1",        "--backend",
                     "fake",    "--db", path("a.db"), "--json"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  void script(const std::string& text) { base_.environment["HALMARK_FAKE_SCRIPT"] = text; }

  // Processes whose environment names this test's folder and that are not the test's own.
  std::vector<pid_t> ours() const {
    std::vector<pid_t> out;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      if (text.find(path("daemon")) != std::string::npos) out.push_back(std::stoi(name));
    }
    return out;
  }
  // How long a command takes here, on this machine as it is, to the daemon of its plugin.
  int ms_to_daemon() const {
    const auto begin = Clock::now();
    Process process(launch(bench({"--no-store"})));
    while (!fs::exists(path("daemon")) && Clock::now() < begin + std::chrono::seconds(30)) {
      ::poll(nullptr, 0, 1);
    }
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    process.signal(SIGKILL);
    EXPECT_EQ(survivors(), 0);
    return static_cast<int>(passed.count()) + 1;
  }
  // Ended here too, so that a failure leaves nothing.
  int survivors() const {
    const auto give_up = Clock::now() + std::chrono::seconds(10);
    while (!ours().empty() && Clock::now() < give_up) ::poll(nullptr, 0, 5);
    const std::vector<pid_t> left = ours();
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    return static_cast<int>(left.size());
  }
};

std::string name_of(pid_t pid) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
  return name;
}

// The first process below `root` with this name; 0 when none comes in time.
pid_t await_below(pid_t root, const std::string& name) {
  const auto give_up = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < give_up) {
    for (const RunningProcess& p : descendants_of(root)) {
      if (name_of(p.pid) == name) return p.pid;
    }
    ::poll(nullptr, 0, 1);
  }
  return 0;
}

TEST_F(Containment, a_command_that_is_killed_at_any_instant_leaves_no_process) {
  script("escape=prepare;pid_file=" + path("daemon"));
  const char* more = std::getenv("HALMARK_KILLS");
  const int kills = more != nullptr ? std::atoi(more) : 12;
  std::mt19937 random(39);
  int left = 0, with_daemon = 0;
  const int window_ms = 3 * ms_to_daemon();
  for (int i = 0; i < kills; ++i) {
    fs::remove(path("daemon"));
    Process process(launch(bench({"--no-store"})));
    ::poll(nullptr, 0, static_cast<int>(random() % static_cast<unsigned>(window_ms)));
    process.signal(SIGKILL);
    with_daemon += fs::exists(path("daemon")) ? 1 : 0;
    left += survivors();
  }
  EXPECT_EQ(left, 0);
  EXPECT_GT(with_daemon, 0) << "no plugin had started a daemon: the test says nothing";
}

// As `pkill -9 halmark` does: the guards are gone too.
TEST_F(Containment, what_a_kill_of_everything_leaves_is_ended_by_the_next_command) {
  script("escape=prepare;hang=enqueue;pid_file=" + path("daemon"));
  Process process(launch(bench({"--no-store"})));
  const auto give_up = Clock::now() + std::chrono::seconds(30);
  while (!fs::exists(path("daemon")) && Clock::now() < give_up) ::poll(nullptr, 0, 1);
  ASSERT_TRUE(fs::exists(path("daemon")));
  const pid_t guard = await_below(process.pid(), "halmark-guard");
  ASSERT_GT(guard, 0);
  process.signal(SIGSTOP);  // so that it cannot act on the loss of the guard
  ::kill(guard, SIGKILL);
  process.signal(SIGKILL);
  script("");
  EXPECT_EQ(halmark({"doctor"}).exit_code, 0);
  EXPECT_EQ(survivors(), 0);
}

TEST_F(Containment, a_worker_that_somebody_kills_is_replaced_and_not_called_out_of_memory) {
  // The first worker that prepares waits for its end; the next one works.
  script("hang=prepare;once_file=" + path("waits"));
  Process process(launch(bench({"--rounds", "1"})));
  const auto give_up = Clock::now() + std::chrono::seconds(30);
  while (!fs::exists(path("waits")) && Clock::now() < give_up) ::poll(nullptr, 0, 1);
  const pid_t worker = await_below(process.pid(), "halmark-worker");
  ASSERT_GT(worker, 0);
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  const Outcome o = process.wait();
  EXPECT_THAT(o.exit_code, testing::AnyOf(0, 4)) << "4: a row that neighbours spoiled: " << o.err;
  EXPECT_EQ(sql_count(path("a.db"),
                      "SELECT count(*) FROM entry WHERE kind = 'measurement' AND "
                      "json_extract(body, '$.duration_ns_median') > 0 AND body LIKE "
                      "'%worker_lost in create: the worker was killed from outside (SIGKILL)%'"),
            1)
      << sql(path("a.db"), "SELECT body FROM entry WHERE kind = 'measurement'");
}

TEST_F(Containment, every_worker_has_a_limit_of_memory_and_the_user_may_set_it) {
  script("devour=prepare;devour_bytes=3000000000");
  const Outcome o = halmark(bench({"--rounds", "1", "--worker-memory", "512MiB"}));
  EXPECT_EQ(o.exit_code, 4) << o.out << o.err;
  const Json row = envelope_of(o.out)["data"]["rows"][0];
  EXPECT_EQ(row["status"], "out_of_memory") << row;
  EXPECT_THAT(halmark({"doctor"}).out,
              HasSubstr("what this run may use, shared by workers at once"));
  EXPECT_THAT(halmark({"doctor", "--worker-memory", "1GiB"}).out, HasSubstr("1024 MiB"));
  const Outcome bad = halmark({"doctor", "--worker-memory", "8"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_TRUE(is_one_line(bad.err));
}

TEST_F(Containment, a_hang_costs_its_limit_once_in_all_rounds) {
  script("hang=prepare");
  const auto begin = Clock::now();
  const Outcome o = halmark(bench({"--rounds", "4", "--phase-limit", "create=5"}));
  const double taken_s = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_EQ(o.exit_code, 4) << o.out << o.err;
  EXPECT_LT(taken_s, 3 * 5.0) << "the limit of 5 s was paid in all four rounds";
  EXPECT_EQ(envelope_of(o.out)["data"]["rows"][0]["status"], "timed_out");
  const auto with = [&](const std::string& status) {
    return sql_count(path("a.db"),
                     "SELECT count(*) FROM entry WHERE kind = 'measurement' AND "
                     "json_extract(body, '$.status') = '" +
                         status + "'");
  };
  EXPECT_EQ(with("timed_out"), 1);
  EXPECT_EQ(with("refused"), 3);
  EXPECT_THAT(sql(path("a.db"), "SELECT body FROM entry WHERE body LIKE '%not tried again%'"),
              HasSubstr("hung in create in round 0"));
}

TEST_F(Containment, a_device_that_hangs_when_it_is_opened_is_opened_once) {
  script("hang=open");
  Arguments arguments = bench({"--rounds", "3", "--phase-limit", "open=5"});
  arguments[4] = "m=[8,16,32],n=256,k=256";
  const auto begin = Clock::now();
  const Outcome o = halmark(arguments);
  const double taken_s = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_EQ(o.exit_code, 4) << o.out << o.err;
  EXPECT_LT(taken_s, 3 * 5.0) << "nine trials, and one hang of 5 s";
}

}  // namespace
}  // namespace halmark::integration
