#include "measure/campaign/gate/validity.hpp"

#include <gtest/gtest.h>

#include "measure/sampling/interference.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/measure/campaign/quiet.hpp"

namespace halmark {
namespace {

Measurement with_signal(const char* name, double value) {
  Measurement m = quiet();
  m.signals.push_back({.name = name, .value = value, .reason = {}});
  return m;
}

// Two shards may share a core: what one probes then depends on what the other does.
TEST(Validity, peaks_that_shards_probe_at_different_times_are_no_sign) {
  Measurement m = quiet();
  m.peak_flops_before = 1e11;
  m.peak_flops_after = 0.5e11;
  EXPECT_EQ(judge_validity(m, {}).status, Status::invalid);
  m.kernel_case.shards_at_once = 2;
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
}

TEST(Validity, a_quiet_measurement_is_ok_without_a_reason) {
  const Verdict verdict = judge_validity(quiet(), {});
  EXPECT_EQ(verdict.status, Status::ok);
  EXPECT_TRUE(verdict.reason.empty());
}

struct Case {
  const char* name;
  double value;
  Status expected;
};
class ValiditySignals : public testing::TestWithParam<Case> {};

TEST_P(ValiditySignals, each_signal_has_its_own_limits) {
  const Case c = GetParam();
  const Verdict verdict = judge_validity(with_signal(c.name, c.value), {});
  EXPECT_EQ(verdict.status, c.expected) << c.name << " " << c.value;
  EXPECT_EQ(verdict.reason.empty(), c.expected == Status::ok);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ValiditySignals,
    testing::Values(Case{signal_name::run_delay_fraction, 0.009, Status::ok},
                    Case{signal_name::run_delay_fraction, 0.015, Status::suspect},
                    Case{signal_name::run_delay_fraction, 0.06, Status::invalid},
                    Case{signal_name::involuntary_switches_per_s, 400, Status::ok},
                    Case{signal_name::involuntary_switches_per_s, 800, Status::suspect},
                    Case{signal_name::involuntary_switches_per_s, 8000, Status::invalid},
                    Case{signal_name::steal_fraction, 0.018, Status::ok},
                    Case{signal_name::steal_fraction, 0.03, Status::suspect},
                    Case{signal_name::steal_fraction, 0.15, Status::invalid},
                    Case{signal_name::throttled_periods, 0, Status::ok},
                    Case{signal_name::throttled_periods, 1, Status::invalid},
                    Case{signal_name::load_per_cpu, 3.0, Status::ok},
                    Case{signal_name::wall_cpu_ratio, 1.2, Status::suspect}),
    [](const auto& info) {
      return test::case_name({info.param.name, info.param.value});
    });

TEST(Validity, wall_time_beyond_cpu_time_on_the_median_is_judged) {
  Measurement m = quiet();
  for (Sample& sample : m.samples) sample.wall_ns = 1030;
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
  for (Sample& sample : m.samples) sample.wall_ns = 1060;
  EXPECT_EQ(judge_validity(m, {}).status, Status::invalid);
}

TEST(Validity, one_preempted_sample_does_not_move_the_median_verdict) {
  Measurement m = quiet();
  m.samples[3].wall_ns = 50'000;
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
}

TEST(Validity, event_timed_samples_are_not_judged_by_host_cpu_time) {
  Measurement m = quiet();
  for (Sample& sample : m.samples) {
    sample.cpu_ns = 10;
    sample.device_ns = 900;
  }
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
}

TEST(Validity, moved_probes_are_judged_in_both_directions) {
  Measurement m = quiet();
  m.clock_hz_before = 3.0e9;
  m.clock_hz_after = 3.1e9;
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
  m.clock_hz_after = m.clock_hz_before;
  m.peak_flops_before = 1e11;
  m.peak_flops_after = 0.96e11;
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
}

// Between a probe and the first sample the clock may settle: the samples say whether it moved them.
TEST(Validity, a_clock_that_moved_outside_the_loop_is_suspect_at_worst) {
  Measurement m = quiet();
  m.clock_hz_before = 3.0e9;
  m.clock_hz_after = 2.0e9;
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
  const auto slower_from = [&](std::size_t first, double ns) {
    for (std::size_t i = first; i < m.samples.size(); ++i) {
      m.samples[i].wall_ns = m.samples[i].cpu_ns = ns;
    }
    return judge_validity(m, {}).status;
  };
  EXPECT_EQ(slower_from(14, 1018), Status::suspect);
  EXPECT_EQ(slower_from(14, 1025), Status::invalid);
  m = quiet();
  m.clock_hz_before = 3.0e9;
  m.clock_hz_after = 2.0e9;
  EXPECT_EQ(slower_from(10, 970), Status::invalid);
}

TEST(Validity, too_few_samples_do_not_excuse_a_clock_that_moved) {
  Measurement m = quiet();
  m.clock_hz_before = 3.0e9;
  m.clock_hz_after = 2.7e9;
  m.samples.resize(3);
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
  m.samples.resize(2);
  EXPECT_EQ(judge_validity(m, {}).status, Status::invalid);
}

TEST(Validity, the_worst_signal_decides_and_is_named) {
  Measurement m = with_signal(signal_name::run_delay_fraction, 0.02);
  m.signals.push_back({.name = signal_name::steal_fraction, .value = 0.5, .reason = {}});
  const Verdict verdict = judge_validity(m, {});
  EXPECT_EQ(verdict.status, Status::invalid);
  EXPECT_NE(verdict.reason.find("steal"), std::string::npos) << verdict.reason;
}

TEST(Validity, a_deadline_is_suspect_unless_the_interval_is_tight) {
  Measurement m = quiet();
  m.stop_rule = "deadline";
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
  m.duration_ns_interval = {900, 1100};
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
}

TEST(Validity, a_deadline_says_nothing_of_a_row_without_a_time) {
  Measurement m = quiet();
  m.stop_rule = "deadline";
  m.duration_ns_median = 0;
  m.duration_ns_interval = {0, 100};
  EXPECT_EQ(judge_validity(m, {}).reason.find("wall cap"), std::string::npos);
}

TEST(Validity, a_device_timer_that_contradicts_the_wall_slope_is_quarantined) {
  Measurement m = with_signal("slope_wall_ns", 1000);
  m.signals.push_back({.name = "slope_device_ns", .value = 950, .reason = {}});
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
  m.signals.back().value = 100;
  const Verdict verdict = judge_validity(m, {});
  EXPECT_EQ(verdict.status, Status::quarantined);
  EXPECT_EQ(verdict.reason.rfind("timer", 0), 0U) << verdict.reason;
}

Measurement labelled(int disturbed) {
  Measurement m = quiet();
  for (Sample& sample : m.samples) sample.label = SampleLabel::clean;
  for (int i = 0; i < disturbed; ++i) {
    m.samples[static_cast<std::size_t>(i)].label = SampleLabel::disturbed;
    m.samples[static_cast<std::size_t>(i)].wall_ns = 5000;
  }
  return m;
}

TEST(Validity, a_figure_of_which_less_than_half_is_clean_is_not_ok_and_says_its_share) {
  EXPECT_EQ(judge_validity(labelled(9), {}).status, Status::ok);
  EXPECT_EQ(judge_validity(labelled(10), {}).status, Status::ok) << "half of 20";
  const Verdict verdict = judge_validity(labelled(15), {});
  EXPECT_EQ(verdict.status, Status::suspect);
  EXPECT_EQ(verdict.reason, "share of disturbed samples 0.75 above 0.5");
  EXPECT_EQ(judge_validity(labelled(18), {}).status, Status::suspect);
  EXPECT_EQ(judge_validity(labelled(20), {}).status, Status::invalid);
}

TEST(Validity, wall_over_cpu_time_is_asked_of_clean_samples) {
  Measurement m = labelled(8);
  for (std::size_t i = 8; i < m.samples.size(); ++i) m.samples[i].wall_ns = 1015;
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
  for (std::size_t i = 8; i < m.samples.size(); ++i) m.samples[i].wall_ns = 1030;
  EXPECT_EQ(judge_validity(m, {}).status, Status::suspect);
}

// The periods are those of the whole loop; what they cost was set aside with its chunks, but for
// devices that work alone and for ranks that wait for each other.
TEST(Validity, throttling_that_chunks_show_condemns_no_clean_figure) {
  Measurement m = labelled(4);
  m.signals.push_back({.name = signal_name::throttled_periods, .value = 2, .reason = {}});
  EXPECT_EQ(judge_validity(m, {}).status, Status::invalid) << "no ratio: threads may sleep";
  m.signals.push_back({.name = signal_name::wall_cpu_ratio, .value = 1.0, .reason = {}});
  EXPECT_EQ(judge_validity(m, {}).status, Status::ok);
  m.kernel_case.problem = {"all_reduce", {{"bytes", 64}, {"ranks", 2}, {"dtype", 2}}};
  EXPECT_EQ(judge_validity(m, {}).status, Status::invalid);
}

TEST(Validity, thresholds_can_be_replaced) {
  ValidityThresholds relaxed;
  relaxed.steal_fraction = {0.9, 0.95};
  EXPECT_EQ(judge_validity(with_signal(signal_name::steal_fraction, 0.5), relaxed).status,
            Status::ok);
}

}  // namespace
}  // namespace halmark
