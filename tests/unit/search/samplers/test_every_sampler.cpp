// What every sampler promises: each valid point at most once, the same seed the same points,
// resuming from rows, and no end because of failures. On spaces with constraints, conditions and
// continua.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "convex_problem.hpp"
#include "problem.hpp"
#include "sample_spaces.hpp"
#include "search/loop.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;

bool is_grid(const std::string& name) { return name == "grid"; }
// Models take milliseconds for a proposal, a hundred times that under a sanitizer.
bool is_expensive(const std::string& name) {
  return name == "gp" || name == "auto" || name == "nlopt";
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
  const std::size_t trials = is_expensive(GetParam()) ? 40 : 200;
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

class SamplerRules : public testing::TestWithParam<std::string> {};

std::vector<Point> trace(const std::string& name, const Space& space, std::uint64_t seed,
                         std::size_t trials, std::size_t batch) {
  const auto sampler = make_sampler(name, space, {.seed = seed, .objectives = 2});
  std::vector<Point> out;
  while (out.size() < trials) {
    const std::vector<Point> points = sampler->ask(std::min(batch, trials - out.size()));
    if (points.empty()) break;
    std::vector<Told> told;
    for (const Point& p : points) told.push_back(evaluate_mixed(p));
    sampler->tell(told);
    out.insert(out.end(), points.begin(), points.end());
  }
  return out;
}

TEST_P(SamplerRules, never_proposes_a_forbidden_point_or_one_twice) {
  const Space space(mixed());
  for (const std::size_t batch : {1u, 8u}) {
    const std::size_t trials = is_expensive(GetParam()) ? 40 : 1000;
    const std::vector<Point> points = trace(GetParam(), space, 3, trials, batch);
    ASSERT_EQ(points.size(), trials);
    std::set<Point> seen;
    for (const Point& p : points) {
      ASSERT_TRUE(space.contains(p));
      ASSERT_TRUE(seen.insert(p).second);
      ASSERT_EQ(p[1] == absent, p[0] != 2);
    }
  }
}

TEST_P(SamplerRules, the_same_seed_gives_the_same_points) {
  const Space space(mixed());
  const std::size_t trials = is_expensive(GetParam()) ? 30 : 150;
  const std::vector<Point> points = trace(GetParam(), space, 5, trials, 1);
  EXPECT_EQ(trace(GetParam(), space, 5, trials, 1), points);
  EXPECT_NE(trace(GetParam(), space, 6, trials, 1), points);
}

TEST_P(SamplerRules, resumes_where_it_was_when_it_is_told_the_rows_again) {
  const Space space(mixed());
  const std::size_t trials = is_expensive(GetParam()) ? 36 : 120;
  const std::vector<Point> whole = trace(GetParam(), space, 9, trials, 1);
  for (const std::size_t cut : {trials / 15, trials / 3, trials - 10}) {
    const auto resumed = make_sampler(GetParam(), space, {.seed = 9, .objectives = 2});
    std::vector<Told> rows;
    for (std::size_t i = 0; i < cut; ++i) rows.push_back(evaluate_mixed(whole[i]));
    resumed->tell(rows);
    for (std::size_t i = cut; i < whole.size(); ++i) {
      const std::vector<Point> next = resumed->ask(1);
      ASSERT_EQ(next.size(), 1u);
      ASSERT_EQ(next.front(), whole[i]) << "trial " << i << " after a cut at " << cut;
      resumed->tell({evaluate_mixed(next.front())});
    }
  }
}

TEST_P(SamplerRules, what_others_proposed_is_not_proposed_again) {
  const Space space(mixed());
  const auto sampler = make_sampler(GetParam(), space, {.seed = 2, .objectives = 2});
  std::set<Point> foreign;
  for (std::uint64_t i = 0; i < space.size(); i += 3) foreign.insert(space.point(i));
  std::vector<Told> pending;
  for (const Point& p : foreign) pending.push_back({.point = p, .outcome = TrialOutcome::pending});
  sampler->tell(pending);
  const int rounds = is_expensive(GetParam()) ? 12 : 30;
  for (int round = 0; round < rounds; ++round) {
    for (const Point& p : sampler->ask(2)) {
      ASSERT_FALSE(foreign.contains(p));
      sampler->tell({evaluate_mixed(p)});
    }
    // Every now and then one of the others ends, well or badly.
    const Point done = *foreign.begin();
    if (round % 2 == 0) {
      sampler->tell({evaluate_mixed(done)});
    } else {
      sampler->tell({{.point = done, .outcome = TrialOutcome::failed, .reason = "crash"}});
    }
    foreign.erase(done);
  }
}

TEST_P(SamplerRules, infeasible_and_failed_trials_do_not_stop_it) {
  const Space space(mixed());
  const auto sampler = make_sampler(GetParam(), space, {.seed = 2, .objectives = 2});
  std::set<Point> seen;
  const int trials = is_expensive(GetParam()) ? 40 : 120;
  for (int i = 0; i < trials; ++i) {
    const std::vector<Point> points = sampler->ask(1);
    ASSERT_EQ(points.size(), 1u);
    const Point& p = points.front();
    ASSERT_TRUE(seen.insert(p).second);
    Told told = evaluate_mixed(p);
    if (p[3] == 3)
      told = {.point = p, .outcome = TrialOutcome::failed, .reason = "out of registers"};
    if (p[4] > 8) {
      told.outcome = TrialOutcome::infeasible;
      told.violations = {p[4] - 8};
      told.reason = "KV cache short by " + std::to_string(p[4] - 8) + " GiB";
    }
    sampler->tell({told});
  }
}

TEST_P(SamplerRules, searches_continua) {
  if (is_grid(GetParam())) GTEST_SKIP() << "a grid of a continuum never ends";
  SpaceDescription s;
  s.domains = {{.name = "x", .kind = DomainKind::real, .low = 0.001, .high = 1, .is_log = true},
               {.name = "y", .kind = DomainKind::real, .low = -1, .high = 1},
               {.name = "n", .kind = DomainKind::integer, .low = 1, .high = 1'000'000}};
  s.constraints = {{"", "x + y > 0", {}}};
  const Space space(s);
  const auto sampler = make_sampler(GetParam(), space, {.seed = 4, .objectives = 1});
  std::set<Point> seen;
  for (int i = 0; i < 80; ++i) {
    const std::vector<Point> points = sampler->ask(1);
    ASSERT_EQ(points.size(), 1u);
    const Point& p = points.front();
    ASSERT_TRUE(space.contains(p));
    ASSERT_TRUE(seen.insert(p).second);
    sampler->tell({{.point = p, .objectives = {p[0] + p[1] * p[1]}}});
  }
}

TEST_P(SamplerRules, takes_four_objectives) {
  const Space space(mixed());
  const auto sampler = make_sampler(GetParam(), space, {.seed = 4, .objectives = 4});
  for (int i = 0; i < 60; ++i) {
    const std::vector<Point> points = sampler->ask(1);
    ASSERT_EQ(points.size(), 1u);
    const Point& p = points.front();
    Objectives values = evaluate_mixed(p).objectives;
    values.push_back(p[0] + p[4]);
    values.push_back(12 - p[4] + p[3]);
    sampler->tell({{.point = p, .objectives = values}});
  }
}

TEST_P(SamplerRules, mistakes_of_the_teller_are_errors) {
  const Space space(mixed());
  const auto sampler = make_sampler(GetParam(), space, 1);
  const Point p = sampler->ask(1).front();
  const auto is_error = [&](const Told& told) {
    return error_of([&] { sampler->tell({told}); }).exit_code() == ExitCode::error;
  };
  EXPECT_TRUE(is_error({.point = p, .objectives = {std::nan(""), 1}}));
  EXPECT_TRUE(is_error({.point = p}));
  EXPECT_TRUE(is_error({.point = {0, 0, 0, 0, 0}, .objectives = {1, 2}})) << "not a valid point";
  sampler->tell({evaluate_mixed(p)});
  EXPECT_TRUE(is_error(evaluate_mixed(p))) << "told twice";
}

INSTANTIATE_TEST_SUITE_P(Table, SamplerRules, testing::ValuesIn(sampler_names()),
                         [](const auto& info) { return info.param; });

// The better half of a wide problem must be found by what claims to search.
class Learner : public testing::TestWithParam<std::string> {};

TEST_P(Learner, finds_more_of_a_front_than_uniform_draws) {
  const problems::Problem problem = problems::mix6();
  const Space space(problem.description);
  double learner = 0, uniform = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto volume = [&](const std::string& name) {
      const auto sampler = make_sampler(name, space, {.seed = seed, .trials = 200});
      return problems::quality(problem, problems::run(problem, space, *sampler, 200), 200);
    };
    learner += volume(GetParam());
    uniform += volume("random");
  }
  EXPECT_GT(learner, uniform + 0.3) << "sums of three hypervolume ratios";
}

INSTANTIATE_TEST_SUITE_P(Table, Learner,
                         testing::Values("nsga2", "nsga3", "tpe", "gp", "auto", "pls"),
                         [](const auto& info) { return info.param; });

TEST(EachSampler, has_a_test_file_of_its_own) {
  for (const std::string& name : sampler_names()) {
    const std::string file = "/tests/unit/search/samplers/test_" + name + ".cpp";
    EXPECT_TRUE(std::filesystem::exists(test::in_source() + file)) << file;
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
