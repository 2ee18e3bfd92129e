// Beyond known sizes: widths against quantiles of errors that this file makes, octave by octave.
// The curve is given, not fitted: a time is its memory time over 0.8.
#include "latency/interpolation/extrapolation.hpp"

#include "latency/interpolation/conformal.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using End = Extrapolation::End;

CurveSolver given_curve() {
  return [](const auto&, auto, auto, auto) {
    return std::vector<double>{0, 1, 0, 0, 0.8, 0, 0, 1, 1};
  };
}

constexpr int per_octave = 32;

// Known from 2^0 to 2^octaves, exactly on the curve but for the outermost three octaves of each
// end: there the n-th point of octave k is off by n times step[k], by turns above and below. What
// is beyond the low end is half as far off.
std::vector<Extrapolation::Point> points(int octaves, const std::array<double, 3>& step) {
  std::vector<Extrapolation::Point> out;
  for (int i = 0; i <= octaves * per_octave; ++i) {
    const double at = static_cast<double>(i) / per_octave, ns = 1e3 * std::exp2(at);
    const auto error = [&](int outward) {
      if (outward <= 0) return 0.0;
      const int n = (outward - 1) % per_octave + 1;
      return (n % 2 == 0 ? 1 : -1) * n *
             step.at(static_cast<std::size_t>((outward - 1) / per_octave));
    };
    const double off = error(i - (octaves - 3) * per_octave) + error(3 * per_octave - i) / 2;
    out.push_back({{at}, {0, ns, 0}, ns / 0.8 * std::exp(off)});
  }
  return out;
}

double half_width(const Extrapolation::Figure& f) {
  EXPECT_NEAR(std::log(f.high_ns / f.ns), std::log(f.ns / f.low_ns), 1e-12);
  return std::log(f.high_ns / f.ns);
}

Extrapolation::Figure at(const Extrapolation& of, double octave) {
  const double place[] = {octave};
  return of.at(place, {0, 1e3 * std::exp2(octave), 0}).value();
}

// Of 32 errors 1, 2, ..., 32 the 90 % quantile of a finite sample is the ceil(33 x 0.9) = 30th.
TEST(Extrapolation, is_as_wide_as_held_out_sizes_that_far_out_were_wrong) {
  const Extrapolation of(points(10, {0.001, 0.002, 0.0005}), {1}, given_curve());
  for (const double out : {0.1, 0.9, 1.0}) {
    EXPECT_NEAR(half_width(at(of, 10 + out)), 0.030, 1e-9) << out;
    EXPECT_NEAR(half_width(at(of, -out)), 0.015, 1e-9) << out;
  }
  for (const double out : {1.1, 2.0, 2.1, 3.0}) {
    EXPECT_NEAR(half_width(at(of, 10 + out)), 0.060, 1e-9) << out << ": never narrower farther out";
    EXPECT_NEAR(half_width(at(of, -out)), 0.030, 1e-9) << out;
    EXPECT_TRUE(at(of, 10 + out).is_calibrated) << out;
  }
  // Farther than anything was held out the width grows with the octaves, and no share is claimed.
  EXPECT_NEAR(half_width(at(of, 14.5)), 0.060 * 4.5 / 3, 1e-9);
  EXPECT_FALSE(at(of, 14.5).is_calibrated);
  EXPECT_FALSE(at(of, 13.1).is_calibrated);
}

TEST(Extrapolation, inside_of_what_is_known_nothing_is_added) {
  const Extrapolation of(points(10, {0.001, 0.002, 0.0005}), {1}, given_curve());
  const auto inside = at(of, 5);
  EXPECT_NEAR(inside.ns, 32e3 / 0.8, 1e-6);
  EXPECT_EQ(inside.low_ns, inside.ns);
  EXPECT_EQ(inside.high_ns, inside.ns);
  EXPECT_TRUE(inside.is_calibrated);
}

TEST(Extrapolation, three_octaves_of_an_end_are_held_out_by_how_far_out_they_are) {
  const auto known = points(10, {0.001, 0.002, 0.0005});
  const Extrapolation of(known, {1}, given_curve());
  for (const End end : {End::low, End::high}) {
    const auto checks = of.held_out(0, end);
    ASSERT_EQ(checks.size(), 3u * per_octave);
    for (const auto& c : checks) {
      const double here = known[c.point].at[0];
      EXPECT_NEAR(c.octaves, end == End::high ? here - 7 : 3 - here, 1e-12);
      EXPECT_NEAR(c.ns, known[c.point].times.memory_ns / 0.8, 1e-6) << "as the inner ones say";
    }
  }
}

// Half of the known sizes remain: of four octaves two are held out, of less than two none.
TEST(Extrapolation, where_little_is_known_less_is_held_out) {
  std::vector<Extrapolation::Point> known = points(10, {});
  known.resize(4 * per_octave + 1);
  EXPECT_EQ(Extrapolation(known, {1}, given_curve()).held_out(0, End::high).size(),
            2u * per_octave);
  known.resize(2 * per_octave);
  const Extrapolation of(known, {1}, given_curve());
  EXPECT_TRUE(of.held_out(0, End::high).empty());
  const double border = 2 - 1.0 / per_octave;
  EXPECT_NEAR(half_width(at(of, border + 0.5)), 0.5 * std::log(2.0), 1e-9) << "2 an octave";
  EXPECT_FALSE(at(of, border + 0.5).is_calibrated);
}

TEST(Extrapolation, beyond_a_corner_widths_add_up_and_no_share_is_claimed) {
  std::vector<Extrapolation::Point> known;
  for (const Extrapolation::Point& p : points(10, {0.001, 0.001, 0.001})) {
    for (const double other : {0.0, 0.25}) known.push_back({{p.at[0], other}, p.times, p.ns});
  }
  const Extrapolation of(known, {1, 2}, given_curve());  // the second coordinate: half an octave
  const auto figure = [&](double first, double second) {
    const double place[] = {first, second};
    return of.at(place, {0, 1e3 * std::exp2(first), 0}).value();
  };
  // Of 64 errors the ceil(65 x 0.9) = 59th: each occurs twice.
  EXPECT_NEAR(half_width(figure(10.5, 0.25)), 0.030, 1e-9);
  EXPECT_TRUE(figure(10.5, 0.25).is_calibrated);
  EXPECT_NEAR(half_width(figure(5, 0.75)), std::log(2.0), 1e-9) << "an octave of the second alone";
  EXPECT_NEAR(half_width(figure(10.5, 0.75)), 0.030 + std::log(2.0), 1e-9);
  EXPECT_FALSE(figure(10.5, 0.75).is_calibrated);
}

TEST(Extrapolation, octaves_beyond_are_counted_in_the_length_of_their_coordinate) {
  const LocalKriging known({{{1, 2, 3}, 0}, {{4, 5, 6}, 0}});
  const std::vector<double> lengths = {1, 2, 0};
  const auto beyond = [&](std::vector<double> place) {
    return Extrapolation::beyond(place, known, lengths);
  };
  EXPECT_THAT(beyond({0.5, 6, 9}), ElementsAre(0.5, 2, 0));
  EXPECT_THAT(beyond({4.25, 1.5, 3}), ElementsAre(0.25, 1, 0));
  EXPECT_THAT(beyond({1, 5, 4}), ElementsAre(0, 0, 0));
  EXPECT_THAT(beyond({4 + 1e-10, 2 - 1e-10, 4}), ElementsAre(0, 0, 0)) << "rounding";
}

// Lei et al. 2018: of n values the ceil((n + 1) share)-th, at most the largest.
TEST(Conformal, the_quantile_of_a_finite_sample) {
  const auto of = [](int n, double share) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.rbegin(), values.rend(), 1.0);
    return conformal_quantile(values, share);
  };
  EXPECT_EQ(of(1, 0.9), 1);
  EXPECT_EQ(of(8, 0.9), 8);
  EXPECT_EQ(of(19, 0.9), 18);
  EXPECT_EQ(of(20, 0.9), 19);
  EXPECT_EQ(of(99, 0.5), 50);
  EXPECT_EQ(of(1000, 0.9), 901);
}

TEST(Conformal, a_spread_takes_what_is_wanted_from_everywhere) {
  const auto even = [](std::size_t i) { return i % 2 == 0; };
  const auto all = spread(1000, 1000, even);
  EXPECT_EQ(all.size(), 500u);
  const auto some = spread(1000, 100, even);
  ASSERT_EQ(some.size(), 100u);
  EXPECT_EQ(std::set<std::size_t>(some.begin(), some.end()).size(), 100u);
  std::size_t first_half = 0;
  for (const std::size_t i : some) {
    EXPECT_EQ(i % 2, 0u);
    first_half += i < 500 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(first_half), 50, 15) << "three standard deviations";
}

}  // namespace
}  // namespace halmark
