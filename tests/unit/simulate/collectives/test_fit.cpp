

#include "simulate/collectives/fit.hpp"
#include "simulate/collectives/known_systems.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

// Two protocols, 5 us and 12 us, 50 and 400 GB/s: figures of no system, far from the box's middle.
double truth(double bytes, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  const double growth = std::pow(n / 2, 0.6), moved = bytes * (n - 1) / n;
  const double cost = 1 + 0.3 * (2 / n - 1);
  return std::min(5e-6 * growth + moved / 50e9 * cost, 12e-6 * growth + moved / 400e9 * cost);
}

std::vector<CollectivePoint> points_of(std::vector<std::int64_t> ranks) {
  std::vector<CollectivePoint> out;
  for (const std::int64_t n : ranks) {
    for (double bytes = 512; bytes < 1e9; bytes *= 4) out.push_back({n, bytes, truth(bytes, n)});
  }
  return out;
}

TEST(CollectiveFit, finds_the_curve_that_made_the_points) {
  const CollectiveFit fit = fit_collective(Collective::all_gather, points_of({2, 4, 8}));
  EXPECT_EQ(fit.curve.shape, CurveShape::lines);
  EXPECT_LT(fit.mean_error, 0.005);
  EXPECT_NEAR(fit.curve.base_s, 5e-6, 0.1e-6);
  EXPECT_NEAR(fit.curve.second_s, 12e-6, 0.3e-6);
  EXPECT_NEAR(1 / fit.curve.s_per_byte, 400e9, 4e9);
  EXPECT_NEAR(fit.curve.latency_exponent, 0.6, 0.02);
  for (double bytes = 1024; bytes < 1e9; bytes *= 4) {
    EXPECT_NEAR(fit.seconds(bytes, 16) / truth(bytes, 16), 1, 0.05) << bytes;
  }
}

TEST(CollectiveFit, an_outlier_does_not_bend_the_curve) {
  std::vector<CollectivePoint> points = points_of({2, 4, 8});
  points[3].seconds *= 5;
  points[20].seconds *= 3;
  const CollectiveFit fit = fit_collective(Collective::all_gather, points);
  EXPECT_NEAR(fit.seconds(65536, 4) / truth(65536, 4), 1, 0.05);
  EXPECT_NEAR(fit.seconds(1 << 28, 8) / truth(1 << 28, 8), 1, 0.05);
}

TEST(CollectiveFit, never_says_less_than_the_bound_of_its_link) {
  const FitLink link{.bytes_per_s = 300e9};  // slower than what the points claim
  const CollectiveFit fit = fit_collective(Collective::all_gather, points_of({2, 4, 8}), link);
  const double bound = 0.875 * 1e9 / 300e9;
  EXPECT_NEAR(fit.bound_s(1e9, 8), bound, 1e-12);
  EXPECT_EQ(fit.seconds(1e9, 8), fit.bound_s(1e9, 8));
  EXPECT_GE(fit.interval_s(1e9, 8).low, fit.bound_s(1e9, 8));
  EXPECT_EQ(fit.seconds(1e9, 1), 0);
}

TEST(CollectiveFit, refuses_too_few_points_and_figures_that_are_none) {
  std::vector<CollectivePoint> points = points_of({2, 4});
  points[0].seconds = 0;
  EXPECT_EQ(test::error_of([&] { fit_collective(Collective::all_gather, points); }).exit_code(),
            ExitCode::refused);
  points.resize(8);
  const Error error = test::error_of([&] { fit_collective(Collective::all_gather, points); });
  says(error.line(), "at least 12 points of 6 sizes, found 8 of 8");
}

// Times of every shape rise with the size.
TEST(CollectiveCurve, more_bytes_are_never_faster) {
  for (const CurveShape shape : curve_shapes()) {
    const CollectiveCurve curve{.shape = shape,
                                .base_s = 5e-6,
                                .latency_exponent = 0.5,
                                .first_s_per_byte = shape == CurveShape::ramp       ? 0.4
                                                    : shape == CurveShape::switched ? 1e6
                                                                                    : 1e-10,
                                .second_s = 9e-6,
                                .s_per_byte = 3e-12,
                                .ranks_effect = 0.4};
    for (const std::int64_t ranks : {2, 4, 8, 72}) {
      double last = 0;
      for (double bytes = 1; bytes < 1e11; bytes *= 1.7) {
        const double seconds = curve.seconds(bytes, ranks);
        EXPECT_GE(seconds, last) << curve_shape_name(shape);
        last = seconds;
      }
    }
  }
}

// 8 ranks, 16-bit, us at 256 KiB, 4 MiB and 512 MiB, of the tables that the curves go through.
struct Anchor {
  Collective collective;
  double link_bytes_per_s, us[3];
};

TEST(KnownSystems, published_anchors_are_within_a_quarter) {
  const Anchor rows[] = {{Collective::all_reduce, 300e9, {27.5, 77.3, 4226}},
                         {Collective::all_reduce, 450e9, {19.1, 50.5, 2111}},
                         {Collective::all_reduce, 900e9, {28.3, 53.4, 1335}},
                         {Collective::all_gather, 450e9, {13.6, 33.4, 1402}},
                         {Collective::reduce_scatter, 300e9, {18.2, 52.0, 2207}},
                         {Collective::all_to_all, 900e9, {17.5, 26.5, 834}}};
  for (const Anchor& a : rows) {
    SCOPED_TRACE(collective_name(a.collective));
    const auto fit = fit_of_known_systems(a.collective, Wire::nvlink, {a.link_bytes_per_s, true});
    ASSERT_TRUE(fit);
    const double sizes[3] = {262144, 4194304, 536870912};
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(fit->seconds(sizes[i], 8) * 1e6 / a.us[i], 1, 0.25) << sizes[i];
    }
  }
}

TEST(KnownSystems, a_link_a_tenth_faster_is_never_slower_at_large_sizes) {
  for (const Collective c : {Collective::all_reduce, Collective::all_gather,
                             Collective::reduce_scatter, Collective::all_to_all}) {
    double last = 1;
    for (double rate = 100e9; rate < 2e12; rate *= 1.1) {
      const auto fit = fit_of_known_systems(c, Wire::nvlink, {rate, false});
      const double seconds = fit->seconds(4e9, 8);
      EXPECT_LT(seconds, last) << collective_name(c) << ' ' << rate;
      EXPECT_GE(seconds, fit->bound_s(4e9, 8));
      last = seconds;
    }
  }
}

TEST(KnownSystems, what_nobody_measured_has_no_curve) {
  EXPECT_FALSE(fit_of_known_systems(Collective::broadcast, Wire::nvlink, {450e9, true}));
  EXPECT_FALSE(fit_of_known_systems(Collective::all_reduce, Wire::network, {50e9, false}));
  EXPECT_EQ(test::error_of([] {
              fit_of_known_systems(Collective::all_reduce, Wire::nvlink, {0, false});
            }).exit_code(),
            ExitCode::refused);
}

}  // namespace
}  // namespace halmark::simulate
