// Which method a family takes between its points, where the truth of each is made so that one
// method is exact and the others are far off.
#include "latency/interpolation/interpolation_family.hpp"

#include "latency/interpolation/conformal.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

using Point = InterpolationFamily::Point;

// Of the points, those that calibrate: a third (the header's 1,500 are not reached here).
bool calibrates(std::size_t i) { return scattered(i) % 3 == 0; }

struct Made {
  std::vector<Point> points;
  std::size_t trials = 0;  // inner points of lines that calibrate
};

// Twelve sizes on each line, `octaves` from one to the next, until at least `trials` inner ones
// calibrate.
void add_lines(Made& made, std::size_t trials, double octaves, double place,
               double (*ns)(double size, std::int32_t line)) {
  constexpr int sizes = 12;
  const std::size_t wanted = made.trials + trials;
  while (made.trials < wanted) {
    const auto line = static_cast<std::int32_t>(made.points.size() / sizes);
    for (int i = 0; i < sizes; ++i) {
      const double size = 64 * std::exp2(octaves * i);
      const bool is_inner = i > 0 && i + 1 < sizes;
      if (is_inner && calibrates(made.points.size()) && made.trials < wanted) ++made.trials;
      made.points.push_back({.at = {std::log2(size), place + 3 * line},
                             .size = size,
                             .ns = ns(size, line),
                             .estimate_ns = size * size,
                             .shape = line,
                             .line = line});
    }
  }
}

// Steps of its own on every line: straight in size, and nothing that a neighbour knows.
double straight(double size, std::int32_t line) {
  return 1e6 * (1 + line * 7 % 11) + 3e4 * (1 + line * 5 % 13) * size;
}
// A constant share of an estimate that is quadratic in size.
double constant_share(double size, std::int32_t) { return 4 * size * size; }

InterpolationFamily::Place between(const Made& made, std::size_t point) {
  const Point &a = made.points[point], &b = made.points[point + 1];
  static std::vector<double> at;
  at = {(a.at[0] + b.at[0]) / 2, a.at[1]};
  const double size = std::exp2(at[0]);
  return {.at = at, .size = size, .estimate_ns = size * size, .shape = a.shape, .line = a.line};
}

TEST(InterpolationFamily, narrow_gaps_and_wide_ones_have_the_method_that_is_better_there) {
  Made made;
  add_lines(made, 130, 0.25, 0, straight);
  const std::size_t first_wide = made.points.size();
  add_lines(made, 130, 2, 1e4, constant_share);
  const InterpolationFamily family(made.points, 0);
  EXPECT_EQ(family.method(), "linear in size up to 0.50 octaves, kriging");
  const auto narrow = between(made, 5);
  EXPECT_NEAR(family.at(narrow)->ns / straight(narrow.size, 0), 1, 1e-9);
  const auto wide = between(made, first_wide + 5);
  EXPECT_NEAR(family.at(wide)->ns / constant_share(wide.size, 0), 1, 1e-6);
}

TEST(InterpolationFamily, one_method_for_all_is_named_once) {
  Made made;
  add_lines(made, 230, 0.25, 0, straight);
  EXPECT_EQ(InterpolationFamily(made.points, 0).method(), "linear in size");
  Made wide;
  add_lines(wide, 230, 2, 0, constant_share);
  EXPECT_EQ(InterpolationFamily(wide.points, 0).method(), "kriging");
}

// A method of its own needs 100 left-out points: else it follows the noise of a few.
TEST(InterpolationFamily, a_few_wide_gaps_have_no_method_of_their_own) {
  for (const std::size_t trials : {60, 130}) {
    Made made;
    add_lines(made, 130, 0.25, 0, straight);
    add_lines(made, trials, 2, 1e4, constant_share);
    const InterpolationFamily family(made.points, 0);
    EXPECT_EQ(family.method().find("up to") != std::string::npos, trials > 100) << trials;
  }
}

TEST(InterpolationFamily, a_shape_of_which_nothing_is_known_is_kriged_between_the_others) {
  Made made;
  add_lines(made, 130, 2, 0, constant_share);
  const InterpolationFamily family(made.points, 0);
  auto place = between(made, 5);
  EXPECT_TRUE(family.at(place)->is_shape_known);
  place.shape.reset();
  place.line.reset();
  const auto unknown = family.at(place);
  EXPECT_FALSE(unknown->is_shape_known);
  EXPECT_NEAR(unknown->ns / constant_share(place.size, 0), 1, 1e-6);
  EXPECT_LT(unknown->low_ns, unknown->ns);
  EXPECT_NEAR(unknown->low_ns * unknown->high_ns / unknown->ns / unknown->ns, 1, 1e-12);
}

TEST(InterpolationFamily, points_and_shapes_that_calibrated_nothing_are_two_thirds) {
  Made made;
  add_lines(made, 130, 0.25, 0, straight);
  const InterpolationFamily family(made.points, 0);
  for (const std::size_t i : family.unused_points(made.points.size())) EXPECT_FALSE(calibrates(i));
  for (const std::size_t i : family.unused_shapes(made.points.size())) {
    EXPECT_FALSE(calibrates(static_cast<std::size_t>(made.points[i].shape)));
  }
  const double all = static_cast<double>(made.points.size());
  EXPECT_NEAR(static_cast<double>(family.unused_points(1000).size()) / all, 2.0 / 3, 0.08);
  EXPECT_NEAR(static_cast<double>(family.unused_shapes(1000).size()) / all, 2.0 / 3, 0.2);
  EXPECT_EQ(family.unused_points(10).size(), 10u);
}

}  // namespace
}  // namespace halmark
