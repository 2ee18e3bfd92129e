// Front membership under intervals and draws, against enumeration of every way the truth may lie.
#include "search/pareto/front_certainty.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/numeric/random.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;

TEST(FrontClasses, of_separated_intervals_is_the_front_and_nothing_is_in_doubt) {
  const std::vector<Objectives> low{{1, 5}, {4, 1}, {6, 6}}, high{{2, 6}, {5, 2}, {7, 7}};
  EXPECT_THAT(front_classes(low, high),
              ElementsAre(FrontClass::certain, FrontClass::certain, FrontClass::out));
  EXPECT_TRUE(rivals(0, low, high).empty());
}

TEST(FrontClasses, overlapping_intervals_leave_both_possible) {
  const std::vector<Objectives> low{{1, 1}, {2, 2}}, high{{3, 3}, {4, 4}};
  EXPECT_THAT(front_classes(low, high), ElementsAre(FrontClass::possible, FrontClass::possible));
  EXPECT_THAT(rivals(1, low, high), ElementsAre(0U));
}

TEST(FrontClasses, what_touches_the_best_ends_of_another_is_not_certainly_beaten) {
  // Equal everywhere: neither is better.
  const std::vector<Objectives> same{{1, 1}, {1, 1}};
  EXPECT_THAT(front_classes(same, same), ElementsAre(FrontClass::possible, FrontClass::possible));
}

// Corners of the boxes decide: on the front in every corner = certain, in none = out.
TEST(FrontClasses, agree_with_every_corner_of_random_boxes) {
  std::uint64_t counter = 0;
  const auto draw = [&] { return static_cast<double>(uniform_below(hash_u64(7, counter++), 12)); };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Objectives> low, high;
    for (int i = 0; i < 4; ++i) {
      const double a = draw(), b = draw();
      low.push_back({a, b});
      high.push_back({a + draw() / 3, b + draw() / 3});
    }
    const std::vector<FrontClass> classes = front_classes(low, high);
    for (std::size_t i = 0; i < low.size(); ++i) {
      bool always = true, never = true;
      for (int corner = 0; corner < 256; ++corner) {
        std::vector<Objectives> at = low;
        for (std::size_t c = 0; c < 8; ++c) {
          if ((corner >> c) & 1) at[c / 2][c % 2] = high[c / 2][c % 2];
        }
        const bool is_on = std::ranges::count(non_dominated(at), i) > 0;
        always = always && is_on;
        never = never && !is_on;
      }
      if (classes[i] == FrontClass::certain) {
        EXPECT_TRUE(always) << trial;
      }
      if (classes[i] == FrontClass::out) {
        EXPECT_TRUE(never) << trial;
      }
      if (!always && !never) {
        EXPECT_EQ(classes[i], FrontClass::possible) << trial;
      }
    }
  }
}

TEST(FrontMembership, counts_draws) {
  FrontMembership membership(2);
  EXPECT_EQ(membership.probability(0), 0);
  const std::vector<Objectives> first{{1.0}, {2.0}}, second{{3.0}, {2.0}};
  membership.add(first);
  membership.add(first);
  membership.add(first);
  membership.add(second);
  EXPECT_EQ(membership.probability(0), 0.75);
  EXPECT_EQ(membership.probability(1), 0.25);
}

}  // namespace
}  // namespace halmark
