// Faults of a plugin as the parent sees them: one status, the phase named, and the next worker
// well.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bad/expected.hpp"
#include "host/worker_client.hpp"
#include "tests/checkout.hpp"

namespace halmark::abi_test {

void PrintTo(const BadPlugin& plugin, std::ostream* out) { *out << plugin.file; }

struct Fault {
  const char* name;
  const char* script;
  Status status;
  const char* phase;
  int signal = 0;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

namespace {

const std::string plugins = test::in_build("/tests/plugins/");
const std::string fake = plugins + "hm_fake.so";

// Long enough for a loaded machine; phases that are meant to hang get a short one.
constexpr double patient_s = 60;
constexpr double short_s = 0.7;

// The limit that ends a call of the plugin that hangs in this phase.
double& limit_of(const std::string& phase, WorkerLimits& limits) {
  if (phase == "create") return limits.load_s;
  if (phase == "open") return limits.open_s;
  if (phase == "prepare") return limits.create_s;
  if (phase == "enqueue") return limits.first_s;
  throw std::runtime_error("no limit of " + phase);
}

WorkerOptions options_for(const std::string& script) {
  WorkerOptions options;
  options.cpus = CpuSet{};
  options.program = test::in_build("/bin/halmark-worker");
  options.environment = {{"HALMARK_FAKE_SCRIPT", script}, {"OMP_WAIT_POLICY", "passive"}};
  options.limits.hello_s = patient_s;
  if (script.starts_with("hang=") || script.starts_with("stop=")) {
    limit_of(script.substr(5, script.find(';') - 5), options.limits) = short_s;
  }
  return options;
}

protocol::Stage small_gemm() {
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  protocol::Stage stage;
  stage.id = 1;
  stage.problem = {"gemm", Params{{"m", 5},
                                  {"n", 7},
                                  {"k", 33},
                                  {"src_dtype", f32},
                                  {"wei_dtype", f32},
                                  {"dst_dtype", f32},
                                  {"wei_trans", 0}}};
  stage.sets = 2;
  stage.seed = 3;
  return stage;
}

protocol::SampleRequest few_samples() {
  protocol::SampleRequest request;
  request.id = 1;
  request.rule.stop = protocol::Stop::count;
  request.rule.count = 5;
  request.wall_cap_s = 0.5;
  return request;
}

// The first failure of one trial, or one with Status::ok when it went through.
WorkerFailure first_failure(Worker& worker, const std::string& plugin = fake) {
  if (auto answer = worker.load(plugin); !answer) return answer.failure;
  if (auto answer = worker.open(0); !answer) return answer.failure;
  if (auto answer = worker.stage(small_gemm()); !answer) return answer.failure;
  if (auto answer = worker.reveal({1, {0}}); !answer) return answer.failure;
  if (auto answer = worker.sample(few_samples()); !answer) return answer.failure;
  if (auto answer = worker.reveal({1, {0, 1}}); !answer) return answer.failure;
  if (auto answer = worker.drop(1); !answer) return answer.failure;
  return {Status::ok, "", "", 0, false};
}

// HALMARK_CRASHES asks for more than 30; then nothing else runs beside this program.
bool is_alone() { return std::getenv("HALMARK_CRASHES") != nullptr; }

int crashes_wanted() { return is_alone() ? std::atoi(std::getenv("HALMARK_CRASHES")) : 30; }

double children_cpu_s() {
  struct rusage used {};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// There and not a zombie that only waits for its parent to look.
bool is_running(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  return line.substr(line.rfind(')') + 2, 1) != "Z";
}

WorkerFailure trial(const std::string& script) {
  auto worker = Worker::start(options_for(script));
  if (!worker) return worker.failure;
  return first_failure(**worker);
}

class WorkerFault : public testing::TestWithParam<Fault> {};

TEST_P(WorkerFault, becomes_one_status_with_its_phase) {
  const Fault& fault = GetParam();
  const WorkerFailure failure = trial(fault.script);
  EXPECT_EQ(status_name(failure.status), status_name(fault.status)) << failure.reason;
  EXPECT_EQ(failure.phase, fault.phase) << failure.reason;
  EXPECT_EQ(failure.signal, fault.signal) << failure.reason;
  EXPECT_EQ(failure.reason.empty(), fault.status == Status::ok);
}

constexpr Fault faults[] = {
    {"crash_in_create", "crash=create", Status::crashed, "load", SIGSEGV},
    {"crash_in_describe", "crash=describe", Status::crashed, "load", SIGSEGV},
    {"crash_in_open", "crash=open", Status::crashed, "open", SIGSEGV},
    {"crash_in_prepare", "crash=prepare", Status::crashed, "create", SIGSEGV},
    {"abort_in_prepare", "crash=prepare;signal=6", Status::crashed, "create", SIGABRT},
    {"illegal_instruction", "crash=prepare;signal=4", Status::crashed, "create", SIGILL},
    {"crash_in_load_constants", "crash=load_constants;after=1", Status::crashed, "pack", SIGSEGV},
    {"crash_in_enqueue", "crash=enqueue;after=1", Status::crashed, "first", SIGSEGV},
    {"hang_in_create", "hang=create", Status::timed_out, "load"},
    {"hang_in_open", "hang=open", Status::timed_out, "open"},
    {"hang_in_prepare", "hang=prepare", Status::timed_out, "create"},
    {"hang_in_enqueue", "hang=enqueue;after=1", Status::timed_out, "first"},
    {"stops_itself", "stop=prepare", Status::timed_out, "create"},
    {"exit_in_create", "exit=create", Status::worker_lost, "load"},
    {"exit_in_prepare", "exit=prepare", Status::worker_lost, "create"},
    {"closes_every_descriptor", "close_fds=prepare", Status::worker_lost, "create"},
    {"throws_in_prepare", "throw=prepare", Status::launch_failed, "create"},
    {"throws_in_enqueue", "throw=enqueue;after=1", Status::launch_failed, "first"},
    {"out_of_memory_in_prepare", "oom=prepare", Status::out_of_memory, "create"},
    {"device_lost", "device_lost_at=2", Status::device_lost, "first"},
    {"nothing_wrong", "", Status::ok, ""},
    {"floods_its_output", "flood=prepare", Status::ok, ""},
};

INSTANTIATE_TEST_SUITE_P(Abi, WorkerFault, testing::ValuesIn(faults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WorkerFaults, a_crash_while_sampling_names_a_sampling_phase) {
  const WorkerFailure failure = trial("crash=enqueue;after=3");
  EXPECT_EQ(status_name(failure.status), "crashed") << failure.reason;
  EXPECT_TRUE(failure.phase == "warm" || failure.phase == "sample") << failure.phase;
}

TEST(WorkerFaults, memory_without_end_meets_the_limit_and_not_the_machine) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's shadow memory does not fit under an address-space limit";
#endif
  WorkerOptions options = options_for("devour=prepare");
  options.limits.memory_bytes = std::int64_t{768} << 20;
  auto worker = Worker::start(options);
  ASSERT_TRUE(worker) << worker.failure.reason;
  const WorkerFailure failure = first_failure(**worker);
  EXPECT_EQ(status_name(failure.status), "out_of_memory") << failure.reason;
}

TEST(WorkerFaults, a_crash_that_happens_once_is_gone_with_a_fresh_worker) {
  const std::string file = testing::TempDir() + "halmark_once_" + std::to_string(getpid());
  const std::string script = "crash=prepare;once_file=" + file;
  EXPECT_EQ(status_name(trial(script).status), "crashed");
  const WorkerFailure second = trial(script);
  EXPECT_EQ(status_name(second.status), "ok") << second.reason;
  std::filesystem::remove(file);
}

// Each costs its own trial and a new worker, and nothing piles up.
TEST(WorkerFaults, one_crash_after_the_other_costs_one_trial_each) {
  const char* const scripts[] = {"crash=prepare", "crash=prepare;signal=6", "exit=prepare",
                                 "crash=enqueue;after=1", "throw=prepare"};
  const double before_s = children_cpu_s();
  for (int i = 0; i < crashes_wanted(); ++i) {
    const WorkerFailure failure = trial(scripts[static_cast<std::size_t>(i) % std::size(scripts)]);
    ASSERT_NE(failure.status, Status::ok) << "crash " << i;
    ASSERT_FALSE(failure.reason.empty()) << "crash " << i;
    if (i % 10 != 9) continue;
    ASSERT_EQ(status_name(trial("").status), "ok") << "behind crash " << i;
  }
  const double each_s = (children_cpu_s() - before_s) / crashes_wanted();
  RecordProperty("cpu_ms_of_a_worker", static_cast<int>(1e3 * each_s));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(each_s, is_alone() ? 0.05 : 0.2);
#endif
}

TEST(WorkerFaults, descendants_in_a_session_of_their_own_are_removed_with_the_worker) {
  const std::string file = testing::TempDir() + "halmark_escaped_" + std::to_string(getpid());
  std::filesystem::remove(file);
  auto worker = Worker::start(options_for("escape=prepare;pid_file=" + file));
  ASSERT_TRUE(worker) << worker.failure.reason;
  const WorkerFailure failure = first_failure(**worker);
  EXPECT_EQ(status_name(failure.status), "ok") << failure.reason;
  // The descendant writes its pid whenever it gets to run.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!std::filesystem::exists(file) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  pid_t escaped = 0;
  std::ifstream(file) >> escaped;
  ASSERT_GT(escaped, 1) << "nothing escaped: the test says nothing";
  EXPECT_TRUE(is_running(escaped));
  (*worker)->quit();
  EXPECT_FALSE(is_running(escaped)) << "pid " << escaped << " survived its worker";
  std::filesystem::remove(file);
}

TEST(WorkerFaults, a_hung_worker_is_gone_soon_after_its_limit) {
  auto worker = Worker::start(options_for("hang=prepare"));
  ASSERT_TRUE(worker) << worker.failure.reason;
  const pid_t pid = static_cast<pid_t>((*worker)->pid());
  EXPECT_EQ(status_name(first_failure(**worker).status), "timed_out");
  EXPECT_FALSE((*worker)->alive());
  EXPECT_FALSE(is_running(pid));
}

TEST(WorkerFaults, damage_of_inputs_and_past_outputs_is_revealed) {
  for (const std::string script : {"mutate_inputs=1", "overrun=1"}) {
    WorkerOptions options = options_for(script);
    const SharedMemory arena = SharedMemory::create("arena", std::int64_t{16} << 20, false);
    options.arena = &arena;
    auto worker = Worker::start(options);
    ASSERT_TRUE(worker) << worker.failure.reason;
    ASSERT_TRUE((*worker)->load(fake));
    ASSERT_TRUE((*worker)->open(0));
    ASSERT_TRUE((*worker)->stage(small_gemm()));
    auto revealed = (*worker)->reveal({1, {0}});
    ASSERT_TRUE(revealed) << revealed.failure.reason;
    EXPECT_EQ(revealed->revealed.inputs_intact, script != "mutate_inputs=1") << script;
    EXPECT_EQ(revealed->revealed.canaries_intact, script != "overrun=1") << script;
  }
}

// The same outcomes as in test_bad_plugins.cpp, now through the whole protocol.
class BadPluginInWorker : public testing::TestWithParam<BadPlugin> {};

Outcome<protocol::PluginDescription> load_bad(const BadPlugin& plugin) {
  WorkerOptions options = options_for("");
  if (plugin.ending == Ending::timed_out) options.limits.load_s = short_s;
  auto worker = Worker::start(options);
  if (!worker) return worker.failure;
  return (*worker)->load(plugins + "bad/bad_" + std::string(plugin.file) + ".so");
}

TEST_P(BadPluginInWorker, is_told_from_a_good_one_at_load) {
  const BadPlugin& plugin = GetParam();
  const auto loaded = load_bad(plugin);
  ASSERT_FALSE(loaded);
  const std::string_view status = status_name(loaded.failure.status);
  switch (plugin.ending) {
    case Ending::refused:
      EXPECT_EQ(status, "refused");
      EXPECT_FALSE(loaded.failure.worker_is_gone);
      EXPECT_NE(loaded.failure.reason.find(plugin.text), std::string::npos)
          << loaded.failure.reason;
      break;
    case Ending::crashed:
      EXPECT_EQ(status, "crashed");
      EXPECT_EQ(loaded.failure.signal, plugin.signal);
      break;
    case Ending::timed_out:
      EXPECT_EQ(status, "timed_out");
      break;
    case Ending::exited:
      EXPECT_EQ(status, "worker_lost");
      break;
    case Ending::failed:
    case Ending::accepted:
      ADD_FAILURE() << plugin.file << " is not about loading";
  }
  EXPECT_EQ(loaded.failure.phase, "load") << loaded.failure.reason;
}

// Those whose outcome falls before any table entry is called.
std::vector<BadPlugin> bad_at_load() {
  std::vector<BadPlugin> chosen;
  for (const BadPlugin& plugin : bad_plugins) {
    if (plugin.ending != Ending::failed && plugin.ending != Ending::accepted &&
        plugin.file != "throws_unguarded") {
      chosen.push_back(plugin);
    }
  }
  return chosen;
}

INSTANTIATE_TEST_SUITE_P(Abi, BadPluginInWorker, testing::ValuesIn(bad_at_load()),
                         [](const auto& info) { return std::string(info.param.file); });

TEST(WorkerFaults, a_plugin_that_aborts_at_exit_still_answered) {
  auto worker = Worker::start(options_for(""));
  ASSERT_TRUE(worker) << worker.failure.reason;
  auto loaded = (*worker)->load(plugins + "bad/bad_destructor_aborts.so");
  ASSERT_TRUE(loaded) << loaded.failure.reason;
  EXPECT_EQ(loaded->devices.size(), 1u);
  (*worker)->quit();
}

}  // namespace
}  // namespace halmark::abi_test
