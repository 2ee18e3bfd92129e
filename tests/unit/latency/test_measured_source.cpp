#include "latency/measured_source.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

KernelCase cpu_copy(std::int64_t bytes) {
  KernelCase out = copy_case(bytes);
  out.backend = "cpu";
  out.mode = CacheMode::rotate_all;
  return out;
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
        for (const auto& c : cases) rows.push_back(row_of(c, 500));
        return rows;
      },
      {});
  const std::vector<KernelCase> cases{cpu_copy(64), cpu_copy(64), cpu_copy(128)};
  EXPECT_FALSE(source.latency(cases[0]));
  source.require(cases);
  source.require(cases);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(source.rows(cases[0]).size(), 1U);
  EXPECT_EQ(source.latency(cases[0])->ns, 500);
  EXPECT_EQ(source.latency(cases[0])->provenance, Provenance::measured);
}

TEST(MeasuredSource, what_gave_no_row_is_not_measured_again) {
  int calls = 0;
  MeasuredSource source(
      [&](std::span<const KernelCase> cases) {
        calls += static_cast<int>(cases.size());
        return std::vector<Measurement>{};
      },
      {});
  source.require(std::vector{cpu_copy(64), cpu_copy(128)});
  source.require(std::vector{cpu_copy(64)});
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(source.latency(cpu_copy(64)));
  EXPECT_EQ(source.why_absent(cpu_copy(64)), "never measured");
  EXPECT_TRUE(source.rows(cpu_copy(64)).empty());
}

TEST(MeasuredSource, without_a_way_to_measure_it_knows_what_it_was_told) {
  MeasuredSource source({}, {});
  source.require(std::vector{cpu_copy(64)});
  EXPECT_EQ(source.why_absent(cpu_copy(64)), "never measured");
  EXPECT_TRUE(source.rows(cpu_copy(64)).empty());
  source.add(row_of(cpu_copy(64), 500));
  source.require(std::vector{cpu_copy(64)});
  EXPECT_EQ(source.rows(cpu_copy(64)).size(), 1u);
}

TEST(MeasuredSource, folds_rounds_with_the_bound_of_the_device) {
  const Device d = device();
  MeasuredSource source({}, {&d, 1});
  const KernelCase c = cpu_copy(500);  // 1000 bytes at 1e9 per second
  for (const double ns : {1500.0, 1300.0, 1400.0}) source.add(row_of(c, ns));
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
  const KernelCase c = cpu_copy(64);
  source.add(row_of(c, 900, Status::invalid));
  EXPECT_EQ(source.latency(c)->status, Status::suspect);
  EXPECT_EQ(source.latency(c)->ns, 900);
  EXPECT_FALSE(source.latency(c)->reason.empty());
  source.add(row_of(c, 500));
  EXPECT_EQ(source.latency(c)->status, Status::ok);
  EXPECT_EQ(source.latency(c)->ns, 500);
}

TEST(MeasuredSource, a_failed_case_has_no_latency_but_a_reason) {
  MeasuredSource source({}, {});
  const KernelCase c = cpu_copy(64);
  Measurement failed = row_of(c, 500, Status::wrong_result);
  source.add(failed);
  EXPECT_FALSE(source.latency(c));
  EXPECT_EQ(source.why_absent(c), "wrong_result: because");
}

// Two shards of one thread each: 1000 bytes of each pass under the memory that both share.
TEST(MeasuredSource, shards_that_run_at_once_are_bounded_by_what_they_share) {
  Device d = device();
  d.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 1.25e9});
  MeasuredSource source({}, {&d, 2});
  KernelCase c = cpu_copy(500);
  c.parts = 2;
  source.add(row_of(c, 2000));
  EXPECT_NEAR(source.latency(c)->lower_bound_ns, 1000, 1e-9);
  c.shards_at_once = 2;
  source.add(row_of(c, 2000));
  const auto latency = source.latency(c);
  EXPECT_NEAR(latency->lower_bound_ns, 2 * 1000 / 1.25, 1e-9);
  EXPECT_EQ(latency->limiter, Limiter::memory);
}

TEST(MeasuredSource, without_peaks_the_limiter_is_unknown) {
  MeasuredSource source({}, {});
  const KernelCase c = cpu_copy(64);
  source.add(row_of(c, 500));
  EXPECT_EQ(source.latency(c)->lower_bound_ns, 0);
  EXPECT_EQ(source.latency(c)->limiter, Limiter::unknown);
}

}  // namespace
}  // namespace halmark
