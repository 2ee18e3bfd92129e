// Campaigns over the fake plugin, with every validity threshold out of reach: the machine that runs
// tests is busy, and noise is judged elsewhere.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "measure/campaign/campaign.hpp"
#include "tests/checkout.hpp"

namespace halmark {

inline const std::string fake_plugin_path = test::in_build("/tests/plugins/hm_fake.so");

inline ValidityThresholds blind_thresholds() {
  constexpr Limit blind{ValidityThresholds::never, ValidityThresholds::never};
  ValidityThresholds t;
  t.wall_cpu_ratio = t.loop_wall_cpu_ratio = t.run_delay_fraction = blind;
  t.disturbed_samples = t.involuntary_switches_per_s = t.steal_fraction = t.clock_moved =
      t.peak_moved = blind;
  t.load_per_cpu = t.throttled_periods = t.bandwidth_moved = blind;
  t.dropped_fraction_suspect = 2;
  t.deadline_half_width = ValidityThresholds::never;
  return t;
}

inline CampaignOptions fake_options(const std::string& script) {
  CampaignOptions options;
  options.rounds = 1;
  options.seed = 20;
  options.rule.min_sample_ns = 20'000;
  options.rule.min_samples = 5;
  options.rule.budget_s = 0.001;
  options.rule.warmup_cap_s = 0.01;
  options.thresholds = blind_thresholds();
  options.plugin_path_by_backend["fake"] = fake_plugin_path;
  options.plugin_hash_by_backend["fake"] = "abc";
  options.environment["HALMARK_FAKE_SCRIPT"] = script;
  return options;
}

inline KernelCase fake_case(Problem problem, int sets = 1) {
  KernelCase c;
  c.problem = std::move(problem);
  c.backend = "fake";
  c.sets = sets;
  return c;
}

inline KernelCase gemm_case(std::int64_t m = 8, std::int64_t n = 24, std::int64_t k = 16,
                            int sets = 3) {
  return fake_case(
      {"gemm",
       {{"m", m}, {"n", n}, {"k", k}, {"src_dtype", 2}, {"wei_dtype", 2}, {"dst_dtype", 2}}},
      sets);
}

// Memory of 1 kB/s, as nobody has it.
inline Device with_slow_memory() {
  Device out;
  out.bandwidths.push_back({.level = "memory",
                            .threads = 1,
                            .bytes_per_s = 1e3,
                            .working_set_bytes = 32 << 20,
                            .access = "read",
                            .source = "measured 2026-11-22T09:00:00Z, read"});
  return out;
}

inline KernelCase copy_case(std::int64_t bytes) { return fake_case({"copy", {{"bytes", bytes}}}); }

inline Measurement measure_one(const std::string& script, const KernelCase& kernel_case) {
  const std::vector<KernelCase> cases{kernel_case};
  auto rows = Campaign(fake_options(script)).run(cases);
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? Measurement{} : rows.front();
}

}  // namespace halmark
