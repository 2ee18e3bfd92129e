// Where labels and ticks go, to the pixel: worked out by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "report/charts/label_placer.hpp"
#include "report/charts/scale.hpp"

namespace halmark::report {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// Four letters at size 10 are 4 * 0.58 * 10 = 23.2 wide; a label is 2 higher than its letters.
constexpr double width = 23.2, height = 12;
constexpr Point point{100, 100};

Box around(double left, double top) {
  return {left - 0.01, top - 0.01, left + width + 0.01, top + height + 0.01};
}

// Where the only free place of that size is.
std::optional<LabelPlacer::Placed> placed_in(const Box& area) {
  return LabelPlacer(area, 10).place(point, 5, "abcd");
}

// The nearest ring: 4 beyond the marker's radius of 5. Corners lie at 0.7 of it up or down.
TEST(LabelPlacer, knows_eight_places_around_a_marker) {
  const double left = 100 - 9 - width, middle = 100 - width / 2, up = 100 - 0.7 * 9,
               down = 100 + 0.7 * 9;
  for (const auto& [x, y] : {std::pair{109.0, 100 - height / 2},
                             {left, 100 - height / 2},
                             {middle, 100 - 9 - height},
                             {middle, 109.0},
                             {109.0, up - height},
                             {left, up - height},
                             {109.0, down},
                             {left, down}}) {
    const auto placed = placed_in(around(x, y));
    ASSERT_TRUE(placed) << x << ' ' << y;
    EXPECT_NEAR(placed->box.left, x, 1e-9);
    EXPECT_NEAR(placed->box.top, y, 1e-9);
    EXPECT_NEAR(placed->box.right, x + width, 1e-9);
    EXPECT_NEAR(placed->box.bottom, y + height, 1e-9);
    EXPECT_NEAR(placed->at.x, x, 1e-9);
    EXPECT_NEAR(placed->at.y, y + height - 3, 1e-9) << "the baseline";
    EXPECT_FALSE(placed->needs_leader);
  }
}

TEST(LabelPlacer, goes_out_in_six_rings_and_needs_a_line_from_the_third_on) {
  for (const double distance : {4, 12, 22, 34, 48, 64}) {
    const auto placed = placed_in(around(105 + distance, 100 - height / 2));
    ASSERT_TRUE(placed) << distance;
    EXPECT_EQ(placed->needs_leader, distance > 12) << distance;
  }
  EXPECT_FALSE(placed_in(around(105 + 70, 100 - height / 2)));
  EXPECT_FALSE(placed_in(around(105 + 8, 100 - height / 2))) << "between two rings";
}

// Each place that is taken leaves the next one.
TEST(LabelPlacer, prefers_the_right_then_left_above_below_and_the_corners) {
  std::vector<Box> taken;
  std::vector<std::string> order;
  for (int i = 0; i < 8; ++i) {
    LabelPlacer placer({0, 0, 200, 200}, 10);
    for (const Box& box : taken) placer.avoid(box);
    const Box box = placer.place(point, 5, "abcd")->box;
    const double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    order.push_back(std::string(y < 94    ? "above"
                                : y > 106 ? "below"
                                          : "") +
                    (x < 91    ? "left"
                     : x > 109 ? "right"
                               : ""));
    taken.push_back({x - 0.5, y - 0.5, x + 0.5, y + 0.5});
  }
  EXPECT_THAT(order, ElementsAre("right", "left", "above", "below", "aboveright", "aboveleft",
                                 "belowright", "belowleft"));
}

TEST(LabelPlacer, covers_what_it_rather_avoids_only_where_nothing_else_is_free) {
  LabelPlacer placer({0, 0, 200, 200}, 10);
  placer.rather_avoid({105, 90, 200, 110});
  EXPECT_LT(placer.place(point, 5, "abcd")->box.right, 100) << "to the left";
  LabelPlacer full({0, 0, 200, 200}, 10);
  full.rather_avoid({0, 0, 200, 200});
  EXPECT_NEAR(full.place(point, 5, "abcd")->box.left, 109, 1e-9);
  LabelPlacer none({0, 0, 200, 200}, 10);
  none.avoid({0, 0, 200, 200});
  EXPECT_FALSE(none.place(point, 5, "abcd"));
}

TEST(LabelPlacer, a_label_that_was_placed_takes_its_place) {
  LabelPlacer placer({0, 0, 200, 200}, 10);
  EXPECT_NEAR(placer.place(point, 5, "abcd")->box.left, 109, 1e-9);
  EXPECT_LT(placer.place(point, 5, "abcd")->box.right, 100);
}

TEST(MarkerBox, is_the_square_around_it) {
  const Box box = marker_box({10, 20}, 3);
  EXPECT_EQ(box.left, 7);
  EXPECT_EQ(box.top, 17);
  EXPECT_EQ(box.right, 13);
  EXPECT_EQ(box.bottom, 23);
}

auto nearly(const std::vector<double>& values) {
  std::vector<testing::Matcher<double>> out;
  for (const double value : values) out.push_back(DoubleNear(value, 1e-9 * std::abs(value)));
  return testing::ElementsAreArray(out);
}

// Of a sixth of the range, or of the room, the next step of 1, 2 or 5 times a power of ten.
TEST(LogTicks, within_a_decade_are_even_steps) {
  EXPECT_THAT(log_ticks(3, 4, 8), nearly({3, 3.2, 3.4, 3.6, 3.8, 4}));
  EXPECT_THAT(log_ticks(30, 37, 8), nearly({30, 32, 34, 36}));
  EXPECT_THAT(log_ticks(31, 37, 8), nearly({31, 32, 33, 34, 35, 36, 37}));
  EXPECT_THAT(log_ticks(11, 44, 8), nearly({20, 30, 40})) << "5.5 is more than 5";
  EXPECT_THAT(log_ticks(10, 39, 8), nearly({10, 15, 20, 25, 30, 35}));
  EXPECT_THAT(log_ticks(10, 39, 4), nearly({10, 20, 30}));
  EXPECT_THAT(log_ticks(10, 40, 3), nearly({10, 20})) << "four have no room: 1-2-5";
}

TEST(LogTicks, over_more_are_one_two_five_or_decades_or_every_few_of_them) {
  EXPECT_THAT(log_ticks(1, 10, 8), nearly({1, 2, 5, 10}));
  EXPECT_THAT(log_ticks(1, 100, 7), nearly({1, 2, 5, 10, 20, 50, 100}));
  EXPECT_THAT(log_ticks(1, 100, 6), nearly({1, 10, 100}));
  EXPECT_THAT(log_ticks(0.4, 300, 8), nearly({1, 10, 100})) << "0.5 to 200 are nine";
  EXPECT_THAT(log_ticks(1, 1e12, 13),
              nearly({1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}));
  EXPECT_THAT(log_ticks(1, 1e12, 5), nearly({1, 1e3, 1e6, 1e9, 1e12}));
  EXPECT_THAT(log_ticks(1, 1e12, 6), nearly({1, 1e3, 1e6, 1e9, 1e12})) << "13 / 6: every third";
}

TEST(log_ticks, never_exceed_the_room) {
  for (double high = 1.05; high < 1e15; high *= 1.7) {
    EXPECT_LE(log_ticks(1, high, 9).size(), 9u) << high;
    EXPECT_GE(log_ticks(1, high, 9).size(), 2u) << high;
  }
}

TEST(LogScale, begins_and_ends_where_it_is_told) {
  const LogScale scale(10, 1000, 60, 590);
  EXPECT_EQ(scale.low(), 10);
  EXPECT_EQ(scale.high(), 1000);
  EXPECT_EQ(scale.from(), 60);
  EXPECT_EQ(scale.to(), 590);
  EXPECT_NEAR(scale.at(10), 60, 1e-9);
  EXPECT_NEAR(scale.at(100), 325, 1e-9) << "half of 60 + 590";
  EXPECT_NEAR(scale.at(1000), 590, 1e-9);
  EXPECT_NEAR(scale.at(1e9), 590, 1e-9);
  EXPECT_NEAR(scale.at(0), 60, 1e-9);
  EXPECT_NEAR(LogScale(1, 100, 400, 0).at(10), 200, 1e-9) << "upwards";
}

TEST(PaddedRange, is_a_factor_each_way_and_two_for_what_is_hardly_a_range) {
  EXPECT_NEAR(padded_range({4, std::nan(""), -1, 2, 8}, 1.5).low, 2 / 1.5, 1e-12);
  EXPECT_NEAR(padded_range({4, 2, 8}, 1.5).high, 12, 1e-12);
  EXPECT_NEAR(padded_range({1, 1.0009}, 1.5).low, 0.5, 1e-12);
  EXPECT_NEAR(padded_range({1, 1.0009}, 1.5).high, 2.0018, 1e-12);
  EXPECT_NEAR(padded_range({1, 1.0011}, 1.5).low, 1 / 1.5, 1e-12);
  EXPECT_NEAR(padded_range({1e-9}, 1.5).high, 2e-9, 1e-21);
  EXPECT_EQ(padded_range({0, -1}, 1.5).low, 1);
  EXPECT_EQ(padded_range({0, -1}, 1.5).high, 10);
}

}  // namespace
}  // namespace halmark::report
