// The bisection against simulated revisions: 32 of them, the change planted at a drawn one, noise
// with the tails that pairs of processes have (Student's t of 4 degrees, 3 % of them disturbed).
#include "history/bisect/bisection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/numeric/random.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t revisions_of_search = 32;
constexpr double deviation = 0.03, disturbed = 0.03, floor_of_search = 0.01;

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : seed_(seed) {}
  double uniform() { return uniform_01(hash_u64(seed_, counter_++)) + 1e-17; }
  double normal() {
    const double a = uniform(), b = uniform();
    return std::sqrt(-2 * std::log(a)) * std::cos(2 * std::numbers::pi * b);
  }
  double pair() {
    double squares = 0;
    for (int i = 0; i < 4; ++i) squares += std::pow(normal(), 2);
    const double usual = normal() / std::sqrt(squares / 4) / std::numbers::sqrt2;
    return deviation * (usual + (uniform() < disturbed ? 4 * normal() : 0));
  }

 private:
  std::uint64_t seed_, counter_ = 0;
};

struct Search {
  BisectState state = BisectState::open;
  std::size_t found = 0;
  int pairs = 0, builds = 1;
  BisectPosterior posterior;
};

// `skipped`: revisions that do not build. `build_cost`: in pairs.
Search search(std::size_t first_changed, double size, std::uint64_t seed, const BisectPrior& prior,
              const std::vector<std::size_t>& skipped = {}, double build_cost = 0) {
  Noise noise(seed);
  std::vector<RevisionPairs> revisions(revisions_of_search);
  for (std::size_t r : skipped) revisions[r].is_skipped = true;
  std::vector<double> costs(revisions.size(), 1 + build_cost);
  Search out;
  for (; out.pairs < 3000; ++out.pairs) {
    out.posterior = bisect_posterior(revisions, prior);
    out.state = bisect_state(revisions, out.posterior, 0.98, floor_of_search);
    if (out.state != BisectState::open) break;
    const std::size_t at = next_revision(revisions, out.posterior, costs);
    if (revisions[at].log_ratios.empty()) ++out.builds;
    costs[at] = 1;
    const double change = first_changed > 0 && at >= first_changed ? std::log1p(size) : 0;
    revisions[at].log_ratios.push_back(change + noise.pair());
  }
  out.found = out.posterior.best();
  return out;
}

std::size_t drawn(std::uint64_t seed) {
  return 1 + uniform_below(hash_u64(seed, 7), revisions_of_search - 1);
}

// As many pairs as a belief of a million: what the search was told is what it goes by.
BisectPrior told(double size) {
  const double variance = deviation * deviation * (1 + disturbed * 16);
  return {
      .size = std::log1p(size), .size_weight = 1e6, .variance = variance, .variance_weight = 1e6};
}

TEST(Bisection, finds_a_slowdown_of_5_percent_with_few_more_pairs_than_one_that_is_told) {
  int right = 0, within = 0, pairs = 0, told_pairs = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Search blind = search(drawn(seed), 0.05, 100 + seed, {});
    right += blind.state == BisectState::found && blind.found == drawn(seed);
    const Interval interval = blind.posterior.ratio_interval(blind.found);
    within += interval.low <= 1.05 && 1.05 <= interval.high;
    pairs += blind.pairs;
    told_pairs += search(drawn(seed), 0.05, 100 + seed, told(0.05)).pairs;
  }
  EXPECT_GE(right, 95) << "of 100";
  EXPECT_GE(within, 88) << "intervals of 95 % that hold the planted size, of 100";
  EXPECT_LE(pairs, 1.5 * told_pairs);
  RecordProperty("right", right);
  RecordProperty("pairs", pairs);
  RecordProperty("told_pairs", told_pairs);
}

TEST(Bisection, finds_a_speedup_and_changes_of_other_sizes) {
  for (const double size : {-0.10, 0.10, 0.30, 1.0}) {
    int right = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Search one = search(drawn(seed), size, 500 + seed, {});
      right += one.state == BisectState::found && one.found == drawn(seed);
    }
    EXPECT_GE(right, 9) << size << ": of 10";
  }
}

TEST(Bisection, says_that_nothing_changed) {
  int right = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    right += search(0, 0, 900 + seed, {}).state == BisectState::no_change;
  }
  EXPECT_GE(right, 19) << "of 20";
}

TEST(Bisection, a_skipped_revision_hands_its_probability_to_the_next_that_builds) {
  std::vector<RevisionPairs> revisions(5);
  revisions[1].is_skipped = revisions[2].is_skipped = true;
  const BisectPosterior prior = bisect_posterior(revisions);
  const double expected[] = {0.5, 0, 0, 0.375, 0.125};
  for (std::size_t r = 0; r < revisions.size(); ++r) {
    EXPECT_NEAR(prior.hypotheses[r].probability, expected[r], 1e-12) << r;
  }
  // The planted one does not build: the next that does is named.
  EXPECT_EQ(search(10, 0.2, 3, {}, {9, 10, 11}).found, 12U);
}

TEST(Bisection, builds_fewer_revisions_where_a_build_costs_more_than_pairs) {
  int free = 0, expensive = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    free += search(drawn(seed), 0.05, 700 + seed, {}).builds;
    expensive += search(drawn(seed), 0.05, 700 + seed, {}, {}, 30).builds;
  }
  EXPECT_LT(expensive, 0.85 * free);
}

TEST(Bisection, starts_where_the_whole_change_shows_and_never_measures_the_good_or_a_skipped_one) {
  std::vector<RevisionPairs> revisions(9);
  const std::vector<double> costs(9, 1.0);
  EXPECT_EQ(next_revision(revisions, bisect_posterior(revisions), costs), 8U);
  revisions[8].log_ratios = {0.1, 0.1, 0.1, 0.1};
  EXPECT_THAT(next_revision(revisions, bisect_posterior(revisions), costs), testing::AnyOf(4U, 5U));
  for (std::size_t r = 1; r < 8; ++r) revisions[r].is_skipped = true;
  EXPECT_EQ(next_revision(revisions, bisect_posterior(revisions), costs), 8U);
  const BisectPosterior only = bisect_posterior(revisions);
  EXPECT_EQ(bisect_state(revisions, only, 0.98, 0.01), BisectState::found);
}

TEST(Bisection, a_single_pair_on_either_side_names_no_commit_and_is_repeated_first) {
  std::vector<RevisionPairs> revisions(4);
  const std::vector<double> costs(4, 1.0);
  revisions[3].log_ratios = {0.100, 0.101, 0.099};
  revisions[1].log_ratios = {0.0, 0.001};
  revisions[2].log_ratios = {0.1};
  const BisectPosterior posterior = bisect_posterior(revisions);
  EXPECT_EQ(posterior.best(), 2U);
  EXPECT_GT(posterior.hypotheses[2].probability, 0.98);
  EXPECT_EQ(bisect_state(revisions, posterior, 0.98, 0.01), BisectState::open);
  EXPECT_EQ(next_revision(revisions, posterior, costs), 2U);
  revisions[2].log_ratios.push_back(0.1);
  EXPECT_EQ(bisect_state(revisions, bisect_posterior(revisions), 0.98, 0.01), BisectState::found);
}

TEST(Bisection, one_wild_pair_does_not_name_a_commit) {
  std::vector<RevisionPairs> revisions(3);
  revisions[1].log_ratios = {0.001, -0.002, 0.002, 0.0, 0.9};
  revisions[2].log_ratios = {0.05, 0.052, 0.048, 0.051, 0.049};
  const BisectPosterior posterior = bisect_posterior(revisions);
  EXPECT_EQ(posterior.best(), 2U);
  EXPECT_NEAR(posterior.ratio(2), 1.051, 0.005);
}

}  // namespace
}  // namespace halmark::history
