// Redraws against the exact distribution of the median of three draws from three values.
#include "model/pricing/redraw.hpp"

#include <gmock/gmock.h>

#include <map>

namespace halmark {
namespace {

TEST(Redraw, the_median_of_three_has_its_exact_distribution) {
  // 27 equally likely triples of {1, 2, 3}: the median is 1 in 7, 2 in 13, 3 in 7 of them.
  const std::vector<std::vector<double>> medians{{10, 20, 30}};
  std::map<double, int> seen;
  constexpr int draws = 27'000;
  for (int d = 0; d < draws; ++d) {
    ++seen[redraw(medians, 5, static_cast<std::uint64_t>(d))[0].ns];
  }
  // Five standard deviations of a binomial count.
  EXPECT_NEAR(seen[10], 7000, 5 * 72);
  EXPECT_NEAR(seen[20], 13000, 5 * 82);
  EXPECT_NEAR(seen[30], 7000, 5 * 72);
}

TEST(Redraw, repeats_itself_and_knows_what_it_does_not_know) {
  const std::vector<std::vector<double>> medians{{1, 5}, {}, {7}};
  const auto once = redraw(medians, 1, 2), again = redraw(medians, 1, 2);
  EXPECT_EQ(once[0].ns, again[0].ns);
  EXPECT_FALSE(once[1].is_known);
  EXPECT_TRUE(once[2].is_known);
  EXPECT_EQ(once[2].ns, 7);
  EXPECT_EQ(once[2].low_ns, 7);
}

}  // namespace
}  // namespace halmark
