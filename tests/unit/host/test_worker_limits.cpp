// Which limit a request runs under, how a worker's end reads, and what of its answers is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "host/worker_client.hpp"

namespace halmark {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

WorkerOptions scripted(const std::string& fault) {
  WorkerOptions options;
  options.program = HALMARK_BINARY_DIR "/tests/scripted_worker";
  options.environment["HALMARK_FAKE_HOST"] = fault;
  return options;
}

std::unique_ptr<Worker> start(const WorkerOptions& options) {
  auto worker = Worker::start(options);
  if (!worker) {
    ADD_FAILURE() << worker.failure.reason;
    return nullptr;
  }
  return std::move(*worker);
}

protocol::Stage some_stage() {
  protocol::Stage stage;
  stage.problem = {"copy", {{"bytes", 64}}};
  return stage;
}

WorkerFailure load_failure(const WorkerOptions& options) {
  auto worker = start(options);
  if (!worker) return {};
  const auto plugin = worker->load("anything");
  EXPECT_FALSE(plugin);
  return plugin.failure;
}

struct Hang {
  const char* phase;
  double limit_s;
  std::function<void(PhaseLimits&)> set;
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
    ASSERT_TRUE(worker);
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
  expect_limit({"sample", 0.55, [](PhaseLimits& l) { l.sample_margin_s = 0.2; },
                [&](Worker& w) { return w.sample(request).failure; }});
}

TEST(WorkerLimits, of_a_sequence_are_its_wall_cap_and_a_margin) {
  protocol::SequenceRequest request;
  request.wall_cap_s = 0.25;
  expect_limit({"sequence", 0.45, [](PhaseLimits& l) { l.sample_margin_s = 0.2; },
                [&](Worker& w) { return w.sequence(request).failure; }});
}

TEST(WorkerLimits, of_a_probe_are_its_windows_and_a_margin) {
  protocol::ProbeRequest request;
  request.windows = 20;
  request.window_ms = 30;
  expect_limit({"probe", 0.62, [](PhaseLimits& l) { l.probe_margin_s = 0.02; },
                [&](Worker& w) { return w.probe(request).failure; }});
}

TEST(WorkerLimits, are_one_for_each_phase) {
  const auto stage = [](Worker& w) { return w.stage(some_stage()).failure; };
  const Hang hangs[] = {
      {"load", 0.3, [](PhaseLimits& l) { l.load_s = 0.3; },
       [](Worker& w) { return w.load("x").failure; }},
      {"open", 0.3, [](PhaseLimits& l) { l.open_s = 0.3; },
       [](Worker& w) { return w.open(0).failure; }},
      {"create", 0.3, [](PhaseLimits& l) { l.create_s = 0.3; }, stage},
      {"pack", 0.3, [](PhaseLimits& l) { l.pack_s = 0.3; }, stage},
      {"first", 0.3, [](PhaseLimits& l) { l.first_s = 0.3; }, stage},
      {"join", 0.3, [](PhaseLimits& l) { l.join_s = 0.3; },
       [](Worker& w) { return w.join({}).failure; }},
      {"close", 0.3, [](PhaseLimits& l) { l.close_s = 0.3; },
       [](Worker& w) { return w.close().failure; }},
      {"drop", 0.3, [](PhaseLimits& l) { l.query_s = 0.3; },
       [](Worker& w) { return w.drop(1).failure; }},
  };
  for (const Hang& hang : hangs) expect_limit(hang);
}

TEST(WorkerLimits, end_a_wait_for_several_workers) {
  WorkerOptions options = scripted("hang_create");
  options.limits.create_s = 0.3;
  auto hanging = start(options);
  auto healthy = start(scripted(""));
  ASSERT_TRUE(hanging && healthy);
  hanging->begin_stage(some_stage());
  healthy->begin_stage(some_stage());
  const std::vector<Worker*> both{healthy.get(), hanging.get()};
  int told = 0;
  const auto begin = Clock::now();
  Worker::await_all(both, [&] { ++told; });
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(300));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(hanging->finish_stage().failure.status, Status::timed_out);
  EXPECT_TRUE(healthy->finish_stage());
}

TEST(WorkerLimits, give_a_worker_half_a_second_to_leave) {
  double best_s = 1e9;
  for (int attempt = 0; attempt < 5 && best_s > 0.65; ++attempt) {
    auto worker = start(scripted("hang_quit"));
    ASSERT_TRUE(worker);
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
  EXPECT_EQ(killed.status, Status::out_of_memory);
  EXPECT_EQ(killed.reason, "the worker was killed for its memory (host)");
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

struct Odd {
  const char* fault;
  const char* reason;
};

class OddAnswerToLoad : public testing::TestWithParam<Odd> {};

TEST_P(OddAnswerToLoad, loses_the_worker) {
  const WorkerFailure failure = load_failure(scripted(GetParam().fault));
  EXPECT_EQ(failure.status, Status::worker_lost);
  EXPECT_TRUE(failure.worker_is_gone);
  EXPECT_THAT(failure.reason, HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(WorkerClient, OddAnswerToLoad,
                         testing::Values(Odd{"other_kind", "an answer of another kind"},
                                         Odd{"unasked_samples", "an answer of another kind"},
                                         Odd{"bad_phase", "malformed"},
                                         Odd{"bad_failed", "malformed"},
                                         Odd{"bad_refused", "malformed"}),
                         [](const auto& test) { return std::string(test.param.fault); });

TEST(WorkerAnswer, that_failed_without_words_is_its_status) {
  auto worker = start(scripted("silent_failure"));
  ASSERT_TRUE(worker);
  const auto plugin = worker->load("anything");
  EXPECT_EQ(plugin.failure.status, Status::out_of_memory);
  EXPECT_EQ(plugin.failure.reason, "out_of_memory");
  EXPECT_EQ(plugin.failure.phase, "load");
  EXPECT_FALSE(plugin.failure.worker_is_gone);
  EXPECT_TRUE(worker->alive());
}

TEST(WorkerAnswer, of_a_phase_shows_32_characters_of_it) {
  EXPECT_EQ(load_failure(scripted("long_phase")).phase, std::string(32, 'p'));
}

TEST(WorkerAnswer, must_speak_our_protocol) {
  const auto worker = Worker::start(scripted("other_protocol"));
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.failure.status, Status::worker_lost);
  EXPECT_THAT(worker.failure.reason, HasSubstr("the worker speaks protocol 2, not 1"));
}

TEST(WorkerAnswer, with_samples_is_a_whole_number_of_them) {
  auto worker = start(scripted("odd_block"));
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->sample({}).failure.reason, "a samples block has a bad length");
}

TEST(WorkerAnswer, about_configs_is_one_for_each) {
  const std::vector<Config> configs(2);
  for (const char* fault : {"", "long_status", "long_reason"}) {
    auto worker = start(scripted(fault));
    ASSERT_TRUE(worker);
    const auto answer = worker->supports("copy", {"copy", {}}, configs);
    EXPECT_EQ(static_cast<bool>(answer), fault[0] == '\0') << fault;
    if (!answer) {
      EXPECT_THAT(answer.failure.reason, HasSubstr("another number of configs"));
    }
  }
}

TEST(WorkerAnswer, to_everything_else_is_passed_on) {
  auto worker = start(scripted(""));
  ASSERT_TRUE(worker);
  EXPECT_TRUE(worker->open(0));
  const auto probed = worker->probe({});
  ASSERT_TRUE(probed) << probed.failure.reason;
  EXPECT_EQ(probed->rates, (std::vector<double>{1, 2}));
  const auto token = worker->token();
  ASSERT_TRUE(token) << token.failure.reason;
  EXPECT_EQ(token->hex, "ab");
  EXPECT_TRUE(worker->join({}));
  const auto steps = worker->sequence({});
  ASSERT_TRUE(steps) << steps.failure.reason;
  EXPECT_EQ(steps->steps.size(), 10u);
  EXPECT_EQ(steps->measured.samples, 10);
  EXPECT_TRUE(worker->close());
  EXPECT_EQ(worker->hello().build, "scripted");
  EXPECT_EQ(worker->log_tail(), "");
}

// Parts, and what the client says of them; "" where it takes them.
TEST(WorkerReveal, takes_parts_inside_their_memory) {
  constexpr const char* outside = "a revealed part lies outside its memory";
  const std::string far = std::to_string(std::int64_t{1} << 42);
  const std::string farther = std::to_string((std::int64_t{1} << 42) + 1);
  const std::pair<std::string, std::string> cases[] = {
      {"64 128 0 16", ""},
      {"0 4096", ""},
      {"0 0", ""},
      {"", ""},
      {"-1 8", outside},
      {"8 -1", outside},
      {farther + " 0", outside},
      {"0 " + farther, outside},
      {far + " 0", "cannot be mapped"},
      {"0 " + far, "cannot be mapped"},
      {"4000 97", "cannot be mapped"},
  };
  for (const auto& [parts, refusal] : cases) {
    WorkerOptions options = scripted("");
    options.environment["HALMARK_FAKE_PARTS"] = parts;
    auto worker = start(options);
    ASSERT_TRUE(worker);
    const auto answer = worker->reveal({});
    EXPECT_EQ(static_cast<bool>(answer), refusal.empty()) << parts;
    EXPECT_THAT(answer.failure.reason, HasSubstr(refusal)) << parts;
    if (parts.starts_with("64")) {
      EXPECT_EQ(answer->memory.bytes(), 192) << "to the end of the last part in memory";
      EXPECT_EQ(answer->part(answer->revealed.parts.at(1)).size(), 16u);
      EXPECT_EQ(answer->part(answer->revealed.parts.at(1)).data(), answer->memory.data());
    }
    if (answer && parts.size() <= 3) {
      EXPECT_EQ(answer->memory.bytes(), 0);
    }
  }
  WorkerOptions without = scripted("no_memory");
  auto worker = start(without);
  ASSERT_TRUE(worker);
  EXPECT_EQ(worker->reveal({}).failure.reason, "revealed bytes came without memory");
}

TEST(WorkerLog, is_trimmed_once_a_second) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("halmark_flood_" + std::to_string(::getpid()));
  WorkerOptions options = scripted("flood");
  options.log_path = path.string();
  auto worker = start(options);
  const auto begin = Clock::now();
  ASSERT_TRUE(worker);
  ASSERT_TRUE(worker->load("anything"));
  const std::string tail = worker->log_tail();
  const auto left = std::chrono::milliseconds(1200) - (Clock::now() - begin);
  if (left > left.zero()) {
    EXPECT_GT(std::filesystem::file_size(path), 12'000'000u) << "not yet";
    std::this_thread::sleep_for(left);
  }
  ASSERT_TRUE(worker->drop(1));
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_EQ(worker->log_tail(), tail);
  worker->quit();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace halmark
