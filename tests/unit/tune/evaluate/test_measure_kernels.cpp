// Campaigns outside of any sweep: what they are told, and that a plugin that cannot be loaded is a
// row per case and round.
#include "tune/evaluate/measure_kernels.hpp"

#include <gtest/gtest.h>

#include <set>

#include "kernels/contract.hpp"
#include "tests/stopped.hpp"

namespace halmark::tune {
namespace {

KernelCase copy_of(std::int64_t bytes) {
  KernelCase out;
  out.problem = complete_problem({"copy", {{"bytes", bytes}}});
  out.backend = "cpu";
  return out;
}

TEST(CampaignOf, names_the_plugin_of_its_backend_and_the_peaks_of_the_run) {
  RunPeaks peaks(Device{.id = "cpu:0"}, [] { return std::string("2026-11-22T15:04:05Z"); });
  const CampaignOptions cpu = campaign_of("cpu", "/p/hm_cpu.so", "00ff", &peaks);
  EXPECT_EQ(cpu.plugin_path_by_backend.at("cpu"), "/p/hm_cpu.so");
  EXPECT_EQ(cpu.plugin_hash_by_backend.at("cpu"), "00ff");
  EXPECT_EQ(cpu.peaks, &peaks);
  EXPECT_EQ(campaign_of("cpu", "", "", nullptr).peaks, nullptr);
}

TEST(MeasureKernels, gives_a_row_for_each_case_and_round_and_passes_each_on) {
  const std::vector<KernelCase> cases = {copy_of(64), copy_of(128)};
  std::size_t passed_on = 0, progress = 0;
  const std::vector<Measurement> rows =
      measure_kernels(cases, {.backend = "cpu",
                              .plugin_path = "/nowhere/hm_cpu.so",
                              .plugin_hash = "00ff",
                              .rounds = 2,
                              .seed = 5,
                              .sink = [&](const Measurement&) { ++passed_on; },
                              .progress = [&](const CampaignProgress&) { ++progress; }});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(passed_on, 4u);
  EXPECT_EQ(progress, 4u);
  std::set<std::pair<std::string, int>> seen;
  for (const Measurement& row : rows) {
    EXPECT_FALSE(has_latency(row.status));
    EXPECT_FALSE(row.reason.empty());
    EXPECT_EQ(row.plugin_hash, "00ff");
    seen.insert({row.kernel_case.key(), row.round});
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(MeasureKernels, what_is_interrupted_has_no_row) {
  const std::vector<KernelCase> cases = {copy_of(64)};
  EXPECT_TRUE(measure_kernels(cases, {.backend = "cpu", .stop = test::stopped()}).empty());
}

}  // namespace
}  // namespace halmark::tune
