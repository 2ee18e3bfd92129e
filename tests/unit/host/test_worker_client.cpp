#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "host/process/cgroup.hpp"
#include "host/process/descendants.hpp"
#include "scripted_client.hpp"
#include "tests/checkout.hpp"
#include "tests/scoped_environment.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::some_stage;
using test::start;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

WorkerOptions scripted(const std::string& fault) {
  WorkerOptions options = test::scripted(fault);
  options.limits.hello_s = options.limits.load_s = 20;
  return options;
}

bool exists(pid_t pid) { return ::kill(pid, 0) == 0; }

// Where a worker's daemon writes its pid, which is 0 when none came.
struct DaemonPid {
  test::ScratchFolder folder;
  std::string path = folder / "pids";
  pid_t wait() const {
    pid_t daemon = 0;
    const auto give_up = Clock::now() + std::chrono::seconds(20);
    while (daemon == 0 && Clock::now() < give_up) std::ifstream(path) >> daemon;
    return daemon;
  }
};

TEST(WorkerClient, a_trial_runs_from_load_to_drop) {
  auto worker = start(scripted(""));
  EXPECT_TRUE(worker->alive());
  ASSERT_TRUE(worker->load("anything"));
  const auto staged = worker->stage(some_stage());
  ASSERT_TRUE(staged) << staged.failure.reason;
  EXPECT_EQ(staged->kernel, "copy");
  const auto revealed = worker->reveal({1, {0}});
  ASSERT_TRUE(revealed) << revealed.failure.reason;
  const auto bytes = revealed->part(revealed->revealed.parts.at(0));
  ASSERT_EQ(bytes.size(), 128u);
  EXPECT_TRUE(
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{7}; }));
  const auto sampled = worker->sample({.id = 1});
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  ASSERT_EQ(sampled->samples.size(), 10u);
  EXPECT_EQ(sampled->samples[3].begin_ns, 3000);
  EXPECT_EQ(sampled->samples[3].wall_ns, 250);
  EXPECT_EQ(sampled->samples[3].set, 1);
  EXPECT_FALSE(sampled->samples[3].device_ns);
  EXPECT_EQ(sampled->samples[3].label, SampleLabel::clean);
  EXPECT_EQ(sampled->samples[4].label, SampleLabel::disturbed);
  EXPECT_EQ(sampled->measured.stop_rule, protocol::StopReason::count);
  EXPECT_TRUE(worker->drop(1));
  const auto pid = static_cast<pid_t>(worker->pid());
  worker->quit();
  EXPECT_FALSE(worker->alive());
  EXPECT_FALSE(exists(pid));
}

TEST(WorkerClient, the_worker_gets_its_cpus_an_allow_listed_environment_and_no_descriptors) {
  const test::ScopedVariable secret("HALMARK_SECRET", "token");
  const FileDescriptor open_here(::dup(0));
  WorkerOptions options = scripted("");
  options.cpus = CpuSet{{cut(1).front().cpus.front()}};
  const auto plugin = start(options)->load("anything");
  ASSERT_TRUE(plugin);
  EXPECT_THAT(plugin->log, Contains("cpus=1"));
  EXPECT_THAT(plugin->log, Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(plugin->log, Contains("HALMARK_SECRET=(unset)"));
  EXPECT_THAT(plugin->log, Contains(HasSubstr("PATH=/")));
  EXPECT_THAT(plugin->log, Contains("sid=1"));
  EXPECT_THAT(plugin->log, Not(Contains(HasSubstr("open descriptor"))));
}

struct Fault {
  const char* name;
  Status status;
  const char* phase;
  const char* reason;
  int signal;
};

class FaultInStage : public testing::TestWithParam<Fault> {};

TEST_P(FaultInStage, becomes_one_status_with_its_phase) {
  const Fault& fault = GetParam();
  auto worker = start(scripted(fault.name));
  const auto pid = static_cast<pid_t>(worker->pid());
  ASSERT_TRUE(worker->load("anything"));
  const auto staged = worker->stage(some_stage());
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.failure.status, fault.status) << staged.failure.reason;
  EXPECT_EQ(staged.failure.phase, fault.phase);
  EXPECT_EQ(staged.failure.signal, fault.signal);
  EXPECT_THAT(staged.failure.reason, HasSubstr(fault.reason));
  EXPECT_TRUE(staged.failure.worker_is_gone);
  EXPECT_FALSE(worker->alive());
  EXPECT_FALSE(exists(pid));
  const auto again = worker->drop(1);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.failure.status, fault.status);
}

INSTANTIATE_TEST_SUITE_P(
    WorkerClient, FaultInStage,
    testing::Values(Fault{"crash_create", Status::crashed, "create", "signal 11", SIGSEGV},
                    Fault{"crash_first", Status::crashed, "first", "signal 11", SIGSEGV},
                    Fault{"abort_pack", Status::crashed, "pack", "signal 6", SIGABRT},
                    Fault{"exit_first", Status::worker_lost, "first", "exit code 0", 0}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(WorkerClient, a_worker_that_outgrows_its_memory_is_out_of_memory_and_not_crashed) {
  const auto& places = cgroup_places();
  if (places.memory_v1.empty() && !places.has_memory_v2) {
    GTEST_SKIP() << "no writable memory cgroup";
  }
  WorkerOptions options = scripted("fill_memory_create");
  options.limits.memory_bytes = 256 << 20;
  const auto staged = start(options)->stage(some_stage());
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.failure.status, Status::out_of_memory) << staged.failure.reason;
  EXPECT_EQ(staged.failure.phase, "create");
}

class HangInCreate : public testing::TestWithParam<const char*> {};

TEST_P(HangInCreate, is_killed_at_the_limit) {
  WorkerOptions options = scripted(GetParam());
  options.limits.create_s = 0.2;
  auto worker = start(options);
  const auto pid = static_cast<pid_t>(worker->pid());
  const auto begin = Clock::now();
  const auto staged = worker->stage(some_stage());
  const auto waited = Clock::now() - begin;
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.failure.status, Status::timed_out);
  EXPECT_EQ(staged.failure.phase, "create");
  EXPECT_FALSE(exists(pid));
  EXPECT_GE(waited, std::chrono::milliseconds(200));
  EXPECT_LT(waited, std::chrono::milliseconds(200 + 500));
}

INSTANTIATE_TEST_SUITE_P(WorkerClient, HangInCreate,
                         testing::Values("hang_create", "spin_create", "stop_create"),
                         [](const auto& test) { return std::string(test.param); });

TEST(WorkerClient, a_daemon_that_left_its_session_dies_with_the_worker) {
  const DaemonPid pids;
  WorkerOptions options = scripted("daemon_create");
  options.environment["HALMARK_FAKE_PIDS"] = pids.path;
  options.environment["HALMARK_FAKE_MARK"] = "of-this-test";
  auto worker = start(options);
  worker->begin_stage(some_stage());
  const pid_t daemon = pids.wait();
  ASSERT_GT(daemon, 0);
  EXPECT_NE(::getsid(daemon), worker->pid());
  // It is recognised by its environment alone, and by the whole of a mark.
  for (const auto& [mark, is_its] : {std::pair("of-this-test", true), {"of-this", false}}) {
    const auto found = find_descendants(0x7ffffff0, std::string("HALMARK_FAKE_MARK=") + mark);
    EXPECT_EQ(std::ranges::count(found, daemon, &Descendant::pid), is_its);
  }
  EXPECT_TRUE(worker->kill());
  EXPECT_FALSE(exists(daemon));
  EXPECT_FALSE(exists(static_cast<pid_t>(worker->pid())));
  EXPECT_EQ(worker->finish_stage().failure.status, Status::worker_lost);
}

// Without a control group only the sweep stands between a daemon and the next measurement.
TEST(ContainedProcessTest, a_daemon_is_found_without_a_control_group) {
  const DaemonPid pids;
  auto [ours, theirs] = protocol::socket_pair();
  ProcessSpec spec;
  spec.program = test::in_build("/tests/scripted_worker");
  spec.environment = worker_environment(
      {}, {{"HALMARK_FAKE_HOST", "daemon_hello"}, {"HALMARK_FAKE_PIDS", pids.path}});
  spec.protocol_fd = theirs.get();
  spec.use_cgroup = false;
  auto process = ContainedProcess::start(spec);
  protocol::Channel channel(std::move(ours));
  ASSERT_TRUE(channel.send_message(protocol::Type::hello, 1, protocol::Hello{}));
  const pid_t daemon = pids.wait();
  ASSERT_GT(daemon, 0);
  EXPECT_TRUE(process->kill_all());
  EXPECT_FALSE(exists(daemon));
  EXPECT_FALSE(exists(process->pid()));
}

struct BadAnswer {
  const char* name;
  const char* reason;
};

class BadAnswerToLoad : public testing::TestWithParam<BadAnswer> {};

TEST_P(BadAnswerToLoad, loses_the_worker) {
  auto worker = start(scripted(GetParam().name));
  const auto plugin = worker->load("anything");
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.failure.status, Status::worker_lost);
  EXPECT_EQ(plugin.failure.phase, "load");
  EXPECT_THAT(plugin.failure.reason, HasSubstr(GetParam().reason));
  EXPECT_FALSE(worker->alive());
}

INSTANTIATE_TEST_SUITE_P(
    WorkerClient, BadAnswerToLoad,
    testing::Values(BadAnswer{"bad_magic", "magic"}, BadAnswer{"oversized", "limit"},
                    BadAnswer{"unknown_type", "9999"}, BadAnswer{"truncated", "exit code 0"},
                    BadAnswer{"not_json", "JSON"}, BadAnswer{"other_request", "another request"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(WorkerClient, an_unknown_optional_message_is_no_fault) {
  EXPECT_TRUE(start(scripted("optional_type"))->load("anything"));
}

TEST(WorkerClient, a_refusal_or_an_unsupported_case_leaves_the_worker_usable) {
  auto refusing = start(scripted("refuse"));
  const auto refused = refusing->load("anything");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure.status, Status::refused);
  EXPECT_THAT(refused.failure.reason, Not(HasSubstr("\x1b")));
  EXPECT_FALSE(refused.failure.worker_is_gone);
  EXPECT_TRUE(refusing->alive());

  auto worker = start(scripted("unsupported"));
  const auto staged = worker->stage(some_stage());
  ASSERT_FALSE(staged);
  EXPECT_EQ(staged.failure.status, Status::unsupported);
  EXPECT_EQ(staged.failure.reason, "no kernel for it");
  EXPECT_FALSE(staged.failure.worker_is_gone);
  EXPECT_TRUE(worker->drop(1));
}

TEST(WorkerClient, a_sample_that_is_not_finite_is_never_passed_on) {
  const auto sampled = start(scripted("nan_sample"))->sample({.id = 1});
  ASSERT_FALSE(sampled);
  EXPECT_EQ(sampled.failure.status, Status::worker_lost);
}

TEST(WorkerClient, revealed_bytes_must_lie_inside_their_memory) {
  for (const char* fault : {"long_reveal", "no_memory"}) {
    const auto revealed = start(scripted(fault))->reveal({1, {0}});
    ASSERT_FALSE(revealed) << fault;
    EXPECT_EQ(revealed.failure.status, Status::worker_lost);
  }
}

TEST(WorkerClient, a_flood_on_stdout_does_not_damage_a_frame_and_only_its_tail_is_kept) {
  auto worker = start(scripted("flood"));
  ASSERT_TRUE(worker->load("anything"));
  const std::string tail = worker->log_tail();
  EXPECT_LE(tail.size(), 64u << 10);
  EXPECT_THAT(tail, testing::EndsWith("the last line\n"));
}

TEST(WorkerClient, a_missing_program_is_a_failure_with_its_path) {
  WorkerOptions options;
  options.program = "/nonexistent/halmark-worker";
  const auto worker = Worker::start(options);
  ASSERT_FALSE(worker);
  EXPECT_THAT(worker.failure.reason, HasSubstr("/nonexistent/halmark-worker"));
}

TEST(WorkerClient, an_idle_worker_that_ignores_quit_is_gone_soon_after) {
  auto worker = start(scripted("hang_quit"));
  const auto pid = static_cast<pid_t>(worker->pid());
  worker->quit();
  EXPECT_FALSE(exists(pid));
}

TEST(WorkerClient, a_worker_does_not_outlive_the_process_that_started_it) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto worker = start(scripted(""));
    const auto pid = static_cast<pid_t>(worker ? worker->pid() : 0);
    [[maybe_unused]] const auto written = ::write(pipe_ends[1], &pid, sizeof pid);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t worker = 0;
  ASSERT_EQ(::read(pipe_ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  ASSERT_GT(worker, 0);
  // This process is a subreaper: the orphan comes here to be reaped.
  const auto give_up = Clock::now() + std::chrono::seconds(20);
  while (exists(worker) && Clock::now() < give_up) ::waitpid(worker, nullptr, WNOHANG);
  EXPECT_FALSE(exists(worker));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace
}  // namespace halmark
