#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "convex_problem.hpp"
#include "search/loop.hpp"
#include "search/pareto/pareto.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;

std::vector<Point> ask_all(Sampler& sampler, std::size_t batch) {
  std::vector<Point> out;
  while (true) {
    const auto points = sampler.ask(batch);
    if (points.empty()) return out;
    out.insert(out.end(), points.begin(), points.end());
  }
}

Space odd_space() {  // 7 x 5 without the points whose sum is 6
  const auto domain = [](const char* name, int n) {
    SearchDomain out{.name = name, .kind = DomainKind::categorical};
    for (int v = 0; v < n; ++v) out.values.push_back(std::to_string(v));
    return out;
  };
  return {{domain("a", 7), domain("b", 5)},
          {{"six", {"a", "b"}, [](const Point& p) { return p[0] + p[1] != 6; }}}};
}

TEST(Grid, visits_every_valid_point_once_in_batches_of_any_size) {
  const Space space = odd_space();
  ASSERT_EQ(space.size(), 30u);
  const auto whole = ask_all(*make_sampler("grid", space, 3), 1000);
  for (const std::size_t batch : {1u, 2u, 7u, 30u, 31u}) {
    const auto points = ask_all(*make_sampler("grid", space, 3), batch);
    EXPECT_EQ(points, whole) << "the order does not depend on the batch";
    EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), 30u);
    for (const Point& p : points) EXPECT_TRUE(space.contains(p));
  }
}

TEST(Grid, visits_spaces_of_every_small_size) {
  for (int n = 1; n <= 40; ++n) {
    SearchDomain domain{.name = "a"};
    for (int v = 0; v < n; ++v) domain.values.push_back(std::to_string(v));
    const Space space({domain}, {});
    const auto points = ask_all(*make_sampler("grid", space, 11), 1000);
    EXPECT_EQ(points.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(std::set<Point>(points.begin(), points.end()).size(), points.size());
  }
}

TEST(Grid, every_prefix_is_spread_over_the_whole_space) {
  const Space space = convex_space();
  const auto sampler = make_sampler("grid", space, 5);
  std::vector<std::uint64_t> ranks;
  for (const Point& p : sampler->ask(256)) ranks.push_back(space.index(p));
  // No gap between neighbours of a prefix is more than four times an even spacing.
  for (const std::size_t n : {16u, 64u, 100u, 256u}) {
    std::vector<std::uint64_t> prefix(ranks.begin(), ranks.begin() + static_cast<long>(n));
    std::ranges::sort(prefix);
    std::uint64_t widest = prefix.front() + 4096 - prefix.back();
    for (std::size_t i = 1; i < n; ++i) widest = std::max(widest, prefix[i] - prefix[i - 1]);
    EXPECT_LE(widest, 4 * 4096 / n) << n;
  }
}

TEST(Grid, the_seed_moves_the_start) {
  const Space space = convex_space();
  EXPECT_NE(make_sampler("grid", space, 1)->ask(1), make_sampler("grid", space, 2)->ask(1));
}

class EverySampler : public testing::TestWithParam<std::string> {};

TEST_P(EverySampler, never_proposes_a_point_twice_and_ends_with_the_space) {
  for (const std::size_t batch : {1u, 8u}) {
    const Space space = odd_space();
    const auto sampler = make_sampler(GetParam(), space, 4);
    std::set<Point> seen;
    while (true) {
      const auto points = sampler->ask(batch);
      if (points.empty()) break;
      for (const Point& p : points) {
        ASSERT_TRUE(seen.insert(p).second);
        ASSERT_TRUE(space.contains(p));
      }
      sampler->tell(evaluate_convex(points, 1));
    }
    EXPECT_EQ(seen.size(), space.size());
  }
}

TEST_P(EverySampler, repeats_itself_with_the_same_seed) {
  const Space space = convex_space();
  // A Gaussian process factorises a matrix for every proposal.
  const bool is_dear = GetParam() == "gp" || GetParam() == "auto" || GetParam() == "nlopt";
  const std::size_t trials = is_dear ? 40 : 200;
  const auto trace = [&](std::uint64_t seed) {
    const auto sampler = make_sampler(GetParam(), space, seed);
    return run_search(*sampler, {.trials = trials, .batch = 8},
                      {.evaluate = [](const auto& p) { return evaluate_convex(p, 1); }})
        .told;
  };
  const auto a = trace(7), b = trace(7), c = trace(8);
  ASSERT_EQ(a.size(), trials);
  const auto same = [](const std::vector<Told>& x, const std::vector<Told>& y) {
    return std::ranges::equal(x, y, {}, &Told::point, &Told::point);
  };
  EXPECT_TRUE(same(a, b));
  EXPECT_FALSE(same(a, c));
}

TEST_P(EverySampler, infeasible_outcomes_do_not_stop_it) {
  const Space space = odd_space();
  const auto sampler = make_sampler(GetParam(), space, 4);
  const auto result =
      run_search(*sampler, {.trials = 0, .batch = 4}, {.evaluate = [](const auto& p) {
        std::vector<Told> out;
        for (const Point& point : p) {
          out.push_back({.point = point,
                         .outcome = TrialOutcome::failed,
                         .objectives = {},
                         .reason = "refused"});
        }
        return out;
      }});
  EXPECT_EQ(result.told.size(), space.size());
  EXPECT_EQ(result.end, SearchEnd::exhausted);
}

INSTANTIATE_TEST_SUITE_P(Table, EverySampler, testing::ValuesIn(sampler_names()),
                         [](const auto& info) { return info.param; });

double volume_of(const std::vector<Told>& told) {
  std::vector<Objectives> points;
  for (const Told& t : told) points.push_back(t.objectives);
  return hypervolume(points, Objectives{6, 6});
}

TEST(Nsga2, covers_more_of_a_convex_problem_than_a_grid_that_is_cut_off) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Space space = convex_space();
    const auto told = [&](const char* name) {
      const auto sampler = make_sampler(name, space, seed);
      return run_search(*sampler, {.trials = 300, .batch = 8},
                        {.evaluate = [&](const auto& p) { return evaluate_convex(p, seed); }})
          .told;
    };
    const double grid = volume_of(told("grid")), nsga2 = volume_of(told("nsga2"));
    EXPECT_GT(nsga2, grid) << "seed " << seed;
    std::vector<Point> all;
    for (std::size_t i = 0; i < space.size(); ++i) all.push_back(space.point(i));
    const double best = volume_of(evaluate_convex(all, seed));
    EXPECT_GT(nsga2, 0.98 * best) << "seed " << seed;
    EXPECT_LE(nsga2, best * (1 + 1e-12));
  }
}

TEST(MakeSampler, an_unknown_name_is_refused_with_the_nearest) {
  const Space space = odd_space();
  const Error error = error_of([&] { make_sampler("nsga", space, 1); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_NE(error.line().find("'nsga2'"), std::string::npos) << error.line();
}

}  // namespace
}  // namespace halmark
