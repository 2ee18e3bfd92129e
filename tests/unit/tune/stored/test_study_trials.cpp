// Trials of served loads: parameters, attributes and constraints, each against values by hand.
#include "tune/stored/study_trials.hpp"

#include <gmock/gmock.h>

#include <array>

#include "core/json/json.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"

namespace halmark::tune {
namespace {

using testing::ElementsAre;
using testing::Pair;

Evaluation served(std::int64_t concurrency, double ttft_ns) {
  Evaluation out;
  Configuration& c = out.configuration;
  c.model = "m";
  c.precision.name = "fp8";
  c.parallel = {.dp = 2, .tp = 3, .pp = 4, .ep = 5};
  ServedLoad& load = c.served.emplace();
  load.mode = ServingMode::disaggregated;
  load.request = {10, 20};
  load.concurrency = concurrency;
  load.token_budget = 7;
  load.prefill = {.tp = 8, .ep = 9};
  load.prefill_workers = 11;
  load.decode_workers = 12;
  out.served.emplace();
  out.served->figures.ttft_ns = ttft_ns;
  out.served->figures.memory_bytes = 1000;
  return out;
}

constexpr std::array objectives = {Objective::ttft, Objective::memory};

std::vector<TrialRow> stored(const std::vector<Evaluation>& evaluations,
                             std::span<const ServiceLevel> levels = {}) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  std::vector<const Evaluation*> members;
  for (const Evaluation& e : evaluations) members.push_back(&e);
  EXPECT_EQ(store_trials(*store, study_of("s", objectives), members, objectives, levels, {}),
            evaluations.size());
  TrialCursor cursor;
  return store->trials(store->list().at(0).info.id, cursor);
}

TEST(ServedTrials, state_the_whole_load_and_layout) {
  const std::vector<TrialRow> rows = stored({served(16, 2e6), served(4, 1e6)});
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_EQ(rows[0].params.size(), 1u) << "the concurrency alone differs";
  EXPECT_EQ(rows[0].params[0].name, "concurrency");
  EXPECT_EQ(rows[0].params[0].internal, 1);
  EXPECT_EQ(rows[1].params[0].internal, 0);
  EXPECT_THAT(rows[0].values, ElementsAre(2, 1000)) << "ttft in ms";
  const std::pair<const char*, const char*> constants[] = {{"mode", "\"disaggregated\""},
                                                           {"dp", "2"},
                                                           {"tp", "3"},
                                                           {"pp", "4"},
                                                           {"ep", "5"},
                                                           {"prefill_tp", "8"},
                                                           {"prefill_ep", "9"},
                                                           {"prefill_workers", "11"},
                                                           {"decode_workers", "12"},
                                                           {"token_budget", "7"},
                                                           {"dtype", "\"fp8\""}};
  for (const auto& [key, value] : constants) {
    const std::string* found = find_attribute(rows[0].user, key);
    ASSERT_NE(found, nullptr) << key;
    EXPECT_EQ(*found, value) << key;
  }
}

TEST(ServedTrials, that_miss_a_level_say_so) {
  const std::vector<ServiceLevel> levels = {{Objective::ttft, 1.5e6, ""}};
  const std::vector<TrialRow> rows = stored({served(16, 2e6), served(4, 1e6)}, levels);
  EXPECT_THAT(constraint_values(rows[0]), ElementsAre(1));
  EXPECT_THAT(constraint_values(rows[1]), ElementsAre(0));
  EXPECT_EQ(rows[0].state, TrialState::complete);
}

TEST(StepTrials, have_stages_where_some_are_stated_and_a_number_of_ranks_of_context) {
  Evaluation even, stated;
  even.estimate = stated.estimate = Estimate{.step_ns = 1e6, .memory_bytes_total = 5};
  even.configuration.parallel.pp = stated.configuration.parallel.pp = 2;
  stated.configuration.parallel.stages = {10, 18};
  stated.configuration.parallel.cp = 3;
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  const std::array step_objectives = {Objective::latency};
  const std::vector<const Evaluation*> members = {&even, &stated};
  store_trials(*store, study_of("s", step_objectives), members, step_objectives, {}, {});
  TrialCursor cursor;
  const std::vector<TrialRow> rows = store->trials(store->list().at(0).info.id, cursor);
  ASSERT_EQ(rows[0].params.size(), 2u);
  EXPECT_EQ(rows[0].params[0].name, "cp");
  EXPECT_EQ(rows[0].params[1].name, "stages");
  EXPECT_EQ(rows[0].params[1].distribution->value(rows[0].params[1].internal),
            ParamValue(std::string("even")));
  EXPECT_EQ(rows[1].params[1].distribution->value(rows[1].params[1].internal),
            ParamValue(std::string("10,18")));
  EXPECT_EQ(find_attribute(rows[0].user, "stages"), nullptr);
  EXPECT_EQ(*find_attribute(rows[0].user, "pp"), "2");
}

TEST(TrialAttributes, are_all_that_is_known_of_an_evaluation) {
  Evaluation e;
  e.configuration.model = "m";
  e.reason = "because";
  e.measured_ns = 3e6;
  e.standing = FrontStanding{FrontClass::certain, 0.75};
  e.estimate = Estimate{.step_ns = 2e6, .low_ns = 1e6, .high_ns = 4e6};
  e.estimate->status = Status::suspect;
  e.estimate->provenance = Provenance::imported;
  e.estimate->bottleneck = "ffn";
  e.estimate->mfu = 0.25;
  const std::string key = dump_json(Json(e.configuration.key()));
  EXPECT_THAT(
      trial_attributes(e),
      testing::UnorderedElementsAre(
          Pair("halmark:deployment", key), Pair("halmark:reason", "\"because\""),
          Pair("halmark:status", "\"suspect\""), Pair("halmark:provenance", "\"imported\""),
          Pair("halmark:latency_interval_ms", "[1.0,4.0]"), Pair("halmark:bottleneck", "\"ffn\""),
          Pair("halmark:mfu", "0.25"), Pair("halmark:front_class", "\"certain\""),
          Pair("halmark:front_probability", "0.75"), Pair("halmark:run_ms", "3.0")));
  EXPECT_THAT(trial_attributes(Evaluation{}), ElementsAre(Pair("halmark:deployment", testing::_)));
}

TEST(StudyOf, names_its_values_in_the_units_that_they_have) {
  const std::array all = {Objective::ttft, Objective::throughput, Objective::memory,
                          Objective::mfu};
  const StudyInfo study = study_of("s", all);
  EXPECT_EQ(study.name, "s");
  EXPECT_THAT(study.directions, ElementsAre(StudyDirection::minimize, StudyDirection::maximize,
                                            StudyDirection::minimize, StudyDirection::maximize));
  EXPECT_THAT(metric_names(study), ElementsAre("ttft_ms", "tokens_per_s", "memory_bytes", "mfu"));
}

}  // namespace
}  // namespace halmark::tune
