// Crossover and mutation: their rates and spreads, counted over many draws.
#include "search/samplers/variation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sample_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

constexpr int draws = 20'000;

// The moved coordinate of a one-parameter point, drawn many times.
template <class Visit>
void moves(const Space& space, double from, Visit visit) {
  for (int i = 0; i < draws; ++i) {
    Stream random(11, static_cast<std::uint64_t>(i), 5);
    Point p{from};
    mutate(space, p, 0, random);
    visit(p[0]);
  }
}

TEST(Mutation, of_a_category_takes_every_other_choice_equally_often) {
  const Space space({categories("a", 5)}, {});
  std::map<double, int> times;
  moves(space, 2, [&](double x) { ++times[x]; });
  EXPECT_EQ(times.size(), 4u);
  EXPECT_FALSE(times.contains(2));
  for (const auto& [level, count] : times) EXPECT_NEAR(count, draws / 4, 300) << level;
}

// A Gaussian of a tenth of the levels, rounded; never no step at all.
TEST(Mutation, of_an_order_steps_by_a_tenth_of_its_levels) {
  const Space space({levels("a", 400)}, {});
  double squares = 0, sum = 0;
  moves(space, 200, [&](double x) {
    EXPECT_NE(x, 200);
    sum += (x - 200) / draws;
    squares += (x - 200) * (x - 200) / draws;
  });
  EXPECT_NEAR(std::sqrt(squares), 40, 1);
  EXPECT_NEAR(sum, 0, 1.5);
}

TEST(Mutation, of_few_levels_steps_by_one_level_at_least_and_both_ways) {
  const Space space({levels("a", 9)}, {});
  std::map<double, int> times;
  moves(space, 4, [&](double x) { ++times[x - 4]; });
  EXPECT_FALSE(times.contains(0));
  EXPECT_NEAR(times[1], times[-1], 450);
  // Of a rounded unit normal: |step| = 1 takes what rounds to 0 too, 0.866; 2 has 0.121.
  EXPECT_NEAR(times[1] + times[-1], 0.866 * draws, 400);
  EXPECT_NEAR(times[2] + times[-2], 0.121 * draws, 300);
}

TEST(Mutation, at_an_end_is_reflected) {
  const Space space({levels("a", 50)}, {});
  double sum = 0;
  moves(space, 0, [&](double x) {
    EXPECT_GT(x, 0);
    EXPECT_LE(x, 49);
    sum += x / draws;
  });
  EXPECT_NEAR(sum, 5 * std::sqrt(2 / 3.14159265), 0.25);  // the mean of |5 z|
  moves(space, 49, [&](double x) { EXPECT_LT(x, 49); });
}

// |d| of the polynomial mutation with index n has mean 1 / (n + 2), n = 20.
TEST(Mutation, of_a_continuum_is_polynomial) {
  const Space space({continuum("x")}, {});
  double size = 0, sum = 0;
  moves(space, 0.5, [&](double x) {
    size += std::abs(x - 0.5) / draws;
    sum += (x - 0.5) / draws;
  });
  EXPECT_NEAR(size, 1.0 / 22, 0.001);
  EXPECT_NEAR(sum, 0, 0.002);
}

TEST(Mutation, leaves_the_only_level_and_the_absent_alone) {
  const Space space({levels("a", 1)}, {});
  moves(space, 0, [](double x) { EXPECT_EQ(x, 0); });
  const Space two({levels("a", 3)}, {});
  moves(two, absent, [](double x) { EXPECT_EQ(x, absent); });
}

class Children : public testing::Test {
 protected:
  // Counts per child: parameters of the second parent, and of neither.
  struct Counts {
    double second = 0, changed = 0, untouched = 0;  // means; untouched = share of equal children
  };
  Counts counts(const VariationRates& rates) const {
    Counts out;
    const Point first(8, 0.0), second(8, 1.0);
    for (int i = 0; i < draws; ++i) {
      Stream random(3, static_cast<std::uint64_t>(i), 9);
      const Point child = child_of(space_, first, second, rates, random);
      out.second += static_cast<double>(std::ranges::count(child, 1.0)) / draws;
      const auto is_new = [](double x) { return x > 1; };
      out.changed += static_cast<double>(std::ranges::count_if(child, is_new)) / draws;
      out.untouched += child == first ? 1.0 / draws : 0;
    }
    return out;
  }

 private:
  // So many levels that a mutation hits 0 or 1 rarely.
  static std::vector<SearchDomain> domains() {
    std::vector<SearchDomain> out;
    for (int d = 0; d < 8; ++d) out.push_back(categories("a" + std::to_string(d), 200));
    return out;
  }
  Space space_{domains(), {}};
};

TEST_F(Children, take_a_share_of_parameters_from_the_second_parent) {
  EXPECT_NEAR(counts({.crossover = 0, .mutations = 0}).untouched, 1, 1e-9);
  EXPECT_NEAR(counts({.crossover = 1, .swap = 0.5, .mutations = 0}).second, 4, 0.05);
  EXPECT_NEAR(counts({.crossover = 1, .swap = 0.25, .mutations = 0}).second, 2, 0.05);
  EXPECT_NEAR(counts({.crossover = 0.5, .swap = 1, .mutations = 0}).untouched, 0.5, 0.02);
  EXPECT_NEAR(counts({.mutations = 0}).second, 0.9 * 4, 0.05) << "the defaults";
}

TEST_F(Children, have_the_expected_number_of_mutations) {
  EXPECT_NEAR(counts({.crossover = 0, .mutations = 1}).changed, 0.995, 0.03);
  EXPECT_NEAR(counts({.crossover = 0, .mutations = 2}).changed, 1.99, 0.04);
  // (1 - 1/8)^8 have none, unless one is asked for.
  EXPECT_NEAR(counts({.crossover = 0, .mutations = 1}).untouched, 0.3436, 0.015);
  EXPECT_EQ(counts({.crossover = 0, .mutations = 1, .at_least_one = true}).untouched, 0);
}

}  // namespace
}  // namespace halmark
