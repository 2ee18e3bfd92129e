#include <gtest/gtest.h>

#include "latency/measured_source.hpp"

namespace halmark {
namespace {

KernelCase copy_case(std::int64_t bytes) {
  KernelCase c;
  c.problem = {"copy", {{"bytes", bytes}}};
  c.backend = "cpu";
  c.mode = CacheMode::rotate_all;
  return c;
}

Measurement row(const KernelCase& kernel_case, double ns, Status status = Status::ok) {
  Measurement m;
  m.kernel_case = kernel_case;
  m.status = status;
  m.reason = status == Status::ok ? "" : "because";
  m.samples.push_back({.wall_ns = ns});
  m.duration_ns_median = ns;
  m.duration_ns_interval = {ns - 1, ns + 1};
  return m;
}

Device device() {
  Device d;
  d.bandwidths.push_back({.level = "memory", .threads = 1, .bytes_per_s = 1e9});
  return d;
}

TEST(MeasuredSource, measures_what_it_does_not_know_once) {
  int calls = 0;
  MeasuredSource source(
      [&](std::span<const KernelCase> cases) {
        ++calls;
        std::vector<Measurement> rows;
        for (const auto& c : cases) rows.push_back(row(c, 500));
        return rows;
      },
      {});
  const std::vector<KernelCase> cases{copy_case(64), copy_case(64), copy_case(128)};
  EXPECT_FALSE(source.latency(cases[0]));
  source.require(cases);
  source.require(cases);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(source.rows(cases[0]).size(), 1U);
  EXPECT_EQ(source.latency(cases[0])->ns, 500);
  EXPECT_EQ(source.latency(cases[0])->provenance, Provenance::measured);
}

TEST(MeasuredSource, folds_rounds_with_the_bound_of_the_device) {
  const Device d = device();
  MeasuredSource source({}, {&d, 1});
  const KernelCase c = copy_case(500);  // 1000 bytes at 1e9 per second
  for (const double ns : {1500.0, 1300.0, 1400.0}) source.add(row(c, ns));
  const auto latency = source.latency(c);
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->ns, 1400);
  EXPECT_EQ(latency->low_ns, 1300);
  EXPECT_EQ(latency->high_ns, 1500);
  EXPECT_EQ(latency->rounds, 3);
  EXPECT_NEAR(latency->lower_bound_ns, 1000, 1e-9);
}

TEST(MeasuredSource, noisy_rows_count_only_without_valid_ones_and_say_so) {
  MeasuredSource source({}, {});
  const KernelCase c = copy_case(64);
  source.add(row(c, 900, Status::invalid));
  EXPECT_EQ(source.latency(c)->status, Status::suspect);
  EXPECT_EQ(source.latency(c)->ns, 900);
  EXPECT_FALSE(source.latency(c)->reason.empty());
  source.add(row(c, 500));
  EXPECT_EQ(source.latency(c)->status, Status::ok);
  EXPECT_EQ(source.latency(c)->ns, 500);
}

TEST(MeasuredSource, a_failed_case_has_no_latency_but_a_reason) {
  MeasuredSource source({}, {});
  const KernelCase c = copy_case(64);
  Measurement failed = row(c, 500, Status::wrong_result);
  source.add(failed);
  EXPECT_FALSE(source.latency(c));
  EXPECT_EQ(source.why_absent(c), "wrong_result: because");
}

TEST(ChainedSource, asks_in_order_of_trust_and_requires_only_what_is_open) {
  const Device d = device();
  std::vector<KernelCase> asked;
  MeasuredSource first({}, {&d, 1});
  first.add(row(copy_case(64), 500));
  MeasuredSource second(
      [&](std::span<const KernelCase> cases) {
        asked.assign(cases.begin(), cases.end());
        return std::vector<Measurement>{};
      },
      {&d, 1});
  RooflineSource roofline({&d, 1});
  ChainedSource chain({&second, &first, &roofline});
  second.add(row(copy_case(32), 100));
  const std::vector<KernelCase> cases{copy_case(32), copy_case(96)};
  chain.require(cases);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0], copy_case(96));
  EXPECT_EQ(chain.latency(copy_case(32))->ns, 100);
  EXPECT_EQ(chain.latency(copy_case(64))->ns, 500);
  EXPECT_EQ(chain.latency(copy_case(96))->provenance, Provenance::roofline);
}

}  // namespace
}  // namespace halmark
