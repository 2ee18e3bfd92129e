// Failures that no constraint states cost no search more than they cost uniform draws: medians of
// 20 seeds of 100 trials. The others of tests/problems are figures of bench_portfolio.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/numeric/statistics.hpp"
#include "problem.hpp"

namespace halmark {
namespace {

double failures(const problems::Problem& problem, const std::string& sampler) {
  const Space space(problem.description);
  std::vector<double> out;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto one = make_sampler(
        sampler, space,
        {.seed = seed, .trials = 100, .objectives = problem.description.objectives.size()});
    const auto told = problems::run(problem, space, *one, 100);
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

INSTANTIATE_TEST_SUITE_P(Learners, HiddenFailures,
                         testing::Values("gp", "auto", "tpe", "nsga2", "nsga3", "pls", "anneal"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace halmark
