#include "core/chosen/objective.hpp"

#include <gtest/gtest.h>

#include <set>

namespace halmark {
namespace {

TEST(Objectives, every_row_stands_at_its_enumerator_and_reads_back_by_its_name) {
  std::set<std::string_view> names;
  for (const ObjectiveRow& row : objective_rows()) {
    EXPECT_EQ(&row_of(row.objective), &row);
    EXPECT_EQ(parse_objective(row.name), row.objective);
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.of_step != nullptr || row.of_requests != nullptr) << row.name;
    // A level is a level of requests.
    if (!row.level_key.empty()) {
      EXPECT_NE(row.of_requests, nullptr) << row.name;
    }
  }
  EXPECT_EQ(parse_objective("speed"), std::nullopt);
}

TEST(Objectives, latency_and_throughput_of_requests_are_those_of_whole_requests) {
  EXPECT_EQ(parse_request_objective("latency"), Objective::request_latency);
  EXPECT_EQ(parse_request_objective("throughput"), Objective::tokens_per_s);
  EXPECT_EQ(parse_request_objective("ttft"), Objective::ttft);
  EXPECT_EQ(parse_request_objective("speed"), std::nullopt);
}

TEST(Objectives, a_step_and_a_served_load_are_asked_for_their_own_figures) {
  Evaluation step;
  step.estimate = Estimate{.step_ns = 3, .tokens_per_s = 5, .memory_bytes_total = 7};
  EXPECT_EQ(objective_value(step, Objective::latency), 3);
  EXPECT_EQ(objective_value(step, Objective::memory), 7);
  EXPECT_EQ(objective_value(step, Objective::ttft), std::nullopt);
  Evaluation served;
  served.served.emplace();
  served.served->figures.ttft_ns = 11;
  served.served->figures.memory_bytes = 13;
  EXPECT_EQ(objective_value(served, Objective::ttft), 11);
  EXPECT_EQ(objective_value(served, Objective::memory), 13);
  EXPECT_EQ(objective_value(served, Objective::energy), std::nullopt) << "nobody stated a power";
  EXPECT_EQ(objective_value(served, Objective::interactivity), std::nullopt) << "one token";
  served.served->figures.tpot_ns = 20e6;
  EXPECT_EQ(objective_value(served, Objective::interactivity), 50) << "tokens/s";
}

TEST(Objectives, what_is_maximised_is_negated_and_what_is_absent_leaves_nothing) {
  Evaluation e;
  e.estimate = Estimate{.step_ns = 3, .tokens_per_s = 5};
  const std::vector<Objective> both = {Objective::throughput, Objective::latency};
  EXPECT_EQ(minimised(e, both), (std::vector<double>{-5, 3}));
  const std::vector<Objective> foreign = {Objective::latency, Objective::tpot};
  EXPECT_EQ(minimised(e, foreign), std::nullopt);
}

TEST(ServiceLevels, a_violation_names_value_limit_and_amount) {
  Evaluation e;
  e.served.emplace();
  e.served->figures.ttft_ns = 312e6;
  e.served->figures.tokens_per_s = 80;
  const std::vector<ServiceLevel> levels = {
      {Objective::tokens_per_s, 100, ""}, {Objective::ttft, 200e6, ""}, {Objective::tpot, 1e6, ""}};
  const auto found = violations(e, levels);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].text(), "TTFT 312 ms, 112 ms over 200 ms");
  EXPECT_EQ(found[1].text(), "tokens_per_s 80.0 tokens/s, 20.0 tokens/s under 100 tokens/s");
}

TEST(ServiceLevels, probability_follows_from_the_interval) {
  EXPECT_NEAR(probability_at_most(100, 100, 90, 120), 0.5, 1e-12);
  EXPECT_NEAR(probability_at_most(90, 100, 90, 120), 0.05, 1e-9);
  EXPECT_NEAR(probability_at_most(120, 100, 90, 120), 0.95, 1e-9);
  EXPECT_EQ(probability_at_most(99, 100, 100, 100), 0) << "no interval: kept or not";
  EXPECT_EQ(probability_at_most(100, 100, 100, 100), 1);
  double before = 0;
  for (double limit = 50; limit < 200; limit += 1) {
    const double p = probability_at_most(limit, 100, 90, 120);
    EXPECT_GE(p, before);
    before = p;
  }
  ServedEstimate e;
  e.figures.tokens_per_s = 100, e.fast.tokens_per_s = 110, e.slow.tokens_per_s = 80;
  EXPECT_NEAR(
      service_level_probability(e, std::vector<ServiceLevel>{{Objective::tokens_per_s, 80, ""}}),
      0.95, 1e-9);
}

}  // namespace
}  // namespace halmark
