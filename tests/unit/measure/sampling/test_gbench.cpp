#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "measure/sampling/gbench.hpp"

namespace halmark {
namespace {

using protocol::StopReason;

// Time moves only when the step says so.
class ScriptedClock : public ClockSource {
 public:
  double wall_ns() override { return now_ns; }
  double cpu_ns() override { return 2 * now_ns; }
  double now_ns = 1e9;
};

class ScriptedStep : public SampleStep {
 public:
  ScriptedStep(ScriptedClock& clock, double duration_ns)
      : clock_(clock), duration_ns_(duration_ns) {}
  bool arrange(int& set) override {
    set = calls % 3;
    clock_.now_ns += 777;  // outside the interval
    return calls != refuse_arrange_at;
  }
  bool execute() override {
    clock_.now_ns += duration_ns_ + calls;
    return calls++ != fail_at;
  }
  std::optional<double> device_ns() override { return duration_ns_ / 2; }
  int calls = 0;
  int fail_at = -1;
  int refuse_arrange_at = -1;

 private:
  ScriptedClock& clock_;
  double duration_ns_;
};

struct Bench {
  explicit Bench(double duration_ns) : step(clock, duration_ns) {}
  SampleSeries take(const SamplePlan& plan, std::unique_ptr<StopRule> rule) {
    return take_samples(plan, step, *rule, clock);
  }
  ScriptedClock clock;
  ScriptedStep step;
};

SampleSeries take(double duration_ns, std::int64_t count) {
  return Bench(duration_ns).take({.name = "scripted", .first_block = count}, make_count(count));
}

TEST(Gbench, the_stored_samples_move_with_the_clock) {
  const SampleSeries slow = take(50'000, 20);
  const SampleSeries fast = take(1'000, 20);
  ASSERT_EQ(slow.samples.size(), 20u);
  ASSERT_EQ(fast.samples.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_DOUBLE_EQ(slow.samples[i].wall_ns, 50'000.0 + static_cast<double>(i));
    EXPECT_DOUBLE_EQ(fast.samples[i].wall_ns, 1'000.0 + static_cast<double>(i));
    EXPECT_DOUBLE_EQ(slow.samples[i].cpu_ns, 2 * slow.samples[i].wall_ns);
    EXPECT_EQ(slow.samples[i].device_ns, 25'000);
    EXPECT_EQ(slow.samples[i].set, static_cast<int>(i % 3));
  }
  EXPECT_EQ(slow.stop_rule, StopReason::count);
}

TEST(Gbench, arranging_lies_outside_the_interval) {
  const SampleSeries series = take(1'000, 3);
  EXPECT_DOUBLE_EQ(series.samples[0].begin_ns, 1e9 + 777);
  EXPECT_DOUBLE_EQ(series.samples[1].begin_ns, 1e9 + 2 * 777 + 1'000);
}

TEST(Gbench, two_books_agree_over_many_blocks_and_cycles) {
  for (int cycle = 0; cycle < 3; ++cycle) {
    Bench bench(30'000);
    const SampleSeries series = bench.take(
        {.name = "blocks", .expected_sample_ns = 1e6, .first_block = 2}, make_budget(3e6));
    EXPECT_EQ(series.totals_mismatch, "");
    EXPECT_EQ(series.stop_rule, StopReason::budget);
    double sum_ns = 0;
    for (const TimedSample& sample : series.samples) sum_ns += sample.wall_ns;
    EXPECT_GE(sum_ns, 3e6);
    EXPECT_EQ(static_cast<int>(series.samples.size()), bench.step.calls);
  }
}

TEST(Gbench, the_deadline_ends_sampling_and_keeps_the_samples) {
  Bench bench(1e6);
  const SampleSeries series =
      bench.take({.name = "late", .deadline_ns = bench.clock.now_ns + 5.5e6, .first_block = 1000},
                 make_count(1000));
  EXPECT_EQ(series.stop_rule, StopReason::deadline);
  EXPECT_EQ(series.samples.size(), 6u);
  EXPECT_FALSE(series.is_failed);
}

TEST(Gbench, a_failed_step_ends_the_series_without_its_sample) {
  Bench bench(1'000);
  bench.step.fail_at = 4;
  const SampleSeries series = bench.take({.name = "fails", .first_block = 10}, make_count(10));
  EXPECT_TRUE(series.is_failed);
  EXPECT_EQ(series.samples.size(), 4u);
  EXPECT_EQ(series.stop_rule, StopReason::none);
}

TEST(Gbench, a_step_that_cannot_be_arranged_is_not_executed) {
  Bench bench(1'000);
  bench.step.refuse_arrange_at = 2;
  const SampleSeries series = bench.take({.name = "alone", .first_block = 10}, make_count(10));
  EXPECT_TRUE(series.is_failed);
  EXPECT_EQ(bench.step.calls, 2);
}

TEST(Gbench, the_maximum_bounds_a_rule_that_never_fires) {
  const SampleSeries series = Bench(1'000).take(
      {.name = "endless", .expected_sample_ns = 1'000, .first_block = 10, .max_samples = 300},
      make_budget(1e18));
  EXPECT_EQ(series.samples.size(), 300u);
  EXPECT_EQ(series.stop_rule, StopReason::max_samples);
}

// How many samples lie between two looks at the rule.
class CountedLooks : public StopRule {
 public:
  void start() override { added_ = 0; }
  void add(double) override { ++added_; }
  bool finished() const override {
    looks_.push_back(added_ - seen_);
    seen_ = added_;
    return false;
  }
  StopReason reason() const override { return StopReason::none; }
  const std::vector<std::int64_t>& looks() const { return looks_; }

 private:
  std::int64_t added_ = 0;
  mutable std::int64_t seen_ = 0;
  mutable std::vector<std::int64_t> looks_;
};

std::vector<std::int64_t> looks_of(SamplePlan plan) {
  ScriptedClock clock;
  ScriptedStep step(clock, 1'000);
  CountedLooks rule;
  plan.name = "looks";
  EXPECT_EQ(take_samples(plan, step, rule, clock).stop_rule, StopReason::max_samples);
  return rule.looks();
}

// Blocks of 5 ms, of one sample at the least and 256 at the most, and no sample more than the plan
// allows.
TEST(Gbench, the_rule_is_looked_at_after_every_block) {
  using Looks = std::vector<std::int64_t>;
  const auto looks = [](double sample_ns, std::int64_t first, std::int64_t most) {
    return looks_of({.expected_sample_ns = sample_ns, .first_block = first, .max_samples = most});
  };
  EXPECT_EQ(looks(1e6, 2, 14), (Looks{2, 5, 5, 2}));
  EXPECT_EQ(looks(1.2e6, 1, 9), (Looks{1, 4, 4})) << "what fits";
  EXPECT_EQ(looks(4.9e6, 1, 3), (Looks{1, 1, 1}));
  EXPECT_EQ(looks(9e6, 1, 3), (Looks{1, 1, 1})) << "longer than a block";
  EXPECT_EQ(looks(5e6 / 250, 1, 300), (Looks{1, 250, 49}));
  EXPECT_EQ(looks(1'000, 1, 600), (Looks{1, 256, 256, 87}));
  EXPECT_EQ(looks(0, 1, 3), (Looks{1, 1, 1})) << "not known";
  EXPECT_EQ(looks(1e6, 0, 7), (Looks{1, 5, 1}));
  EXPECT_EQ(looks(1e6, 20, 7), (Looks{7}));
}

TEST(Gbench, the_deadline_counts_when_a_sample_ends_on_it) {
  for (const double late_ns : {0.0, 1.0}) {
    Bench bench(1e6);
    // Three samples of 1 ms and 0, 1, 2 ns, each behind 777 ns.
    const double third_ends_ns = bench.clock.now_ns + 3 * (1e6 + 777) + 3;
    const SampleSeries series =
        bench.take({.name = "late", .deadline_ns = third_ends_ns + late_ns, .first_block = 1000},
                   make_count(1000));
    EXPECT_EQ(series.samples.size(), late_ns == 0 ? 3u : 4u);
    EXPECT_EQ(series.stop_rule, StopReason::deadline);
    EXPECT_EQ(series.totals_mismatch, "");
  }
}

TEST(Gbench, a_rule_that_has_finished_speaks_before_the_deadline) {
  Bench bench(1e6);
  const SampleSeries series =
      bench.take({.name = "both", .deadline_ns = bench.clock.now_ns + 2.5e6, .first_block = 10},
                 make_count(3));
  EXPECT_EQ(series.stop_rule, StopReason::count);
  EXPECT_EQ(series.samples.size(), 3u);
}

TEST(Gbench, an_instrument_name_stands_in_the_environment) {
  EXPECT_EQ(gbench_description().rfind("google benchmark 1.", 0), 0u) << gbench_description();
}

}  // namespace
}  // namespace halmark
