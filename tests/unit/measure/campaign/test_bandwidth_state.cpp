// The state of the memory beside rows of real workers.
#include "measure/campaign/bandwidth_state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "fake_campaign.hpp"

namespace halmark {
namespace {

// Rates that nothing here contradicts; slices walk through 64 MiB.
RunPeaks fast_peaks() {
  Device device;
  device.ring_plateau_bytes = 64 << 20;
  device.bandwidths.push_back({.level = "memory",
                               .threads = 1,
                               .bytes_per_s = 1e15,
                               .working_set_bytes = 64 << 20,
                               .access = "read",
                               .source = "measured 2026-11-22T09:00:00Z, read"});
  return RunPeaks(std::move(device), [] { return std::string("2026-11-22T15:00:00Z"); });
}

std::vector<Measurement> measure_by(RunPeaks& peaks, const std::string& script,
                                    const std::vector<KernelCase>& cases) {
  CampaignOptions options = fake_options(script);
  options.peaks = &peaks;
  return Campaign(std::move(options)).run(cases);
}

// A machine that is busy at that moment answers no probe, and says so in the row.
std::vector<Measurement> measure_probed(RunPeaks& peaks, const std::vector<KernelCase>& cases) {
  std::vector<Measurement> rows;
  for (int i = 0; i < 10; ++i) {
    rows = measure_by(peaks, "kind=cpu", cases);
    const bool is_probed = std::ranges::all_of(
        rows, [](const Measurement& row) { return row.bandwidth.before && row.bandwidth.after; });
    if (is_probed) break;
  }
  return rows;
}

TEST(BandwidthState, is_in_every_row_of_a_cpu_from_the_first_on) {
  RunPeaks peaks = fast_peaks();
  const auto rows = measure_probed(peaks, {gemm_case(), copy_case(4096), copy_case(64)});
  ASSERT_EQ(rows.size(), 3U);
  for (const Measurement& row : rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    ASSERT_TRUE(row.bandwidth.before && row.bandwidth.after) << row.bandwidth.reason;
    EXPECT_GT(*row.bandwidth.before, 1e8);
    EXPECT_LT(*row.bandwidth.before, 1e13);
    ASSERT_TRUE(row.bandwidth.age_s);
    EXPECT_GE(*row.bandwidth.age_s, 0);
    EXPECT_LE(*row.bandwidth.age_s, 2);
    EXPECT_TRUE(row.bandwidth.reason.empty());
  }
}

TEST(BandwidthState, is_kept_as_an_access_of_its_own) {
  constexpr std::int64_t mib = 1 << 20;
  RunPeaks peaks = fast_peaks();
  Device known = peaks.device();
  known.bandwidths.push_back(known.bandwidths.front());
  known.bandwidths.back().threads = Topology::of_machine().processing_units();
  // The walk is as long as the device's plateau, 256 MiB where that is not known.
  for (const auto& [plateau, walk] :
       {std::pair{std::optional(64 * mib), 64 * mib}, {std::nullopt, 256 * mib}}) {
    known.ring_plateau_bytes = plateau;
    RunPeaks exact(known, [] { return std::string("2026-11-22T15:00:00Z"); });
    // A machine that is busy at that moment answers no probe.
    for (int i = 0; i < 5 && !exact.has_seen(); ++i) {
      (void)measure_by(exact, "kind=cpu", {copy_case(4096)});
    }
    ASSERT_EQ(exact.seen().bandwidths.size(), 1U);
    EXPECT_EQ(exact.seen().bandwidths[0].access, "slices");
    EXPECT_GT(exact.seen().bandwidths[0].bytes_per_s, 1e8);
    EXPECT_EQ(exact.seen().bandwidths[0].working_set_bytes, walk);
  }
}

TEST(BandwidthState, of_shards_at_once_is_that_of_all) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  RunPeaks peaks = fast_peaks();
  KernelCase pair = copy_case(4096);
  pair.parts = 2;
  pair.shards_at_once = 2;
  const auto rows = measure_probed(peaks, {pair});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].status, Status::ok) << rows[0].reason;
  EXPECT_TRUE(rows[0].bandwidth.before) << rows[0].bandwidth.reason;
}

TEST(BandwidthState, of_a_device_with_memory_of_its_own_is_absent_with_the_reason) {
  RunPeaks peaks = fast_peaks();
  const auto rows = measure_by(peaks, "", {copy_case(64)});
  EXPECT_EQ(rows.at(0).status, Status::ok) << rows.at(0).reason;
  EXPECT_FALSE(rows.at(0).bandwidth.before);
  EXPECT_EQ(rows.at(0).bandwidth.reason, "no host probe: the device has memory of its own");
}

TEST(BandwidthState, is_not_followed_without_a_best_to_compare_with) {
  const Measurement row = measure_one("kind=cpu", copy_case(64));
  EXPECT_FALSE(row.bandwidth.before);
  EXPECT_EQ(row.bandwidth.reason, "no measured bandwidth of this device");
}

CrewOptions one_cpu_crew() {
  CrewOptions options;
  options.group = case_group(copy_case(64));
  options.plugin_path = fake_plugin_path;
  options.environment["HALMARK_FAKE_SCRIPT"] = "kind=cpu";
  return options;
}

TEST(BandwidthState, is_not_probed_again_within_a_quarter_of_a_second) {
  auto crew = Crew::start(one_cpu_crew());
  ASSERT_TRUE(crew) << crew.failure.reason;
  BandwidthState state(32 << 20);
  EXPECT_EQ(state.read(**crew).reason, "not probed yet");
  state.probe(**crew, false);
  for (int i = 0; i < 10 && !state.read(**crew).bytes_per_s; ++i) {  // busy: see above
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    state.probe(**crew, false);
  }
  const auto first = state.read(**crew);
  ASSERT_TRUE(first.bytes_per_s) << first.reason;
  state.probe(**crew, false);
  const auto second = state.read(**crew);
  ASSERT_TRUE(second.age_s);
  EXPECT_GT(*second.age_s, *first.age_s) << "a new slice would be younger";
  EXPECT_EQ(*second.bytes_per_s, *first.bytes_per_s);
}

TEST(BandwidthState, of_a_lost_worker_is_absent_with_the_reason) {
  auto crew = Crew::start(one_cpu_crew());
  ASSERT_TRUE(crew) << crew.failure.reason;
  (*crew)->worker(0).kill();
  BandwidthState state(32 << 20);
  state.probe(**crew, false);
  const auto reading = state.read(**crew);
  EXPECT_FALSE(reading.bytes_per_s);
  EXPECT_FALSE(reading.reason.empty());
}

}  // namespace
}  // namespace halmark
