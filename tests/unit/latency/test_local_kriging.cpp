#include "latency/interpolation/local_kriging.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using Point = LocalKriging::Point;

std::vector<Point> grid(double (*f)(double, double)) {
  std::vector<Point> out;
  for (int i = 0; i <= 20; ++i) {
    for (int j = 0; j <= 20; ++j) {
      const double x = i * 0.3, y = j * 0.3;
      out.push_back({{x, y}, f(x, y), i});
    }
  }
  return out;
}

TEST(LocalKriging, a_constant_is_predicted_exactly) {
  const LocalKriging kriging(grid([](double, double) { return 3.5; }));
  EXPECT_NEAR(kriging.at(std::vector{1.234, 4.321})->value, 3.5, 1e-9);
}

TEST(LocalKriging, a_smooth_surface_is_followed_between_its_points) {
  const auto f = [](double x, double y) { return std::sin(x) + 0.5 * std::cos(0.7 * y); };
  const LocalKriging kriging(grid(f));
  for (double x = 0.5; x < 5.5; x += 0.37) {
    for (double y = 0.5; y < 5.5; y += 0.41) {
      EXPECT_NEAR(kriging.at(std::vector{x, y})->value, f(x, y), 0.02);
    }
  }
}

// The weights of two points at distance d, seen from the first: with ordinary kriging they are
// (1 +- (1 - c) / (1 + nugget - c)) / 2, c = (1 + sqrt3 d) exp(-sqrt3 d).
TEST(LocalKriging, two_points_by_hand) {
  const LocalKriging kriging(std::vector<Point>{{{0.0}, 1, 0}, {{1.0}, 0, 0}});
  const double c = (1 + std::sqrt(3.0)) * std::exp(-std::sqrt(3.0));
  EXPECT_NEAR(kriging.at(std::vector{0.0})->value, (1 + (1 - c) / (1.01 - c)) / 2, 1e-12);
}

TEST(LocalKriging, nearest_points_are_those_of_a_full_scan) {
  std::vector<Point> points;
  std::uint64_t state = 1;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 40) / static_cast<double>(1 << 24) * 10;
  };
  for (int i = 0; i < 500; ++i) points.push_back({{next(), next(), next()}, next(), 0});
  const LocalKriging kriging(points);
  for (int i = 0; i < 50; ++i) {
    const std::vector<double> place{next(), next(), next()};
    double nearest = 1e9;
    for (const Point& p : points) {
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d) sum += std::pow(p.at[d] - place[d], 2);
      nearest = std::min(nearest, std::sqrt(sum));
    }
    EXPECT_DOUBLE_EQ(kriging.at(place)->distance, nearest);
  }
}

// Ordinary kriging of the 32 nearest as its textbook system (Cressie 1993, 3.2): n weights and a
// Lagrange multiplier, by elimination with pivots in long double. Matern 3/2, nugget 0.01; the
// scatter is that of the generalised least squares residuals over n - 1.
class Textbook {
 public:
  Textbook(const std::vector<Point>& points, const std::vector<double>& place) {
    std::vector<std::pair<double, const Point*>> near;
    for (const Point& p : points) near.emplace_back(distance(p.at, place), &p);
    std::ranges::sort(near, {}, [](const auto& n) { return n.first; });
    if (near.size() > 32) near.resize(32);
    nearest_ = near.front().first;
    const std::size_t n = near.size();
    std::vector<std::vector<long double>> a(n + 1, std::vector<long double>(n + 1, 1));
    std::vector<long double> right(n + 1, 1), values(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] = i == j ? 1.01L : matern(distance(near[i].second->at, near[j].second->at));
      }
      right[i] = matern(near[i].first);
      values[i] = near[i].second->value;
    }
    a[n][n] = 0;
    const auto weights = solved(a, right);
    long double variance = 1.01L - weights[n];
    for (std::size_t i = 0; i < n; ++i) {
      value_ += weights[i] * values[i];
      variance -= weights[i] * right[i];
    }
    // a (x, mu) = (values, 0): x = C^-1 (values - mean 1), so values . x is the scatter.
    std::vector<long double> of_values = values;
    of_values.push_back(0);
    const auto x = solved(a, of_values);
    long double scatter = 0;
    for (std::size_t i = 0; i < n; ++i) scatter += values[i] * x[i];
    deviation_ = std::sqrt(variance * scatter / static_cast<long double>(n - 1));
  }
  double value() const { return static_cast<double>(value_); }
  double deviation() const { return static_cast<double>(deviation_); }
  double nearest() const { return nearest_; }

 private:
  static double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return std::sqrt(sum);
  }
  static long double matern(double d) {
    const long double r = std::sqrt(3.0L) * static_cast<long double>(d);
    return (1 + r) * std::exp(-r);
  }
  static std::vector<long double> solved(std::vector<std::vector<long double>> a,
                                         std::vector<long double> b) {
    const std::size_t n = b.size();
    for (std::size_t c = 0; c < n; ++c) {
      std::size_t pivot = c;
      for (std::size_t r = c + 1; r < n; ++r) {
        if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
      }
      std::swap(a[c], a[pivot]);
      std::swap(b[c], b[pivot]);
      for (std::size_t r = 0; r < n; ++r) {
        if (r == c) continue;
        const long double factor = a[r][c] / a[c][c];
        for (std::size_t k = c; k < n; ++k) a[r][k] -= factor * a[c][k];
        b[r] -= factor * b[c];
      }
    }
    for (std::size_t i = 0; i < n; ++i) b[i] /= a[i][i];
    return b;
  }

  long double value_ = 0, deviation_ = 0;
  double nearest_ = 0;
};

TEST(LocalKriging, value_and_doubt_are_those_of_the_textbook_system) {
  std::uint64_t state = 9;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 40) / static_cast<double>(1 << 24) * 4;
  };
  for (const std::size_t size : {2u, 5u, 31u, 32u, 33u, 200u}) {
    std::vector<Point> points;
    for (std::size_t i = 0; i < size; ++i) points.push_back({{next(), next()}, next(), 0});
    const LocalKriging kriging(points);
    for (int i = 0; i < 20; ++i) {
      const std::vector<double> place = {next() * 1.5, next() * 1.5};
      const Textbook expected(points, place);
      const auto found = kriging.at(place);
      ASSERT_TRUE(found);
      EXPECT_NEAR(found->value, expected.value(), 1e-9) << size;
      EXPECT_NEAR(found->deviation, expected.deviation(), 1e-9) << size;
      EXPECT_NEAR(found->distance, expected.nearest(), 1e-12) << size;
    }
  }
}

// Of equal values nothing scatters: a doubt of 1e-4 in the logarithm is left, and a hundredth of it
// where the place is known.
TEST(LocalKriging, agreement_to_the_last_digit_leaves_some_doubt) {
  const std::vector<Point> points = {{{0.0}, 2, 0}, {{1.0}, 2, 0}, {{2.0}, 2, 0}};
  const LocalKriging kriging(points);
  const double far = kriging.at(std::vector{50.0})->deviation;
  EXPECT_GT(far, 1e-4);
  EXPECT_LT(far, 1.5e-4);
  EXPECT_NEAR(kriging.at(std::vector{50.0})->value, 2, 1e-9);
}

TEST(LocalKriging, points_at_one_distance_are_all_left_out_or_none) {
  const LocalKriging kriging(std::vector<Point>{{{0.0}, 1, 0}, {{1.0}, 2, 1}, {{2.0}, 3, 2}});
  EXPECT_EQ(kriging.at(std::vector{0.0}, {.nearer_than = 1.0})->distance, 1);
  EXPECT_FALSE(kriging.at(std::vector{0.0}, {.nearer_than = 1.001})) << "one point is left";
  EXPECT_EQ(kriging.low(0), 0);
  EXPECT_EQ(kriging.high(0), 2);
}

TEST(LocalKriging, what_is_left_out_is_not_used) {
  const LocalKriging kriging(grid([](double x, double) { return x; }));
  const std::vector<double> place{3.0, 3.0};  // row 10, known
  EXPECT_EQ(kriging.at(place)->distance, 0);
  EXPECT_NEAR(kriging.at(place, {.point = 10 * 21 + 10})->distance, 0.3, 1e-12);
  EXPECT_NEAR(kriging.at(place, {.shape = 10})->distance, 0.3, 1e-12);
  EXPECT_GE(kriging.at(place, {.nearer_than = 1.0})->distance, 1.0);
}

TEST(LocalKriging, doubt_grows_with_distance) {
  const LocalKriging kriging(grid([](double x, double y) { return std::sin(x * y); }));
  const double inside = kriging.at(std::vector{3.1, 3.1})->deviation;
  EXPECT_GT(kriging.at(std::vector{9.0, 9.0})->deviation, 2 * inside);
}

TEST(LocalKriging, one_point_predicts_nothing) {
  const LocalKriging kriging(std::vector<Point>{{{0.0}, 1, 0}});
  EXPECT_FALSE(kriging.at(std::vector{0.0}));
}

}  // namespace
}  // namespace halmark
