// One trial on a crew of one fake worker: what is compared when, what the row states of staging,
// and how old a state of the memory may be.
#include "measure/campaign/trial.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "fake_campaign.hpp"
#include "measure/campaign/gate/retry.hpp"
#include "measure/campaign/gate/row_verdict.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

struct Bench {
  std::unique_ptr<Crew> crew;
  GateHistory history;
  TrialOptions options;
  explicit Bench(const KernelCase& kernel_case, const std::string& script = "") {
    CrewOptions crew_options;
    crew_options.group = case_group(kernel_case);
    crew_options.plugin_path = fake_plugin_path;
    if (!script.empty()) crew_options.environment["HALMARK_FAKE_SCRIPT"] = script;
    auto started = Crew::start(crew_options);
    if (!started) throw std::runtime_error(started.failure.reason);
    crew = std::move(*started);
    options.rule = fake_options("").rule;
    options.thresholds = blind_thresholds();
    options.input_seed = 3;
    options.check_seed = 5;
  }
  Measurement run(const KernelCase& kernel_case) {
    return run_trial(*crew, kernel_case, options, history);
  }
};

TEST(Trial, compares_a_twin_and_lines_once_for_each_shape_and_implementation) {
  const KernelCase wide = gemm_case(260, 300, 16), other = gemm_case(260, 316, 16);
  Bench bench(wide);
  const Measurement first = bench.run(wide);
  ASSERT_EQ(first.status, Status::ok) << first.reason;
  EXPECT_THAT(first.correctness.method, HasSubstr("2 rows, 2 columns"));
  EXPECT_THAT(first.correctness.method, HasSubstr("; twin gemm"));
  EXPECT_THAT(first.correctness.method, HasSubstr(" in full"));
  EXPECT_THAT(first.correctness.method, Not(HasSubstr(" by "))) << "by the same implementation";
  const Measurement again = bench.run(wide);
  EXPECT_THAT(again.correctness.method, Not(HasSubstr("rows")));
  EXPECT_THAT(again.correctness.method, Not(HasSubstr("twin")));
  EXPECT_GT(first.correctness.checked, again.correctness.checked);
  const Measurement shape = bench.run(other);
  EXPECT_THAT(shape.correctness.method, HasSubstr("2 rows, 2 columns"));
  EXPECT_THAT(shape.correctness.method, Not(HasSubstr("twin")));
  EXPECT_EQ(bench.history.reduced_problems.size(), 1u);
  EXPECT_EQ(bench.history.shapes.size(), 2u);
}

TEST(Trial, of_a_small_shape_is_its_own_twin) {
  Bench bench(gemm_case());
  const Measurement row = bench.run(gemm_case());
  ASSERT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_THAT(row.correctness.method, Not(HasSubstr("twin")));
  EXPECT_TRUE(bench.history.reduced_problems.empty());
}

TEST(Trial, states_what_was_staged) {
  KernelCase many = gemm_case();
  many.sets = 12;
  Bench bench(many, "constants_in_prepared=1;workspace_bytes=5000");
  const Measurement row = bench.run(many);
  ASSERT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_TRUE(row.environment.ends_with("; 8 of 12 sets fit the memory")) << row.environment;
  EXPECT_EQ(row.workspace_bytes, 5000);
  EXPECT_GT(row.one_time.create_ns, 0);
  EXPECT_GT(row.one_time.pack_ns, 0);
  EXPECT_GT(row.one_time.first_ns, 0);
  EXPECT_GT(row.wall_s, 0);
  EXPECT_EQ(row.phase, "sample");
  EXPECT_TRUE(row.clock_hz_before && row.clock_hz_after);
  EXPECT_TRUE(row.peak_flops_before && row.peak_flops_after);
  KernelCase fitting = gemm_case();
  fitting.sets = 8;
  EXPECT_THAT(bench.run(fitting).environment, Not(HasSubstr("sets fit")));
}

TEST(Trial, leaves_nothing_staged) {
  Bench bench(gemm_case());
  bench.run(gemm_case(16, 200, 16));
  for (const std::int64_t id : {1, 2}) EXPECT_FALSE(bench.crew->worker(0).drop(id)) << id;
}

TEST(Trial, that_is_wrong_behind_the_loop_has_no_time) {
  Bench bench(gemm_case(), "wrong=skip_repeats");
  bench.options.rule.repeat = 6;
  // Of six executions the first is right: which one is looked at is drawn.
  Measurement row;
  for (std::uint64_t seed = 1; seed < 20 && row.status != Status::wrong_result; ++seed) {
    bench.options.check_seed = seed;
    row = bench.run(gemm_case());
  }
  EXPECT_EQ(row.status, Status::wrong_result);
  EXPECT_TRUE(row.reason.starts_with("after the sample loop: ")) << row.reason;
  EXPECT_TRUE(row.samples.empty());
  EXPECT_EQ(row.duration_ns_median, 0);
  EXPECT_EQ(row.duration_ns_min, 0);
  EXPECT_EQ(row.relative_iqr, 0);
  EXPECT_EQ(row.duration_ns_interval.high, 0);
}

// Two seconds; between two probes a quarter of one, or a tenth beside a long trial.
double& signal_of(Measurement& row, std::string_view name) {
  return std::ranges::find(row.signals, name, &Signal::name)->value.value();
}

// A gap between the clocks of worker and host is tampering, unless waiting for a CPU may explain
// it.
TEST(Trial, whose_clocks_were_kept_apart_by_waiting_is_invalid_and_no_cheat) {
  const KernelCase kernel_case = copy_case(64);
  Bench bench(kernel_case);
  Measurement row = bench.run(kernel_case);
  ASSERT_EQ(row.status, Status::ok) << row.reason;
  const auto wait = std::ranges::find(row.signals, "request_wait_ns", &Signal::name);
  ASSERT_NE(wait, row.signals.end());
  if (!wait->value) GTEST_SKIP() << "this kernel counts no delay";
  EXPECT_GE(*wait->value, 0);
  EXPECT_LT(*wait->value, 2 * signal_of(row, "request_host_ns"));
  signal_of(row, "request_host_ns") += 1e9;
  const RowJudging judging{.crew = *bench.crew, .peaks = nullptr, .thresholds = blind_thresholds()};
  for (const auto& [wait_ns, status] :
       {std::pair(0.0, Status::quarantined), std::pair(2e9, Status::invalid)}) {
    signal_of(row, "request_wait_ns") = wait_ns;
    judge_row(row, {}, judging);
    EXPECT_EQ(row.status, status) << row.reason;
    EXPECT_THAT(row.reason, HasSubstr("timer: its worker's clock counts"));
  }
}

TEST(Trial, whose_time_no_bound_was_asked_of_is_not_ok) {
  struct Case {
    const char* script;
    bool asks, has_peaks;
    const char* reason;
  };
  for (const Case& c : {Case{"", false, false, ""}, Case{"", true, true, ""},
                        Case{"", true, false, "no bound: no peaks of the device are known"},
                        Case{"kind=gpu;timer=device_event;latency_ns=200000", true, true,
                             "no bound: no peaks of the device are known"},
                        Case{"wrong=zeros", true, false, "expected"}}) {
    const KernelCase kernel_case = gemm_case();
    RunPeaks peaks(Device{}, [] { return std::string("2026-11-22T15:00:00Z"); });
    Bench bench(kernel_case, c.script);
    bench.options.asks_bound = c.asks;
    if (c.has_peaks) bench.options.peaks = &peaks;
    const Measurement row = bench.run(kernel_case);
    EXPECT_THAT(row.reason, HasSubstr(c.reason)) << c.script;
    EXPECT_EQ(row.status == Status::ok, *c.reason == '\0') << row.reason;
    EXPECT_FALSE(is_disturbed(row)) << "a second time would have no bound either";
  }
}

// Right as long as nobody changes the weights in place, so the row says it and stays.
TEST(Trial, of_a_kernel_that_packs_weights_once_by_address_says_so) {
  for (const char* script : {"", "wrong=packs_once", "wrong=packs_once;constants_opaque=1"}) {
    const KernelCase kernel_case = gemm_case();
    Bench bench(kernel_case, script);
    const Measurement row = bench.run(kernel_case);
    EXPECT_EQ(status_name(row.status), "ok") << script << ": " << row.reason;
    const auto said = std::ranges::find(row.signals, "keeps_state", &Signal::name);
    const bool is_said = script == std::string("wrong=packs_once");
    ASSERT_EQ(said != row.signals.end(), is_said) << script;
    if (is_said) {
      EXPECT_THAT(said->reason, HasSubstr("packed once by address"));
    }
  }
}

TEST(StateOfMemory, is_known_for_two_seconds_and_probed_after_a_pause) {
  Bench bench(copy_case(64), "kind=cpu");
  int unanswered = 0;
  for (int attempt = 0; attempt < 10; ++attempt) {
    BandwidthState state(32 << 20);
    state.probe(*bench.crew, false);
    const auto probed = Clock::now();
    const auto since = [&] { return std::chrono::duration<double>(Clock::now() - probed).count(); };
    const auto first = state.read(*bench.crew);
    if (!first.bytes_per_s) continue;  // a busy machine answers no probe
    std::this_thread::sleep_until(probed + std::chrono::milliseconds(120));
    state.probe(*bench.crew, false);
    const auto second = state.read(*bench.crew);
    if (since() > 0.22) continue;
    EXPECT_GT(*second.age_s, 0.1) << "a quarter of a second has not passed";
    state.probe(*bench.crew, true);
    const auto third = state.read(*bench.crew);
    if (!third.bytes_per_s || since() > 0.24) continue;
    if (*third.age_s >= 0.1 && ++unanswered < 4) continue;  // a disturbed probe has no reads
    EXPECT_LT(*third.age_s, 0.1) << "a tenth has";
    BandwidthState alone(32 << 20);
    const auto begin = Clock::now();
    alone.probe(*bench.crew, false);
    const auto end = Clock::now();
    if (!alone.read(*bench.crew).bytes_per_s) continue;
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(1880));
    const bool is_known = alone.read(*bench.crew).bytes_per_s.has_value();
    if (Clock::now() - begin > std::chrono::milliseconds(1950)) continue;
    EXPECT_TRUE(is_known);
    std::this_thread::sleep_until(end + std::chrono::milliseconds(2100));
    const auto old = alone.read(*bench.crew);
    EXPECT_FALSE(old.bytes_per_s);
    EXPECT_EQ(old.reason, "fewer than 5 reads of the memory within 2 s");
    return;
  }
  GTEST_SKIP() << "this machine is too busy to be probed in time";
}

}  // namespace
}  // namespace halmark
