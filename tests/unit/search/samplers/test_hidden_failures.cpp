// Failures that no constraint states cost no search more than they cost uniform draws: medians of
// 20 seeds of 100 trials. The others of tests/problems are figures of bench_portfolio. And they
// keep no search from a front that lies among them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/numeric/statistics.hpp"
#include "core/ranges.hpp"
#include "problem.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark {
namespace {

std::vector<Told> searched(const problems::Problem& problem, const Space& space,
                           const std::string& sampler, std::uint64_t seed, std::size_t trials) {
  const auto one = make_sampler(
      sampler, space,
      {.seed = seed, .trials = trials, .objectives = problem.description.objectives.size()});
  return problems::run(problem, space, *one, trials);
}

double failures(const problems::Problem& problem, const std::string& sampler) {
  const Space space(problem.description);
  std::vector<double> out;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto told = searched(problem, space, sampler, seed, 100);
    out.push_back(
        static_cast<double>(std::ranges::count(told, TrialOutcome::failed, &Told::outcome)));
  }
  return median(out);
}

class HiddenFailures : public testing::TestWithParam<std::string> {};

TEST_P(HiddenFailures, are_no_more_than_those_of_uniform_draws) {
  for (const problems::Problem& problem : problems::hidden_failures_to_tune_on()) {
    EXPECT_LE(failures(problem, GetParam()), failures(problem, "random")) << problem.name;
  }
}

// By going through the whole space.
std::vector<Objectives> exact_front(const problems::Problem& problem, const Space& space) {
  std::vector<Objectives> all, out;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Told told = problem.evaluate(space, space.point(i));
    if (told.outcome == TrialOutcome::complete) all.push_back(told.objectives);
  }
  for (const std::size_t i : non_dominated(all)) out.push_back(all[i]);
  return out;
}

class FailuresAtTheFront : public testing::TestWithParam<std::string> {};

TEST_P(FailuresAtTheFront, keep_no_search_from_it) {
  const problems::Problem problem = problems::failures_at_the_front();
  const Space space(problem.description);
  const std::vector<Objectives> front = exact_front(problem, space);
  int reached = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto told = searched(problem, space, GetParam(), seed, 250);
    reached +=
        std::ranges::any_of(told, [&](const Told& t) { return contains(front, t.objectives); });
  }
  EXPECT_GE(reached, 9);
}

// A search that finds nothing at the border does not stay there: a third of what uniform draws
// lose, as of one that never looks.
TEST_P(FailuresAtTheFront, are_left_alone_where_it_is_elsewhere) {
  const problems::Problem problem = problems::failures_far_from_the_front();
  EXPECT_LE(failures(problem, GetParam()), failures(problem, "random") / 3);
}

INSTANTIATE_TEST_SUITE_P(Learners, FailuresAtTheFront, testing::Values("gp", "auto"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Learners, HiddenFailures,
                         testing::Values("gp", "auto", "tpe", "nsga2", "nsga3", "pls", "anneal"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace halmark
