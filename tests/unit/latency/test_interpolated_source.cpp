#include "latency/interpolation/interpolated_source.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

// Half of the peak of 1e15, everywhere.
std::vector<LatencyPoint> table() {
  std::vector<LatencyPoint> out;
  for (std::int64_t m = 512; m <= 8192; m *= 2) {
    for (std::int64_t n = 1024; n <= 8192; n *= 2) {
      for (std::int64_t k = 1024; k <= 8192; k *= 2) {
        const Problem problem = gemm(m, n, k);
        out.push_back({problem, 2 * work_of(problem).matmul_flops / 1e15 * 1e9});
      }
    }
  }
  return out;
}

TEST(InterpolatedSource, carries_the_bound_of_the_target) {
  InterpolatedSource source(device_of("d", 2e15, 3e12));
  source.add(table(), device_of("d", 1e15, 3e12));  // the same by another file
  const Problem wanted = gemm(3000, 3000, 3000);
  const auto latency = source.latency(wanted, work_of(wanted));
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->provenance, Provenance::interpolated);
  EXPECT_EQ(latency->status, Status::ok);
  EXPECT_DOUBLE_EQ(latency->lower_bound_ns, work_of(wanted).matmul_flops / 2e15 * 1e9);
  EXPECT_EQ(latency->limiter, Limiter::compute);
  EXPECT_EQ(source.left_out().kernels, 0u);
}

TEST(InterpolatedSource, points_that_beat_the_roofline_are_left_out) {
  std::vector<LatencyPoint> points = table();
  const double bound_ns = work_of(points[3].problem).matmul_flops / 1e15 * 1e9;
  points[3].ns = bound_ns / 1.019;
  points[40].ns = work_of(points[40].problem).matmul_flops / 1e15 * 1e9 / 1.021;
  InterpolatedSource source(device_of("d", 1e15, 3e12));
  points[40].line = 42;
  source.add(points, device_of("d", 1e15, 3e12),
             [](const Problem&) { return std::string("t.csv: gemm"); });
  EXPECT_EQ(source.left_out().kernels, 1u);
  EXPECT_EQ(source.left_out().asked, points.size());
  EXPECT_EQ(source.left_out().problem, points[40].problem.text());
  EXPECT_EQ(source.left_out().source, "t.csv: gemm, line 42");
}

// Points of a device that states a higher peak are believed there, and their figure is not here.
TEST(InterpolatedSource, a_prediction_below_the_bound_is_quarantined) {
  std::vector<LatencyPoint> points = table();
  for (LatencyPoint& point : points) point.ns /= 2.1;
  const Device target = device_of("d", 1e15, 3e12);
  Device measured_on = device_of("d", 4e15, 3e12);  // the same device by another file
  InterpolatedSource source(target);
  source.add(points, measured_on);
  EXPECT_EQ(source.left_out().kernels, 0u);
  const Problem wanted = gemm(3000, 3000, 3000);
  EXPECT_EQ(source.latency(wanted, work_of(wanted))->status, Status::quarantined);
}

}  // namespace
}  // namespace halmark
