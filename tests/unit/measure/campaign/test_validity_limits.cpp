// Both sides of every limit of the validity gate: a limit that moved to 0.9 or 1.5 of what is
// documented would let one of these pass, or fail.
#include <gtest/gtest.h>

#include "measure/campaign/gate/validity.hpp"
#include "measure/sampling/interference.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/measure/campaign/quiet.hpp"

namespace halmark {
namespace {

constexpr double below = 0.95, above = 1.25;

Status status_of(const Measurement& m) { return judge_validity(m, {}, true).status; }

// A measurement in which the judged quantity has the value `x`.
using Make = Measurement (*)(double x);

Measurement with_excess_of_each_sample(double x) {
  Measurement m = quiet();
  for (Sample& sample : m.samples) sample.wall_ns = 1000 * (1 + x);
  return m;
}
Measurement with_excess_of_the_loop(double x) {
  Measurement m = quiet();
  m.signals.push_back({.name = signal_name::wall_cpu_ratio, .value = 1 + x, .reason = {}});
  return m;
}
Measurement with_signal_named(const char* name, double x) {
  Measurement m = quiet();
  m.signals.push_back({.name = name, .value = x, .reason = {}});
  return m;
}
// The samples follow the clock, so it moved within the loop.
Measurement with_clock_moved(double x) {
  Measurement m = quiet();
  for (std::size_t i = 13; i < m.samples.size(); ++i) {
    m.samples[i].wall_ns = m.samples[i].cpu_ns = 1030;
  }
  m.clock_hz_before = 3e9;
  m.clock_hz_after = 3e9 * (1 - x);
  return m;
}
// Samples that follow it by more than the limit: it moved within the loop.
Measurement with_device_clock_moved(double x) {
  Measurement m = quiet();
  for (std::size_t i = 13; i < m.samples.size(); ++i) {
    m.samples[i].wall_ns = m.samples[i].cpu_ns = 1080;
  }
  m.signals.push_back({.name = "device_clock_hz_before", .value = 1.98e9, .reason = {}});
  m.signals.push_back({.name = "device_clock_hz_after", .value = 1.98e9 * (1 - x), .reason = {}});
  return m;
}
Measurement with_peak_moved(double x) {
  Measurement m = quiet();
  m.peak_flops_before = 1e11 * (1 - x);
  m.peak_flops_after = 1e11;
  return m;
}

Measurement with_bandwidth_moved(double x) {
  Measurement m = quiet();
  m.bandwidth.before = 4e10 * (1 - x);
  m.bandwidth.after = 4e10;
  return m;
}

struct TwoLimits {
  const char* name;
  Make make;
  double suspect, invalid;  // as results/schema and the header document them
};
class ValidityLimits : public testing::TestWithParam<TwoLimits> {};

TEST_P(ValidityLimits, divide_ok_from_suspect_and_suspect_from_invalid) {
  const TwoLimits& limit = GetParam();
  EXPECT_EQ(status_of(limit.make(below * limit.suspect)), Status::ok);
  EXPECT_EQ(status_of(limit.make(above * limit.suspect)), Status::suspect);
  EXPECT_EQ(status_of(limit.make(below * limit.invalid)), Status::suspect);
  EXPECT_EQ(status_of(limit.make(above * limit.invalid)), Status::invalid);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ValidityLimits,
    testing::Values(
        TwoLimits{"median_wall_over_cpu", with_excess_of_each_sample, 0.02, 0.05},
        TwoLimits{"run_delay",
                  [](double x) { return with_signal_named(signal_name::run_delay_fraction, x); },
                  0.01, 0.05},
        TwoLimits{
            "switches",
            [](double x) { return with_signal_named(signal_name::involuntary_switches_per_s, x); },
            500, 5000},
        TwoLimits{"steal",
                  [](double x) { return with_signal_named(signal_name::steal_fraction, x); }, 0.02,
                  0.10},
        TwoLimits{"clock", with_clock_moved, 0.02, 0.05},
        TwoLimits{"device_clock", with_device_clock_moved, 0.05, 0.25},
        TwoLimits{"peak", with_peak_moved, 0.03, 0.05},
        TwoLimits{"bandwidth", with_bandwidth_moved, 0.1, 0.25}),
    [](const auto& info) { return test::case_name({info.param.name}); });

TEST(ValidityLimit, of_the_loop_never_invalidates_and_the_load_is_only_shown) {
  EXPECT_EQ(status_of(with_excess_of_the_loop(below * 0.05)), Status::ok);
  EXPECT_EQ(status_of(with_excess_of_the_loop(above * 0.05)), Status::suspect);
  EXPECT_EQ(status_of(with_excess_of_the_loop(1e6)), Status::suspect);
  const auto load = [](double x) { return with_signal_named(signal_name::load_per_cpu, x); };
  EXPECT_EQ(status_of(load(1e6)), Status::ok);
}

TEST(ValidityLimit, of_the_bandwidth_is_for_what_the_memory_bounds) {
  const Measurement m = with_bandwidth_moved(0.5);
  EXPECT_EQ(judge_validity(m, {}, false).status, Status::ok);
  const Verdict verdict = judge_validity(m, {}, true);
  EXPECT_EQ(verdict.status, Status::invalid);
  EXPECT_EQ(verdict.reason, "bandwidth moved by 0.5 above 0.25");
  Measurement half_known = m;
  half_known.bandwidth.after.reset();
  EXPECT_EQ(judge_validity(half_known, {}, true).status, Status::ok);
}

TEST(ValidityLimit, of_dropped_samples_is_half_of_all) {
  Measurement m = quiet();
  m.samples_dropped = 18;  // 0.474 of 38
  EXPECT_EQ(status_of(m), Status::ok);
  m.samples_dropped = 20;  // exactly half
  EXPECT_EQ(status_of(m), Status::ok);
  m.samples_dropped = 30;  // 0.6 of 50
  const Verdict verdict = judge_validity(m, {});
  EXPECT_EQ(verdict.status, Status::suspect);
  EXPECT_EQ(verdict.reason, "samples that did not overlap 0.6 above 0.5");
}

TEST(ValidityLimit, of_a_deadline_is_a_half_width_of_one_percent_and_three_samples) {
  Measurement m = quiet();
  m.stop_rule = "deadline";
  m.duration_ns_interval = {1000 - 10 * below, 1000 + 10 * below};
  EXPECT_EQ(status_of(m), Status::ok);
  m.samples.resize(3);
  EXPECT_EQ(status_of(m), Status::ok);
  m.samples.resize(2);
  EXPECT_EQ(status_of(m), Status::suspect);
  m.samples.resize(3);
  m.duration_ns_interval = {1000 - 10 * above, 1000 + 10 * above};
  EXPECT_EQ(status_of(m), Status::suspect);
  m.stop_rule = "budget";
  EXPECT_EQ(status_of(m), Status::ok);
}

TEST(ValidityLimit, of_a_device_timer_is_a_tenth_of_the_larger_slope) {
  for (const double sign : {-1.0, 1.0}) {
    Measurement m = with_signal_named("slope_wall_ns", 1000);
    const auto beside = [&](double share) {
      return sign < 0 ? 1000 * (1 - share) : 1000 / (1 - share);
    };
    m.signals.push_back({.name = "slope_device_ns", .value = beside(below * 0.1), .reason = {}});
    EXPECT_EQ(status_of(m), Status::ok) << sign;
    m.signals.back().value = beside(above * 0.1);
    EXPECT_EQ(status_of(m), Status::quarantined) << sign;
  }
}

TEST(ValidityLimit, is_exceeded_only_above_it) {
  EXPECT_EQ(status_of(with_signal_named(signal_name::steal_fraction, 0.02)), Status::ok);
  EXPECT_EQ(status_of(with_signal_named(signal_name::steal_fraction, 0.1)), Status::suspect);
}

TEST(ValidityLimit, relative_move_is_a_share_of_the_larger_and_the_same_both_ways) {
  EXPECT_DOUBLE_EQ(relative_move(90, 100), 0.1);
  EXPECT_DOUBLE_EQ(relative_move(100, 90), 0.1);
  EXPECT_DOUBLE_EQ(relative_move(-100, 100), 2);
  EXPECT_EQ(relative_move(0, 0), 0);
  EXPECT_EQ(relative_move(0, 5), 1);
}

}  // namespace
}  // namespace halmark
