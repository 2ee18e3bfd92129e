#include "search/deployment_front.hpp"

#include <gtest/gtest.h>

#include <array>

namespace halmark {
namespace {

constexpr std::array all{Objective::latency, Objective::throughput, Objective::memory};

Evaluation evaluation(Phase phase, double step_ns, double tokens_per_s, std::int64_t bytes) {
  Evaluation out;
  out.configuration.workload.phase = phase;
  out.estimate = Estimate{};
  out.estimate->step_ns = step_ns;
  out.estimate->tokens_per_s = tokens_per_s;
  out.estimate->memory_bytes_total = bytes;
  return out;
}

TEST(ObjectiveValues, are_minimised_in_the_order_that_was_asked_for) {
  const Evaluation e = evaluation(Phase::decode, 5, 7, 11);
  EXPECT_EQ(objective_values(*e.estimate, all), (Objectives{5, -7, 11}));
  const std::array two{Objective::memory, Objective::throughput};
  EXPECT_EQ(objective_values(*e.estimate, two), (Objectives{11, -7}));
}

TEST(DeploymentFront, each_phase_has_its_own) {
  const std::vector<Evaluation> evaluations{
      evaluation(Phase::prefill, 100, 10, 50),  // 0: worse than every decode point, on the front
      evaluation(Phase::decode, 9, 30, 8),      // 1: front
      evaluation(Phase::decode, 2, 20, 8),      // 2: front, faster
      evaluation(Phase::decode, 9, 29, 8),      // 3: dominated by 1
      evaluation(Phase::prefill, 50, 9, 50),    // 4: front
      evaluation(Phase::decode, 9, 30, 8)};     // 5: equal to 1, kept
  EXPECT_EQ(deployment_front(evaluations, all), (std::vector<std::size_t>{2, 1, 5, 4, 0}))
      << "decode first, each phase by latency";
}

TEST(DeploymentFront, an_objective_that_was_not_asked_for_keeps_nobody) {
  const std::vector<Evaluation> evaluations{evaluation(Phase::decode, 1, 1, 100),
                                            evaluation(Phase::decode, 2, 1, 1)};
  const std::array latency{Objective::latency};
  EXPECT_EQ(deployment_front(evaluations, latency), std::vector<std::size_t>{0});
  EXPECT_EQ(deployment_front(evaluations, all).size(), 2u);
}

TEST(DeploymentFront, what_has_no_estimate_is_on_no_front) {
  std::vector<Evaluation> evaluations{evaluation(Phase::decode, 1, 1, 1)};
  evaluations[0].estimate.reset();
  evaluations[0].status = Status::refused;
  EXPECT_TRUE(deployment_front(evaluations, all).empty());
  EXPECT_TRUE(deployment_front({}, all).empty());
}

}  // namespace
}  // namespace halmark
