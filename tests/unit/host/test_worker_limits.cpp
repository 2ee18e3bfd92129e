// Which limit a request runs under, and how a worker's end reads.
// What a worker sees of its parent's environment, and what measuring adds to it.
#include <gmock/gmock.h>

#include <signal.h>
#include <sys/resource.h>
#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "host/process/contained_process.hpp"
#include "host/process/interrupt.hpp"
#include "scripted_client.hpp"
#include "tests/scoped_environment.hpp"

namespace halmark {
namespace {

using Clock = std::chrono::steady_clock;
using Variable = test::ScopedVariable;
using test::load_failure;
using test::scripted;
using test::some_stage;
using test::start;
using testing::EndsWith;
using testing::ExitedWithCode;
using testing::HasSubstr;

struct Hang {
  const char* phase;
  double limit_s;
  std::function<void(WorkerLimits&)> set;
  std::function<WorkerFailure(Worker&)> ask;
};

// Never earlier than its limit; later only as far as the machine is busy, so the best of some.
void expect_limit(const Hang& hang) {
  double best_s = 1e9;
  for (int attempt = 0; attempt < 5 && best_s > 1.2 * hang.limit_s; ++attempt) {
    WorkerOptions options = scripted(std::string("hang_") + hang.phase);
    options.limits = {60, 60, 60, 60, 60, 60, 60, 60, 60, 60, 60};
    hang.set(options.limits);
    auto worker = start(options);
    const auto begin = Clock::now();
    const WorkerFailure failure = hang.ask(*worker);
    const double waited_s = std::chrono::duration<double>(Clock::now() - begin).count();
    EXPECT_EQ(failure.status, Status::timed_out) << failure.reason;
    EXPECT_EQ(failure.phase, hang.phase);
    EXPECT_GE(waited_s, hang.limit_s) << hang.phase;
    best_s = std::min(best_s, waited_s);
  }
  EXPECT_LE(best_s, 1.2 * hang.limit_s) << hang.phase;
}

TEST(WorkerLimits, of_a_sample_are_its_wall_cap_its_warm_up_and_a_margin) {
  protocol::SampleRequest request;
  request.wall_cap_s = 0.2;
  request.rule.warmup_cap_s = 0.15;
  expect_limit({"sample", 0.55, [](WorkerLimits& l) { l.sample_margin_s = 0.2; },
                [&](Worker& w) { return w.sample(request).failure; }});
}

TEST(WorkerLimits, of_a_sequence_are_its_wall_cap_and_a_margin) {
  protocol::SequenceRequest request;
  request.wall_cap_s = 0.25;
  expect_limit({"sequence", 0.45, [](WorkerLimits& l) { l.sample_margin_s = 0.2; },
                [&](Worker& w) { return w.sequence(request).failure; }});
}

TEST(WorkerLimits, of_a_probe_are_its_windows_and_a_margin) {
  protocol::ProbeRequest request;
  request.windows = 20;
  request.window_ms = 30;
  expect_limit({"probe", 0.62, [](WorkerLimits& l) { l.probe_margin_s = 0.02; },
                [&](Worker& w) { return w.probe(request).failure; }});
}

TEST(WorkerLimits, are_one_for_each_phase) {
  const auto stage = [](Worker& w) { return w.stage(some_stage()).failure; };
  const struct {
    const char* phase;
    double WorkerLimits::*limit;
    std::function<WorkerFailure(Worker&)> ask;
  } phases[] = {
      {"load", &WorkerLimits::load_s, [](Worker& w) { return w.load("x").failure; }},
      {"open", &WorkerLimits::open_s, [](Worker& w) { return w.open(0).failure; }},
      {"create", &WorkerLimits::create_s, stage},
      {"pack", &WorkerLimits::pack_s, stage},
      {"first", &WorkerLimits::first_s, stage},
      {"join", &WorkerLimits::join_s, [](Worker& w) { return w.join({}).failure; }},
      {"close", &WorkerLimits::close_s, [](Worker& w) { return w.close().failure; }},
      {"drop", &WorkerLimits::query_s, [](Worker& w) { return w.drop(1).failure; }},
  };
  for (const auto& [phase, limit, ask] : phases) {
    expect_limit({phase, 0.3, [&, of = limit](WorkerLimits& l) { l.*of = 0.3; }, ask});
  }
}

std::string core_limit_of(const Worker& worker) {
  std::ifstream file("/proc/" + std::to_string(worker.pid()) + "/limits");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Max core file size")) return line;
  }
  return "";
}

TEST(WorkerLimits, of_a_core_is_nothing_unless_it_is_to_be_kept) {
  rlimit core{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &core), 0);
  WorkerOptions options = scripted("");
  const std::string none = core_limit_of(*start(options));
  EXPECT_NE(none.find(" 0 "), std::string::npos) << none;
  options.keep_core = true;
  const auto keeping = start(options);
  if (core.rlim_max == 0) GTEST_SKIP() << "this process may not dump either";
  EXPECT_NE(core_limit_of(*keeping), none);
}

// A worker that crashes ends it at once, one that hangs when its limit is over.
TEST(WorkerLimits, end_a_wait_for_several_workers) {
  for (const auto& [fault, status] :
       {std::pair("hang_create", Status::timed_out), {"crash_create", Status::crashed}}) {
    WorkerOptions options = scripted(fault);
    options.limits.create_s = 0.3;
    if (status == Status::crashed) options.limits.create_s = 60;
    auto failing = start(options), healthy = start(scripted(""));
    failing->begin_stage(some_stage());
    healthy->begin_stage(some_stage());
    const std::vector<Worker*> both{healthy.get(), failing.get()};
    int told = 0;
    const auto begin = Clock::now();
    Worker::await_all(both, [&] { ++told; });
    if (status == Status::timed_out) {
      EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(300));
    }
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(60));
    EXPECT_EQ(told, 1);
    EXPECT_EQ(failing->finish_stage().failure.status, status);
    EXPECT_TRUE(healthy->finish_stage());
  }
}

TEST(WorkerLimits, tell_once_however_many_workers_fail) {
  std::vector<std::unique_ptr<Worker>> started;
  std::vector<Worker*> all;
  for (const double limit_s : {0.2, 0.5}) {
    WorkerOptions options = scripted("hang_create");
    options.limits.create_s = limit_s;
    started.push_back(start(options));
    started.back()->begin_stage(some_stage());
    all.push_back(started.back().get());
  }
  int told = 0;
  Worker::await_all(all, [&] { ++told; });
  EXPECT_EQ(told, 1);
}

TEST(WorkerLimits, give_a_worker_half_a_second_to_leave) {
  double best_s = 1e9;
  for (int attempt = 0; attempt < 5 && best_s > 0.65; ++attempt) {
    auto worker = start(scripted("hang_quit"));
    const auto begin = Clock::now();
    worker->quit();
    const double waited_s = std::chrono::duration<double>(Clock::now() - begin).count();
    EXPECT_GE(waited_s, 0.5);
    best_s = std::min(best_s, waited_s);
  }
  EXPECT_LE(best_s, 0.65);
}

TEST(WorkerEnd, by_a_fault_is_a_crash_and_by_another_signal_a_loss) {
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS}) {
    const auto failure = load_failure(scripted("raise_load_" + std::to_string(fault)));
    EXPECT_EQ(failure.status, Status::crashed) << fault;
    EXPECT_EQ(failure.signal, fault);
    EXPECT_THAT(failure.reason, HasSubstr("the worker died of signal " + std::to_string(fault)));
    EXPECT_EQ(failure.reason.find("instruction set") != std::string::npos, fault == SIGILL);
  }
  const auto ended = load_failure(scripted("raise_load_" + std::to_string(SIGTERM)));
  EXPECT_EQ(ended.status, Status::worker_lost);
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_THAT(ended.reason, HasSubstr("left without an answer, signal 15"));
  const auto killed = load_failure(scripted("raise_load_" + std::to_string(SIGKILL)));
  EXPECT_EQ(killed.status, Status::worker_lost) << "nothing was counted as out of memory";
  EXPECT_TRUE(killed.reason.starts_with("the worker was killed from outside (SIGKILL): "))
      << killed.reason;
}

TEST(WorkerEnd, names_the_rank_that_mpirun_noticed_last) {
  WorkerOptions options = scripted("crash_load");
  const auto reason_with = [&](const std::string& said) {
    options.environment["HALMARK_FAKE_SAY"] = said;
    return load_failure(options).reason;
  };
  EXPECT_THAT(reason_with("mpirun noticed that process rank 3 with PID 4 on node x\n"
                          "prterun noticed that process rank 12 with PID 5 on node x\n"),
              EndsWith(") (rank 12)"));
  EXPECT_THAT(reason_with("mpirun noticed that process rank 7"), EndsWith(") (rank 7)"));
  EXPECT_THAT(reason_with("nothing was noticed"), EndsWith("(Segmentation fault)"));
}

// Whatever stands before or behind it in the caller's environment.
TEST(WorkerEnvironment, lets_through_what_is_listed_and_nothing_else) {
  const std::pair<const char*, const char*> listed[] = {
      {"HOME", "/h=1"},          {"OMPI_MCA_btl", "tcp"}, {"CUDA_VISIBLE_DEVICES", ""},
      {"HALMARK_FAKE_LIE", "1"}, {"OMP_STACKSIZE", "9"},  {"POCL_CACHE_DIR", "/c"}};
  const char* const others[] = {"AAA_SECRET",          "AWS_SECRET_ACCESS_KEY", "XPATH", "OMP",
                                "HALMARK_PLUGIN_PATH", "LD_PRELOAD_NOT",        "ZZZ"};
  std::deque<Variable> set;
  for (const auto& [name, value] : listed) set.emplace_back(name, value);
  for (const char* name : others) set.emplace_back(name, "x");
  const Environment seen = worker_environment({}, {});
  for (const auto& [name, value] : listed) EXPECT_EQ(seen.at(name), value);
  for (const char* name : others) EXPECT_FALSE(seen.contains(name)) << name;
}

TEST(WorkerEnvironment, makes_threads_spin_where_nobody_says_otherwise) {
  const std::pair<const char*, const char*> own[] = {{"OMP_WAIT_POLICY", "active"},
                                                     {"GOMP_SPINCOUNT", "300000"},
                                                     {"OMP_PROC_BIND", "close"},
                                                     {"OMP_DYNAMIC", "false"},
                                                     {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  std::deque<Variable> absent;
  for (const auto& [name, value] : own) absent.emplace_back(name);
  const Variable threads("OMP_NUM_THREADS");
  const Environment seen = worker_environment({}, {});
  for (const auto& [name, value] : own) EXPECT_EQ(seen.at(name), value);
  EXPECT_FALSE(seen.contains("OMP_NUM_THREADS")) << "no shard, no number";
  const Variable passive("OMP_WAIT_POLICY", "passive");
  EXPECT_EQ(worker_environment({}, {}).at("OMP_WAIT_POLICY"), "passive");
}

TEST(WorkerEnvironment, has_as_many_threads_as_its_shard_and_what_is_named_last) {
  const Variable threads("OMP_NUM_THREADS", "64"), pocl("POCL_MAX_PTHREAD_COUNT"),
      units("POCL_CPU_MAX_CU_COUNT", "9");
  const CpuSet shard{.cpus = {3, 5, 8}};
  const Environment seen = worker_environment(shard, {});
  EXPECT_EQ(seen.at("OMP_NUM_THREADS"), "3") << "the shard decides, not the shell";
  EXPECT_EQ(seen.at("POCL_MAX_PTHREAD_COUNT"), "3");
  EXPECT_EQ(seen.at("POCL_CPU_MAX_CU_COUNT"), "9");
  const Variable absent("POCL_CPU_MAX_CU_COUNT");
  EXPECT_EQ(worker_environment(shard, {}).at("POCL_CPU_MAX_CU_COUNT"), "3");
  const Environment named =
      worker_environment(shard, {{"OMP_NUM_THREADS", "2"}, {"MY_OWN", "value"}});
  EXPECT_EQ(named.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(named.at("MY_OWN"), "value");
}

// The whole program anew, up to what dies: a fork would have the signals and threads of earlier
// cases.
class InterruptsDeathTest : public testing::Test {
 protected:
  InterruptsDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  ~InterruptsDeathTest() override { GTEST_FLAG_SET(death_test_style, style_); }
  const std::string style_ = GTEST_FLAG_GET(death_test_style);
};

TEST_F(InterruptsDeathTest, the_first_ends_the_process_where_nothing_holds_it) {
  EXPECT_EXIT((watch_interrupts(), ::raise(SIGINT), ::_exit(0)), ExitedWithCode(130),
              "halmark: interrupted");
  EXPECT_EXIT((watch_interrupts(), ::raise(SIGTERM), ::_exit(0)), ExitedWithCode(143),
              "halmark: interrupted");
  EXPECT_EXIT((watch_interrupts(), ::raise(SIGHUP), ::_exit(0)), ExitedWithCode(143),
              "halmark: interrupted");
}

int held_after(std::initializer_list<int> signals) {
  watch_interrupts();
  const HeldInterrupts outer;
  { const HeldInterrupts inner; }
  if (interrupted() || interrupts().stop_requested()) return 1;
  for (const int signal : signals) ::raise(signal);
  return interrupted() && interrupts().stop_requested()
             ? 50 + static_cast<int>(interrupt_exit_code())
             : 2;
}

TEST_F(InterruptsDeathTest, who_holds_them_is_told_and_the_second_leaves) {
  EXPECT_EXIT(::_exit(held_after({SIGINT})), ExitedWithCode(50 + 130), "^$");
  EXPECT_EXIT(::_exit(held_after({SIGTERM})), ExitedWithCode(50 + 143), "^$");
  EXPECT_EXIT(::_exit(held_after({SIGINT, SIGTERM})), ExitedWithCode(143), "^$");
  EXPECT_EXIT(::_exit(held_after({SIGTERM, SIGINT})), ExitedWithCode(130), "^$");
}

}  // namespace
}  // namespace halmark
