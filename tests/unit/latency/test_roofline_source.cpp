#include "latency/roofline_source.hpp"

#include <random>

#include "latency/launch_floor.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

Device gpu() {
  return device_of("gpu", 1e12, 1e10,
                   {{.name = "link", .bytes_per_s = 4.5e8, .domain_devices = 8}});
}

Latency of(const RooflineSource& source, const Problem& problem) {
  return source.latency(problem, work_of(problem)).value();
}

TEST(RooflineSource, the_estimate_sums_bytes_and_the_bound_takes_those_that_must_come) {
  const RooflineSource source(gpu(), {});
  const Latency latency = of(source, gemm(100));
  // 2 MB of weights, 2 x 0.2 MB of activations at 1e10 bytes/s; 0.2 GFLOP at 1e12.
  EXPECT_DOUBLE_EQ(latency.ns, 2.4e6 / 1e10 * 1e9);
  EXPECT_DOUBLE_EQ(latency.lower_bound_ns, 2e6 / 1e10 * 1e9);
  EXPECT_EQ(latency.limiter, Limiter::compute) << "0.2 ms either way";
  EXPECT_EQ(latency.provenance, Provenance::roofline);
  EXPECT_EQ(latency.status, Status::ok);
  EXPECT_EQ(latency.low_ns, latency.ns);
  EXPECT_EQ(latency.high_ns, latency.ns);
}

TEST(RooflineSource, is_asked_for_a_collective_like_for_any_kernel) {
  const RooflineSource source(gpu(), 5e7);
  EXPECT_NEAR(of(source, all_reduce(8)).ns, 2 * 7 / 8.0 * (1 << 20) / 4.5e8 * 1e9, 1e-6);
  EXPECT_EQ(of(source, all_reduce(8)).lower_bound_ns, of(source, all_reduce(8)).ns);
  EXPECT_EQ(of(source, all_reduce(8)).limiter, Limiter::communication);
  // Beyond the domain a flat ring is expected, and one message over 8 devices' shares is the bound.
  const Latency far = of(source, all_reduce(16));
  EXPECT_NEAR(far.ns, 2 * 15 / 16.0 * (1 << 20) / 5e7 * 1e9, 1e-3);
  EXPECT_NEAR(far.lower_bound_ns, (1 << 20) / 8.0 / 5e7 * 1e9, 1e-3);
}

// No byte of it must come from memory, so nothing bounds it; its bytes are still all that it does.
TEST(RooflineSource, element_wise_work_waits_for_memory) {
  const RooflineSource source(gpu(), {});
  const Work work{.vector_flops = 100, .bytes_read = 800, .bytes_written = 400};
  const Latency latency = source.latency(gemm(1), work).value();
  EXPECT_EQ(latency.limiter, Limiter::memory);
}

TEST(RooflineSource, an_estimate_is_not_below_the_launch_floor_and_its_bound_is) {
  const RooflineSource plain(gpu(), {}), launched(gpu(), {}, 5e5);
  const Latency small = of(launched, gemm(1));
  EXPECT_EQ(small.ns, 5e5);
  EXPECT_EQ(small.low_ns, 5e5);
  EXPECT_EQ(small.lower_bound_ns, of(plain, gemm(1)).lower_bound_ns);
  EXPECT_EQ(of(launched, gemm(10'000)).ns, of(plain, gemm(10'000)).ns);
}

LatencyPoint point(const Problem& problem, double ns) { return {problem, ns}; }

TEST(LaunchFloor, is_the_time_that_one_of_a_hundred_small_kernels_undercuts) {
  std::vector<LatencyPoint> series;
  for (int i = 0; i < 200; ++i) series.push_back(point(gemm(i + 1), 3000 + 10 * i));
  series[150].ns = 1;  // a mistake of the table
  LaunchFloor floor;
  EXPECT_EQ(floor.ns(), 0);
  floor.add(series);
  EXPECT_EQ(floor.ns(), 3010);
  std::vector<LatencyPoint> sums(100, point(all_reduce(2), 500));
  floor.add(sums);
  EXPECT_EQ(floor.ns(), 3010) << "ranks wait for each other";
  floor.add(std::vector<LatencyPoint>(5, point(gemm(1), 100)));
  EXPECT_EQ(floor.ns(), 3010) << "too few to tell";
  floor.add(std::vector<LatencyPoint>(50, point(gemm(1), 2000)));
  EXPECT_EQ(floor.ns(), 2000);
}

TEST(RooflineSource, an_unknown_figure_gives_no_time) {
  Device bare = gpu();
  bare.links.clear();
  EXPECT_FALSE(RooflineSource(bare, {}).latency(all_reduce(8), work_of(all_reduce(8))));
  bare.peaks.clear();
  EXPECT_FALSE(RooflineSource(bare, {}).latency(gemm(1), work_of(gemm(1))));
}

TEST(RooflineSource, a_case_is_its_problem_on_the_whole_device) {
  const RooflineSource source(gpu(), {});
  KernelCase c;
  c.problem = gemm(100);
  c.shards_at_once = 8;
  EXPECT_EQ(source.latency(c)->ns, of(source, gemm(100)).ns);
  c.parts = 2;
  EXPECT_FALSE(source.latency(c));
}

// The estimate is what the rates say, and no bound is above it, with caches and without.
TEST(RooflineSource, no_bound_is_above_the_estimate_of_random_work) {
  std::mt19937_64 random(3);
  const auto log_uniform = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (int i = 0; i < 2000; ++i) {
    Device d = gpu();
    double bytes_per_s = 1e10;
    for (const char* level : {"l3", "l2", "l1"}) {
      if (random() % 2 == 0) continue;
      bytes_per_s *= log_uniform(1, 5);
      d.bandwidths.push_back(
          {.level = level,
           .bytes_per_s = bytes_per_s,
           .working_set_bytes = static_cast<std::int64_t>(log_uniform(1e3, 1e8))});
    }
    const RooflineSource source(d, {});
    const double constant = log_uniform(1, 1e9);
    const Work work{.matmul_flops = log_uniform(1, 1e12),
                    .bytes_read = constant + log_uniform(1, 1e9),
                    .bytes_written = log_uniform(1, 1e9),
                    .constant_bytes = constant,
                    .compute_dtype = Dtype::bf16};
    const Latency latency = source.latency(gemm(1), work).value();
    const double expected = RooflineRates(d, {}).ns(work, 1).value();
    EXPECT_NEAR(latency.ns, expected, 1e-12 * expected);
    EXPECT_LE(latency.lower_bound_ns, latency.ns);
    EXPECT_GT(latency.lower_bound_ns, 0);
  }
}

}  // namespace
}  // namespace halmark
