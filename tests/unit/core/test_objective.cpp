#include "core/chosen/objective.hpp"

#include <gtest/gtest.h>

#include <limits>
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
  EXPECT_EQ(found[1].text(), "80.0 tokens/s, 20.0 tokens/s under 100 tokens/s");
}

TEST(ServiceLevels, a_unit_is_said_once) {
  using O = Objective;
  struct Row {
    ServiceLevel level;
    const char *figure, *limit;
  };
  for (const Row& row : {Row{{O::ttft, 200e6, ""}, "TTFT 200 ms", "TTFT <= 200 ms"},
                         Row{{O::tokens_per_s, 1000, ""}, "1000 tokens/s", "tokens/s >= 1000"},
                         Row{{O::tokens_per_s_per_device, 250, ""},
                             "250 tokens/s per device",
                             "tokens/s per device >= 250"},
                         Row{{O::interactivity, 20, ""},
                             "interactivity 20.0 tokens/s per user",
                             "interactivity >= 20.0 tokens/s per user"},
                         Row{{O::mfu, 0.4, ""}, "MFU 40.0 %", "MFU >= 40.0 %"},
                         Row{{O::cost, 3, ""},
                             "cost 3.00 USD per million tokens",
                             "cost <= 3.00 USD per million tokens"}}) {
    EXPECT_EQ(figure_text(row.level.objective, row.level.limit), row.figure);
    EXPECT_EQ(level_text(row.level), row.limit);
  }
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

// Every objective with a figure of its own: the words for people, and a level in its unit.
TEST(Objectives, are_shown_and_limited_in_the_units_that_people_use) {
  struct Row {
    Objective objective;
    double value;
    const char* shown;
    std::string_view title;
    std::string_view unit;
    std::string_view level_key;
    double level_unit;
    bool is_maximised;
  };
  using O = Objective;
  const Row rows[] = {
      {O::latency, 1.5e6, "1.50 ms", "latency", "ns", "", 1, false},
      {O::throughput, 20, "20.0 tokens/s", "throughput", "tokens/s", "", 1, true},
      {O::memory, 2.5e9, "2.50 GB", "memory", "bytes", "memory_gb", 1e9, false},
      {O::ttft, 123e6, "123 ms", "TTFT", "ns", "ttft_ms", 1e6, false},
      {O::tpot, 12.3e6, "12.3 ms", "TPOT", "ns", "tpot_ms", 1e6, false},
      {O::request_latency, 4e9, "4000 ms", "request latency", "ns", "request_latency_ms", 1e6,
       false},
      {O::tokens_per_s, 0.5, "0.500 tokens/s", "tokens/s", "tokens/s", "tokens_per_s", 1, true},
      {O::tokens_per_s_per_device, 1, "1.00 tokens/s", "tokens/s per device", "tokens/s",
       "tokens_per_s_per_device", 1, true},
      {O::energy, 0.0123, "0.0123 J/token", "energy", "J/token", "energy_j_per_token", 1, false},
      {O::cost, 3, "3.00 USD per million tokens", "cost", "USD per million tokens",
       "usd_per_million_tokens", 1, false},
      {O::mfu, 0.419, "41.9 %", "MFU", "1", "mfu_percent", 0.01, true},
      {O::interactivity, 50, "50.0 tokens/s per user", "interactivity", "tokens/s", "interactivity",
       1, true}};
  EXPECT_EQ(std::size(rows), objective_rows().size());
  for (const Row& row : rows) {
    const ObjectiveRow& known = row_of(row.objective);
    SCOPED_TRACE(known.name);
    EXPECT_EQ(objective_text(row.objective, row.value), row.shown);
    EXPECT_EQ(known.title, row.title);
    EXPECT_EQ(known.unit, row.unit);
    EXPECT_EQ(known.level_key, row.level_key);
    EXPECT_EQ(known.level_unit, row.level_unit);
    EXPECT_EQ(is_maximised(row.objective), row.is_maximised);
    EXPECT_EQ(known.is_asked_for, row.objective == O::energy);
  }
  EXPECT_EQ(objective_text(O::latency, 0), "0.00 ms");
  EXPECT_EQ(objective_text(O::energy, 1e-12), "0.000000000 J/token") << "nine digits at most";
}

TEST(Objectives, each_is_its_own_figure_of_a_served_load) {
  Evaluation e;
  e.served.emplace();
  ServingFigures& f = e.served->figures;
  f.memory_bytes = 1;
  f.ttft_ns = 2;
  f.tpot_ns = 4;
  f.request_ns = 5;
  f.tokens_per_s = 6;
  f.tokens_per_s_per_device = 7;
  f.energy_j_per_token = 8;
  f.usd_per_million_tokens = 9;
  f.mfu = 0.5;
  using O = Objective;
  const std::pair<O, double> expected[] = {{O::memory, 1},       {O::ttft, 2},
                                           {O::tpot, 4},         {O::request_latency, 5},
                                           {O::tokens_per_s, 6}, {O::tokens_per_s_per_device, 7},
                                           {O::energy, 8},       {O::cost, 9},
                                           {O::mfu, 0.5},        {O::interactivity, 2.5e8}};
  for (const auto& [objective, value] : expected) {
    EXPECT_EQ(objective_value(e, objective), value) << objective_name(objective);
  }
  EXPECT_FALSE(objective_value(e, O::latency)) << "of a step";
  EXPECT_EQ(parse_request_objective("memory"), O::memory);
}

// 100 tokens/s for 2 s: 200 tokens by 50 J.
TEST(Objectives, energy_of_a_step_is_that_of_one_of_its_tokens) {
  Evaluation e;
  e.estimate = Estimate{.step_ns = 2e9, .tokens_per_s = 100};
  EXPECT_FALSE(objective_value(e, Objective::energy));
  e.estimate->energy = {.joules = 50, .is_measured = true, .origin = {}};
  EXPECT_DOUBLE_EQ(objective_value(e, Objective::energy).value(), 0.25);
  const std::vector<Objective> both = {Objective::energy, Objective::throughput};
  EXPECT_EQ(minimised(*e.estimate, both), (std::vector<double>{0.25, -100}));
  e.estimate->tokens_per_s = 0;
  EXPECT_FALSE(objective_value(e, Objective::energy));
  EXPECT_EQ(minimised(*e.estimate, both)[0], std::numeric_limits<double>::max())
      << "what is absent is worse than any figure";
}

TEST(ServiceLevels, a_limit_itself_is_kept_and_an_absent_figure_is_not) {
  Evaluation e;
  e.served.emplace();
  e.served->figures.ttft_ns = 200;
  e.served->figures.tokens_per_s = 50;
  const auto misses = [&](Objective objective, double limit) {
    return violations(e, std::vector<ServiceLevel>{{objective, limit, ""}}).size();
  };
  EXPECT_EQ(misses(Objective::ttft, 200), 0u);
  EXPECT_EQ(misses(Objective::ttft, 199), 1u);
  EXPECT_EQ(misses(Objective::tokens_per_s, 50), 0u);
  EXPECT_EQ(misses(Objective::tokens_per_s, 51), 1u);
  EXPECT_EQ(misses(Objective::cost, 1e9), 1u) << "nobody stated a price";
}

// 3 times its limit, a third of its limit's half, twice its limit: the worst first.
TEST(ServiceLevels, the_worst_violation_comes_first) {
  Evaluation e;
  e.served.emplace();
  e.served->figures.ttft_ns = 300;
  e.served->figures.tokens_per_s = 10;
  e.served->figures.tpot_ns = 200;
  const auto found = violations(e, std::vector<ServiceLevel>{{Objective::tpot, 100, ""},
                                                             {Objective::ttft, 100, ""},
                                                             {Objective::tokens_per_s, 60, ""}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].objective, Objective::tokens_per_s);
  EXPECT_EQ(found[1].objective, Objective::ttft);
  EXPECT_EQ(found[2].objective, Objective::tpot);
}

TEST(ServiceLevels, all_of_them_are_kept_as_likely_as_the_least_likely_one) {
  ServedEstimate e;
  e.figures.ttft_ns = e.fast.ttft_ns = e.slow.ttft_ns = 5;
  e.figures.tokens_per_s = 100, e.fast.tokens_per_s = 110, e.slow.tokens_per_s = 80;
  const ServiceLevel sure{Objective::ttft, 6, ""}, doubtful{Objective::tokens_per_s, 80, ""},
      unknown{Objective::cost, 1, ""};
  const auto of = [&](std::vector<ServiceLevel> levels) {
    return service_level_probability(e, levels);
  };
  EXPECT_EQ(of({}), 1);
  EXPECT_EQ(of({sure}), 1);
  EXPECT_NEAR(of({sure, doubtful}), 0.95, 1e-9);
  EXPECT_NEAR(of({doubtful, sure}), 0.95, 1e-9);
  EXPECT_NEAR(of({{Objective::tokens_per_s, 110, ""}}), 0.05, 1e-9);
  EXPECT_EQ(of({sure, unknown}), 0);
}

}  // namespace
}  // namespace halmark
