// Evaluated deployments as rows of a study, in a real storage.
#include "tune/stored/stored_study.hpp"

#include <gmock/gmock.h>

#include <array>
#include <chrono>

#include "framework/study/front.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array all{Objective::latency, Objective::throughput, Objective::memory};

Evaluation evaluation(int tp, const char* dtype, double step_ns, Phase phase = Phase::decode) {
  Evaluation out;
  out.configuration.model = "m";
  out.configuration.workload.phase = phase;
  out.configuration.workload.batch = 16;
  out.configuration.parallel.tp = tp;
  out.configuration.precision.name = dtype;
  out.estimate = Estimate{.step_ns = step_ns,
                          .low_ns = step_ns - 1e6,
                          .high_ns = step_ns + 1e6,
                          .tokens_per_s = 16 / step_ns * 1e9,
                          .memory_bytes_total = 1000 * tp};
  return out;
}

std::vector<TrialRow> rows_of(StudyStore& store, const StudyInfo& study) {
  TrialCursor cursor;
  return store.trials(study.id, cursor);
}

std::vector<TrialRow> stored(const std::vector<Evaluation>& evaluations,
                             const tune::TrialTimes& times = {}) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  tune::store_evaluations(*store, "d", Phase::decode, evaluations, all, times);
  return rows_of(*store, store->list().at(0).info);
}

TEST(DeploymentStudy, objectives_have_the_persons_units_and_signs) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  const std::vector<Evaluation> evaluations = {evaluation(1, "bf16", 8e6),
                                               evaluation(2, "f32", 4e6),
                                               evaluation(1, "f32", 2e6, Phase::prefill)};
  EXPECT_EQ(tune::store_evaluations(*store, "d", Phase::decode, evaluations, all), 2u);
  const std::vector<StudySummary> studies = store->list();
  ASSERT_EQ(studies.size(), 1u) << "the other phase is another study";
  const StudyInfo& study = studies[0].info;
  EXPECT_THAT(metric_names(study), ElementsAre("latency_ms", "tokens_per_s", "memory_bytes"));
  EXPECT_THAT(study.directions, ElementsAre(StudyDirection::minimize, StudyDirection::maximize,
                                            StudyDirection::minimize));
  const std::vector<TrialRow> rows = rows_of(*store, study);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_THAT(rows[0].values, ElementsAre(8, 2000, 1000));
  EXPECT_THAT(rows[1].values, ElementsAre(4, 4000, 2000));
  EXPECT_THAT(study_front(study, rows), ElementsAre(0u, 1u));
  ASSERT_NE(find_attribute(rows[1].user, "halmark:latency_interval_ms"), nullptr);
  EXPECT_EQ(*find_attribute(rows[1].user, "halmark:latency_interval_ms"), "[3.0,5.0]");
}

TEST(DeploymentStudy, parameters_have_the_choices_of_all_rows_in_order) {
  const std::vector<Evaluation> evaluations = {
      evaluation(16, "int8", 1e6), evaluation(2, "bf16", 2e6), evaluation(1, "f32", 3e6)};
  for (const TrialRow& row : stored(evaluations)) {
    ASSERT_EQ(row.params.size(), 2u) << "the rest has one value";
    EXPECT_EQ(row.params[0].name, "tp");
    const auto& tp = *row.params[0].distribution;
    EXPECT_THAT(tp.choices, ElementsAre(ParamValue(std::int64_t{1}), ParamValue(std::int64_t{2}),
                                        ParamValue(std::int64_t{16})));
    const auto k = static_cast<std::size_t>(row.number);
    EXPECT_EQ(tp.value(row.params[0].internal),
              ParamValue(std::int64_t{evaluations[k].configuration.parallel.tp}));
    EXPECT_EQ(row.params[1].name, "dtype");
    EXPECT_EQ(row.params[1].distribution->value(row.params[1].internal),
              ParamValue(evaluations[k].configuration.precision.name));
  }
}

TEST(DeploymentStudy, trials_began_and_ended_when_they_were_evaluated) {
  const std::vector<Evaluation> evaluations = {evaluation(1, "bf16", 2e6),
                                               evaluation(2, "bf16", 1e6)};
  const std::chrono::system_clock::time_point began{std::chrono::seconds(1'000'000'000)};
  const tune::TrialTimes times = {
      {evaluations[1].configuration.key(), {began, began + std::chrono::milliseconds(1500)}}};
  const std::vector<TrialRow> rows = stored(evaluations, times);
  EXPECT_EQ(rows[1].started_utc, "2001-09-09 01:46:40.000000") << "1e9 s after the epoch";
  EXPECT_EQ(rows[1].completed_utc, "2001-09-09 01:46:41.500000");
  EXPECT_GT(rows[0].started_utc, "2026-01-01") << "what nobody timed is of now";
}

TEST(DeploymentStudy, what_has_no_time_says_why) {
  Evaluation too_large = evaluation(1, "f32", 0);
  too_large.estimate.reset();
  too_large.status = Status::refused;
  too_large.reason = "does not fit in memory";
  Evaluation broken = too_large;
  broken.configuration.parallel.tp = 2;
  broken.status = Status::crashed;
  broken.reason = "the worker ended";
  const std::vector<Evaluation> evaluations = {too_large, broken};
  const std::vector<TrialRow> rows = stored(evaluations);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].state, TrialState::pruned);
  EXPECT_THAT(constraint_values(rows[0]), testing::IsEmpty());
  EXPECT_EQ(rows[1].state, TrialState::fail);
  EXPECT_THAT(*find_attribute(rows[1].user, "halmark:reason"), HasSubstr("the worker ended"));
}

TEST(DeploymentStudy, a_configuration_is_stored_once) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  std::vector<Evaluation> evaluations = {evaluation(1, "f32", 1e6)};
  EXPECT_EQ(tune::store_evaluations(*store, "d", Phase::decode, evaluations, all), 1u);
  EXPECT_EQ(tune::store_evaluations(*store, "d", Phase::decode, evaluations, all), 0u);
  EXPECT_EQ(tune::store_evaluations(*store, "d", Phase::prefill, evaluations, all), 0u);
  EXPECT_EQ(store->list().size(), 1u);
}

}  // namespace
}  // namespace halmark
