#include "history/statistics/false_discovery.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/numeric/random.hpp"

namespace halmark::history {
namespace {

// The example of the paper (JRSS B 57, 1995, section 4.1): 15 comparisons, of which the procedure
// at 5 % rejects the four smallest, and Bonferroni three.
TEST(FalseDiscovery, rejects_what_the_paper_rejects) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> q = false_discovery_q(p);
  EXPECT_EQ(std::ranges::count_if(q, [](double v) { return v <= 0.05; }), 4);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-12);
  EXPECT_EQ(q.back(), 1);
}

TEST(FalseDiscovery, keeps_the_order_given_and_is_monotone_in_p) {
  const std::vector<double> p = {0.04, 0.001, 0.5, 0.02, 0.04};
  const std::vector<double> q = false_discovery_q(p);
  EXPECT_NEAR(q[1], 0.005, 1e-12);
  EXPECT_NEAR(q[3], 0.05, 1e-12);  // not 0.02 * 5 / 2 alone: the two of 0.04 give 0.05 as well
  EXPECT_EQ(q[0], q[4]);
  EXPECT_NEAR(q[2], 0.5, 1e-12);
  EXPECT_THAT(false_discovery_q({}), testing::IsEmpty());
}

// By drawing: of 200 true nulls and 50 shifted tests, the mean share of false discoveries.
TEST(FalseDiscovery, share_of_false_ones_is_what_was_asked_for) {
  double share = 0;
  constexpr int nights = 400;
  for (int night = 0; night < nights; ++night) {
    std::vector<double> p;
    for (std::uint64_t i = 0; i < 250; ++i) {
      const double u = uniform_01(hash_u64(static_cast<std::uint64_t>(night), i));
      p.push_back(i < 200 ? u : u * 1e-3);
    }
    const std::vector<double> q = false_discovery_q(p);
    double found = 0, wrong = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (q[i] > 0.1) continue;
      ++found;
      if (i < 200) ++wrong;
    }
    if (found > 0) share += wrong / found / nights;
  }
  EXPECT_NEAR(share, 0.1 * 200 / 250, 0.01);  // exact for independent uniform nulls
}

}  // namespace
}  // namespace halmark::history
