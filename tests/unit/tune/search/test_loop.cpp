// The loop over configurations, with an evaluator whose answers are known.
#include "tune/search/loop.hpp"

#include <gtest/gtest.h>

#include <map>

#include "plan/sweep.hpp"
#include "tests/checkout.hpp"

namespace halmark::tune {
namespace {

TuneProblem problem_of(const std::string& more = {}) {
  const Sweep sweep = parse_sweep(
      "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\", \"int8\"]\n"
      "objectives = [\"latency\", \"throughput\"]\n" +
          more + "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4, 8, 16, 32]\ncontext = 128\n",
      "s.toml");
  const std::vector<std::int64_t> shards = {1, 2, 4};
  return problems_of(sweep, load_model(sweep.model, {halmark::test::in_source("/configs/models")}),
                     shards, {})
      .front();
}

// A step takes its batch in ns, and fails for a batch of 4.
class Known : public Evaluator {
 public:
  std::vector<Evaluation> evaluate(std::span<const Configuration> configurations) override {
    ++calls;
    std::vector<Evaluation> out;
    for (const Configuration& c : configurations) {
      Evaluation e;
      e.configuration = c;
      if (c.workload.batch == 4) {
        e.status = Status::refused;
        e.reason = "no batch of four";
      } else {
        e.estimate = Estimate{.step_ns = static_cast<double>(c.workload.batch),
                              .tokens_per_s = static_cast<double>(c.workload.batch * 10)};
      }
      out.push_back(e);
    }
    return out;
  }
  int calls = 0;
};

// Of an objective that has no figure the reason is that of the evaluation, else that of the figure.
TEST(ToldOf, an_absent_figure_has_its_reason) {
  const Sweep sweep = parse_sweep(
      "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndtypes = \"bf16\"\nobjectives = [\"latency\", "
      "\"energy\"]\n[[workload]]\nphase = \"decode\"\nbatch = 1\ncontext = 128\n",
      "s.toml");
  const std::vector<std::int64_t> shards = {1};
  const TuneProblem problem =
      problems_of(sweep, load_model(sweep.model, {halmark::test::in_source("/configs/models")}),
                  shards, {})
          .front();
  const Point point = problem.space().point(0);
  Evaluation e{.configuration = problem.at(point)};
  EXPECT_EQ(told_of(problem, point, e).outcome, TrialOutcome::failed);
  EXPECT_EQ(told_of(problem, point, e).reason, "");
  e.estimate = Estimate{.step_ns = 5};
  e.estimate->energy_reason = "no meter";
  EXPECT_EQ(told_of(problem, point, e).outcome, TrialOutcome::failed);
  EXPECT_EQ(told_of(problem, point, e).reason, "no meter");
  e.reason = "refused";
  EXPECT_EQ(told_of(problem, point, e).reason, "refused");
}

class EverySampler : public testing::TestWithParam<std::string> {};

TEST_P(EverySampler, searches_a_problem_and_is_told_what_was_evaluated) {
  const TuneProblem problem = problem_of();
  const auto sampler = make_sampler(GetParam(), problem.space(),
                                    SamplerOptions{.seed = 3, .trials = 20, .objectives = 2});
  Known evaluator;
  std::map<std::string, int> seen;
  const SearchResult result =
      run(problem, *sampler, evaluator, {.budget = {.trials = 20, .batch = 5}},
          [&](const Point& point, const Evaluation& e, const TrialTime&) {
            EXPECT_EQ(problem.at(point).key(), e.configuration.key());
            ++seen[e.configuration.key()];
          });
  EXPECT_EQ(result.told.size(), 20u);
  EXPECT_EQ(seen.size(), 20u) << "a configuration was tried twice";
  for (const Told& told : result.told) {
    const std::int64_t batch = problem.at(told.point).workload.batch;
    if (batch == 4) {
      EXPECT_EQ(told.outcome, TrialOutcome::failed);
      EXPECT_EQ(told.reason, "no batch of four");
    } else {
      ASSERT_EQ(told.objectives.size(), 2u);
      EXPECT_DOUBLE_EQ(told.objectives[0], static_cast<double>(batch));
      EXPECT_DOUBLE_EQ(told.objectives[1], -10.0 * static_cast<double>(batch));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EverySampler, testing::ValuesIn(sampler_names()),
                         [](const auto& info) { return info.param; });

TEST(Loop, ends_with_the_space_with_the_trials_and_with_a_stop) {
  const TuneProblem problem = problem_of();
  Known evaluator;
  const auto ignore = [](const Point&, const Evaluation&, const TrialTime&) {};
  const auto grid = [&] { return make_sampler("grid", problem.space(), 1); };
  EXPECT_EQ(run(problem, *grid(), evaluator, {}, ignore).end, SearchEnd::exhausted);
  EXPECT_EQ(evaluator.calls, 1) << "without a batch everything is evaluated together";
  EXPECT_EQ(run(problem, *grid(), evaluator, {.budget = {.trials = 3}}, ignore).end,
            SearchEnd::budget);
  const int before = evaluator.calls;
  const SearchResult stopped =
      run(problem, *grid(), evaluator,
          {.budget = {.batch = 2}, .should_stop = [&] { return evaluator.calls - before >= 2; }},
          ignore);
  EXPECT_EQ(stopped.end, SearchEnd::stopped);
  EXPECT_EQ(stopped.told.size(), 4u);
}

TEST(Loop, a_level_that_is_missed_makes_a_trial_infeasible_by_so_much) {
  ServedEstimate served;
  served.figures.ttft_ns = 300e6;
  served.figures.tpot_ns = 10e6;
  Evaluation e;
  e.served = served;
  const Sweep sweep = parse_sweep(
      "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\"]\nshards = [1]\n"
      "objectives = [\"ttft\", \"tpot\"]\n[request]\ninput_tokens = 64\noutput_tokens = 8\n"
      "concurrency = 1\n[slo]\nttft_ms = 200\ntpot_ms = 20\n",
      "s.toml");
  const TuneProblem problem =
      problems_of(sweep, load_model(sweep.model, {halmark::test::in_source("/configs/models")}),
                  sweep.shards, {})
          .front();
  const Told told = told_of(problem, problem.space().point(0), e);
  EXPECT_EQ(told.outcome, TrialOutcome::infeasible);
  ASSERT_EQ(told.violations.size(), 1u);
  EXPECT_DOUBLE_EQ(told.violations[0], 0.5);
  EXPECT_NE(told.reason.find("TTFT"), std::string::npos);
}

}  // namespace
}  // namespace halmark::tune
