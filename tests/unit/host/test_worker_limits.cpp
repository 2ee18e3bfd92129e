// Which limit a request runs under, and how a worker's end reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <functional>

#include "scripted_client.hpp"

namespace halmark {
namespace {

using test::load_failure;
using test::scripted;
using test::some_stage;
using test::start;
using testing::EndsWith;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

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

}  // namespace
}  // namespace halmark
