// A time below its bound on both sides: with peaks of a slower minute it is true, with a plugin
// that answers from memory it is not.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "fake_campaign.hpp"
#include "measure/campaign/run_peaks.hpp"

namespace halmark {
namespace {

constexpr const char* now = "2026-11-22T15:00:00Z";

RunPeaks peaks_of(Device device) {
  return RunPeaks(std::move(device), [] { return std::string(now); });
}

Measurement measure_by(RunPeaks& peaks, const std::string& script, const KernelCase& kernel_case) {
  CampaignOptions options = fake_options(script);
  options.peaks = &peaks;
  const std::vector<KernelCase> cases{kernel_case};
  return Campaign(std::move(options)).run(cases).at(0);
}

const Signal* fresh_probe_of(const Measurement& row) {
  const auto found = std::ranges::find(row.signals, "fresh_probe", &Signal::name);
  return found == row.signals.end() ? nullptr : &*found;
}

TEST(FreshProbe, a_stale_low_peak_is_refined_and_the_row_is_ok) {
  RunPeaks peaks = peaks_of(with_slow_memory());
  const Measurement row = measure_by(peaks, "kind=cpu", gemm_case(8, 256, 256));
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  const Signal* probe = fresh_probe_of(row);
  ASSERT_NE(probe, nullptr);
  EXPECT_NE(probe->reason.find("memory"), std::string::npos) << probe->reason;
  EXPECT_NE(probe->reason.find("before, "), std::string::npos) << probe->reason;
  ASSERT_TRUE(peaks.has_seen());
  EXPECT_GT(peaks.seen().bandwidths.at(0).bytes_per_s, 1e8);
  EXPECT_EQ(peaks.seen().bandwidths.at(0).occasions.at(0).utc, now);
}

// The first worker is off its CPU in every call and probes; the second meets the refined peak.
TEST(FreshProbe, a_row_of_a_later_try_tells_the_probe_of_an_earlier_one) {
  RunPeaks peaks = peaks_of(with_slow_memory());
  const auto once = std::filesystem::temp_directory_path() /
                    ("halmark-nap-then-probe-" + std::to_string(::getpid()));
  std::filesystem::remove(once);
  CampaignOptions options =
      fake_options("kind=cpu;latency_ns=100000;nap=enqueue;once_file=" + once.string());
  options.peaks = &peaks;
  options.thresholds.disturbed_samples = {0.9, ValidityThresholds::never};
  options.retries_per_case = 3;
  options.retry_budget_s = 100;
  const std::vector<KernelCase> cases{gemm_case(8, 256, 256)};
  const Measurement row = Campaign(std::move(options)).run(cases).at(0);
  std::filesystem::remove(once);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(std::ranges::count(row.signals, "tried_again", &Signal::name), 1);
  EXPECT_EQ(std::ranges::count(row.signals, "fresh_probe", &Signal::name), 1);
}

TEST(FreshProbe, a_low_peak_of_a_path_is_refined_too) {
  Device device;
  device.peaks.push_back({.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1});
  RunPeaks peaks = peaks_of(device);
  const Measurement row = measure_by(peaks, "kind=cpu", gemm_case());
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  ASSERT_NE(fresh_probe_of(row), nullptr);
}

TEST(FreshProbe, a_time_that_no_machine_has_stays_quarantined_and_both_figures_are_named) {
  RunPeaks peaks = peaks_of(with_slow_memory());
  const Measurement row = measure_by(peaks, "kind=cpu;memoise=1", gemm_case(1, 2048, 2048, 1));
  EXPECT_EQ(row.status, Status::quarantined) << row.reason;
  EXPECT_EQ(row.reason.rfind("faster_than_roofline", 0), 0U) << row.reason;
  EXPECT_NE(row.reason.find("before, "), std::string::npos) << row.reason;
  EXPECT_NE(row.reason.find("in a fresh probe"), std::string::npos) << row.reason;
  // A try that waited for a CPU may have had a time that a probe reaches.
  const bool is_first = std::ranges::count(row.signals, "tried_again", &Signal::name) == 0;
  EXPECT_TRUE(!is_first || fresh_probe_of(row) == nullptr);
}

TEST(FreshProbe, without_an_answer_the_row_stays_quarantined_and_says_why) {
  Device device;
  device.peaks.push_back({.path = "f4_matrix", .dtype = Dtype::f32, .flops_per_s = 1});
  RunPeaks peaks = peaks_of(device);
  const Measurement row = measure_by(peaks, "kind=cpu", gemm_case());
  EXPECT_EQ(row.status, Status::quarantined);
  EXPECT_NE(row.reason.find("no fresh probe: this CPU has no path f4_matrix"), std::string::npos)
      << row.reason;
  EXPECT_FALSE(peaks.has_seen());
}

TEST(FreshProbe, a_row_within_its_bound_asks_for_none) {
  Device device = with_slow_memory();
  device.bandwidths[0].bytes_per_s = 1e15;
  RunPeaks peaks = peaks_of(device);
  const Measurement row = measure_by(peaks, "kind=cpu", gemm_case());
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(fresh_probe_of(row), nullptr);
}

TEST(FreshProbe, peaks_of_the_cpu_say_nothing_of_a_device_that_keeps_its_own_time) {
  RunPeaks peaks = peaks_of(with_slow_memory());
  const Measurement row =
      measure_by(peaks, "timer=device_event;latency_ns=3000000", gemm_case(8, 256, 256));
  // On a busy machine the wall's slope may contradict the device's; the bound never does.
  EXPECT_EQ(row.reason.find("faster_than_roofline"), std::string::npos) << row.reason;
  EXPECT_FALSE(peaks.has_seen());
}

TEST(FreshProbe, what_the_clock_of_the_host_times_is_bounded_whatever_it_calls_itself) {
  RunPeaks peaks = peaks_of(with_slow_memory());
  const Measurement honest = measure_by(peaks, "", gemm_case(8, 256, 256));
  EXPECT_EQ(honest.status, Status::ok) << honest.reason;
  EXPECT_TRUE(peaks.has_seen());
  const Measurement row = measure_by(peaks, "memoise=1", gemm_case(1, 2048, 2048, 1));
  EXPECT_EQ(row.status, Status::quarantined) << row.reason;
  EXPECT_EQ(row.reason.rfind("faster_than_roofline", 0), 0U) << row.reason;
}

TEST(FreshProbe, shards_that_were_measured_together_probe_together) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  Device device = with_slow_memory();
  device.bandwidths.push_back(device.bandwidths.front());
  device.bandwidths.back().threads = 2;
  KernelCase pair = gemm_case(8, 256, 256, 2);
  pair.parts = 2;
  pair.shards_at_once = 2;
  for (int attempt = 0; attempt < 5; ++attempt) {
    RunPeaks peaks = peaks_of(device);
    const Measurement row = measure_by(peaks, "kind=cpu", pair);
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    ASSERT_NE(fresh_probe_of(row), nullptr);
    EXPECT_NE(fresh_probe_of(row)->reason.find("of each of 2 shards"), std::string::npos)
        << fresh_probe_of(row)->reason;
    // What both reach at once is a ceiling of all their threads.
    const auto& seen = peaks.seen().bandwidths;
    const auto slices = [&](int threads) {
      return std::ranges::find_if(
          seen, [&](const Bandwidth& b) { return b.threads == threads && b.access == "slices"; });
    };
    const int threads = seen.at(0).threads;
    // While threads of the plugin are busy nothing reads slices, and whole sets are read instead.
    if (slices(threads) == seen.end()) continue;
    ASSERT_NE(slices(2 * threads), seen.end());
    // The state of the bandwidth, of both together, is added to the second alone.
    EXPECT_GE(slices(2 * threads)->bytes_per_s, 2 * slices(threads)->bytes_per_s);
    return;
  }
  GTEST_SKIP() << "this machine is too busy to read slices of memory";
}

TEST(RunPeaks, do_not_fall_within_a_run) {
  Device device = with_slow_memory();
  device.bandwidths[0].bytes_per_s = 100;
  RunPeaks peaks = peaks_of(device);
  peaks.observe(Bandwidth{.level = "memory", .threads = 1, .access = "read"},
                std::vector<double>{40, 41, 42});
  EXPECT_EQ(peaks.device().bandwidth("memory", 1)->bytes_per_s, 100);
  EXPECT_EQ(peaks.device().bandwidths.at(0).occasions.size(), 2U);
  EXPECT_EQ(peaks.revision(), 1);
}

TEST(RunPeaks, a_slow_probe_of_more_threads_does_not_replace_what_is_scaled) {
  Device device = with_slow_memory();
  device.bandwidths[0].bytes_per_s = 100;
  RunPeaks peaks = peaks_of(device);
  const Bandwidth two{.level = "memory", .threads = 2, .access = "read"};
  peaks.observe(two, std::vector<double>{150});
  EXPECT_EQ(peaks.device().bandwidth("memory", 2)->bytes_per_s, 200);
  peaks.observe(two, std::vector<double>{250});
  EXPECT_EQ(peaks.device().bandwidth("memory", 2)->bytes_per_s, 250);
}

TEST(RunPeaks, ceilings_follow_what_was_seen) {
  RunPeaks peaks = peaks_of(with_slow_memory());
  const roofline::Traffic traffic{.constant_bytes = 1e3, .ring_bytes = 1e9};
  EXPECT_DOUBLE_EQ(peaks.ceilings(1, 1).bound({}, traffic).ns(), 1e9);
  peaks.observe(Bandwidth{.level = "memory", .threads = 1, .access = "copy"},
                std::vector<double>{1e6, 1e6, 1e6});
  EXPECT_DOUBLE_EQ(peaks.ceilings(1, 1).bound({}, traffic).ns(), 1e6);
}

}  // namespace
}  // namespace halmark
