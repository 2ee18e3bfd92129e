// What the ceilings of a run become when a probe sees them.
#include "measure/campaign/run_peaks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace halmark {
namespace {

constexpr const char* now = "2026-11-22T15:04:05Z";

Device known() {
  Device device{.id = "cpu:0", .is_measured = true};
  device.peaks.push_back({.path = "f32_vector",
                          .dtype = Dtype::f32,
                          .isa = "avx2",
                          .threads = 2,
                          .flops_per_s = 1e11,
                          .source = "measured before"});
  device.bandwidths.push_back(
      {.level = "memory", .threads = 2, .bytes_per_s = 1e10, .access = "read", .source = "before"});
  return device;
}

RunPeaks peaks_of(Device device) {
  return RunPeaks(std::move(device), [] { return std::string(now); });
}

Peak peak(int threads, const char* isa = "avx2", Dtype dtype = Dtype::f32) {
  return {
      .path = "f32_vector", .dtype = dtype, .isa = isa, .threads = threads, .flops_per_s = 9e99};
}
Bandwidth memory(int threads, const char* access = "read") {
  return {.level = "memory", .threads = threads, .bytes_per_s = 9e99, .access = access};
}

double flops(const RunPeaks& peaks, int threads) {
  for (const Peak& p : peaks.device().peaks) {
    if (p.threads == threads && p.isa == "avx2" && p.dtype == Dtype::f32) return p.flops_per_s;
  }
  return 0;
}
double bytes(const RunPeaks& peaks, int threads, const char* access = "read") {
  for (const Bandwidth& b : peaks.device().bandwidths) {
    if (b.threads == threads && b.access == access) return b.bytes_per_s;
  }
  return 0;
}

TEST(RunPeaks, begin_without_having_seen_anything) {
  const RunPeaks peaks = peaks_of(known());
  EXPECT_FALSE(peaks.has_seen());
  EXPECT_EQ(peaks.revision(), 0);
  EXPECT_EQ(peaks.seen().id, "cpu:0");
  EXPECT_TRUE(peaks.seen().peaks.empty());
  EXPECT_TRUE(peaks.seen().bandwidths.empty());
  EXPECT_EQ(flops(peaks, 2), 1e11);
}

TEST(RunPeaks, a_higher_rate_lifts_a_ceiling_and_a_lower_one_leaves_it) {
  RunPeaks peaks = peaks_of(known());
  const double rates[] = {1.1e11, 1.3e11, 1.2e11};
  peaks.observe(peak(2), rates);
  EXPECT_EQ(flops(peaks, 2), 1.1e11) << "the third-highest of two occasions";
  EXPECT_EQ(peaks.revision(), 1);
  const double slow[] = {0.5e11};
  peaks.observe(peak(2), slow);
  EXPECT_EQ(flops(peaks, 2), 1.1e11) << "earlier rows were judged by it";
  const double memory_rates[] = {1.5e10, 1.3e10, 1.4e10};
  peaks.observe(memory(2), memory_rates);
  EXPECT_EQ(bytes(peaks, 2), 1.3e10);
  const double slow_memory[] = {0.1e10};
  peaks.observe(memory(2), slow_memory);
  EXPECT_EQ(bytes(peaks, 2), 1.3e10);
}

TEST(RunPeaks, a_probe_without_rates_changes_nothing) {
  RunPeaks peaks = peaks_of(known());
  peaks.observe(peak(2), {});
  peaks.observe(memory(2), {});
  EXPECT_EQ(peaks.revision(), 0);
  EXPECT_FALSE(peaks.has_seen());
}

TEST(RunPeaks, what_was_seen_has_its_occasion_and_no_earlier_figure) {
  RunPeaks peaks = peaks_of(known());
  const double rates[] = {0.6e11, 0.4e11};
  peaks.observe(peak(2), rates);
  EXPECT_TRUE(peaks.has_seen());
  ASSERT_EQ(peaks.seen().peaks.size(), 1u);
  const Peak& seen = peaks.seen().peaks[0];
  EXPECT_EQ(seen.flops_per_s, 0.6e11) << "of this run alone";
  EXPECT_EQ(seen.source, std::string("measured ") + now);
  ASSERT_EQ(seen.occasions.size(), 1u);
  EXPECT_EQ(seen.occasions[0].utc, now);
  EXPECT_EQ(seen.occasions[0].probes, 2);
  const double memory_rates[] = {0.7e10};
  peaks.observe(memory(2), memory_rates);
  ASSERT_EQ(peaks.seen().bandwidths.size(), 1u);
  EXPECT_EQ(peaks.seen().bandwidths[0].bytes_per_s, 0.7e10);
  EXPECT_EQ(peaks.seen().bandwidths[0].source, std::string("measured ") + now + ", read");
  EXPECT_EQ(peaks.revision(), 2);
}

TEST(RunPeaks, what_was_seen_beside_other_work_is_kept_as_such) {
  RunPeaks peaks = peaks_of(known());
  const double rates[] = {1e9, 1e9, 1e9};
  peaks.observe(peak(2), rates, true);
  peaks.observe(memory(2), rates, true);
  EXPECT_TRUE(peaks.seen().peaks.at(0).occasions.at(0).is_busy);
  EXPECT_TRUE(peaks.seen().bandwidths.at(0).occasions.at(0).is_busy);
  Device file = known();
  observe(file, peaks.seen());
  EXPECT_EQ(file.peaks.at(0).flops_per_s, known().peaks.at(0).flops_per_s);
}

// One thread of two is scaled to half: 5e10 FLOP/s and 5e9 bytes/s here.
TEST(RunPeaks, another_thread_count_becomes_a_ceiling_of_its_own_above_what_is_scaled) {
  RunPeaks peaks = peaks_of(known());
  ASSERT_TRUE(peaks.device().path_peak(Dtype::f32, "avx2", 1));
  ASSERT_TRUE(peaks.device().bandwidth("memory", 1));
  const double scaled = peaks.device().path_peak(Dtype::f32, "avx2", 1)->flops_per_s;
  const double below[] = {0.9 * scaled}, above[] = {1.1 * scaled};
  peaks.observe(peak(1), below);
  EXPECT_EQ(flops(peaks, 1), 0);
  EXPECT_EQ(peaks.revision(), 0);
  peaks.observe(peak(1), above);
  EXPECT_EQ(flops(peaks, 1), 1.1 * scaled);
  peaks.observe(peak(1), below);
  EXPECT_EQ(peaks.revision(), 2) << "now it is known, and what is seen of it is kept";
  EXPECT_EQ(flops(peaks, 1), 1.1 * scaled);
  const double scaled_bytes = peaks.device().bandwidth("memory", 1)->bytes_per_s;
  const double less[] = {0.9 * scaled_bytes}, more[] = {1.1 * scaled_bytes};
  peaks.observe(memory(1), less);
  EXPECT_EQ(bytes(peaks, 1), 0);
  peaks.observe(memory(1), more);
  EXPECT_EQ(bytes(peaks, 1), 1.1 * scaled_bytes);
}

TEST(RunPeaks, ceilings_follow_what_is_seen) {
  RunPeaks peaks = peaks_of(known());
  const auto* before = &peaks.ceilings(2, 1);
  EXPECT_EQ(before, &peaks.ceilings(2, 1)) << "resolved once";
  EXPECT_NE(before, &peaks.ceilings(1, 1));
  EXPECT_NE(before, &peaks.ceilings(2, 2));
}

TEST(RunPeaks, what_a_probe_said_is_remembered_by_its_name) {
  RunPeaks peaks = peaks_of(known());
  EXPECT_EQ(peaks.recent("f32 2"), nullptr);
  peaks.remember("f32 2", "slow");
  ASSERT_NE(peaks.recent("f32 2"), nullptr);
  EXPECT_EQ(*peaks.recent("f32 2"), "slow");
  EXPECT_EQ(peaks.recent("f32 1"), nullptr);
  peaks.remember("f32 2", "fast");
  EXPECT_EQ(*peaks.recent("f32 2"), "fast");
}

}  // namespace
}  // namespace halmark
