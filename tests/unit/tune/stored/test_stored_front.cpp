// Fronts as studies: stored once, read back whole, and the one that is found where none is named.
#include "tests/unit/expect.hpp"
#include "tune/stored/stored_front.hpp"

#include <gmock/gmock.h>

#include "journal/store.hpp"
#include "report/searched_front.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/stored/stored_study.hpp"
#include "tune/stored/study_trials.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Evaluation step(int tp, double ns, Phase phase = Phase::decode) {
  Evaluation out;
  out.configuration.model = "m";
  out.configuration.workload.phase = phase;
  out.configuration.parallel.tp = tp;
  out.configuration.precision.name = "bf16";
  out.estimate = Estimate{.step_ns = ns,
                          .low_ns = ns,
                          .high_ns = ns,
                          .tokens_per_s = 1e9 / ns,
                          .memory_bytes_total = 1000 * tp};
  return out;
}

SearchedFront front() {
  SearchedFront out;
  out.title = "sweep decode";
  out.model = "m";
  out.command = "halmark tune s.toml";
  out.started_utc = "2026-01-02 03:04:05.000000";
  out.device = "h100-sxm";
  out.memory_fraction = 0.8;
  out.basis = {"times: roofline"};
  out.objectives = {Objective::latency, Objective::memory};
  out.levels = {{.objective = Objective::latency, .limit = 3e6, .where = {}}};
  out.configurations = 7;
  out.points = {step(2, 1e6), step(1, 2e6)};
  return out;
}

std::unique_ptr<StudyStore> memory() { return open_study_store("memory:", StudyAccess::or_create); }

std::vector<TrialRow> trials_of(StudyStore& store) {
  TrialCursor cursor;
  return store.trials(store.list().at(0).info.id, cursor);
}

TEST(StoredFront, is_read_back_as_it_was_stored) {
  const auto store = memory();
  const std::vector<Evaluation> tried = {step(2, 1e6), step(4, 9e6)};
  const std::string name = store_front(*store, front(), tried);
  EXPECT_THAT(name, testing::MatchesRegex("sweep decode [0-9a-f]{12}"));
  const SearchedFront back = read_stored_front(*store, name);
  EXPECT_EQ(back.origin, "study '" + name + "'");
  EXPECT_EQ(back.title, "sweep decode");
  EXPECT_EQ(back.model, "m");
  EXPECT_EQ(back.command, "halmark tune s.toml");
  EXPECT_EQ(back.started_utc, "2026-01-02 03:04:05.000000");
  EXPECT_EQ(back.device, "h100-sxm");
  EXPECT_EQ(back.memory_fraction, 0.8);
  EXPECT_THAT(back.basis, ElementsAre("times: roofline"));
  EXPECT_EQ(back.objectives, front().objectives);
  ASSERT_EQ(back.levels.size(), 1u);
  EXPECT_EQ(back.levels[0].objective, Objective::latency);
  EXPECT_EQ(back.levels[0].limit, 3e6);
  EXPECT_EQ(back.configurations, 7u);
  ASSERT_EQ(back.points.size(), 2u);
  EXPECT_EQ(back.points[0].configuration, front().points[0].configuration);
  EXPECT_EQ(back.points[1].configuration.parallel.tp, 1);
  EXPECT_EQ(back.points[1].estimate->step_ns, 2e6);
}

TEST(StoredFront, has_its_points_first_then_what_was_tried_beside_them) {
  const auto store = memory();
  const std::vector<Evaluation> tried = {step(4, 9e6), step(2, 1e6)};
  store_front(*store, front(), tried);
  const std::vector<TrialRow> rows = trials_of(*store);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0].values, ElementsAre(1, 2000));
  EXPECT_THAT(rows[1].values, ElementsAre(2, 1000));
  EXPECT_THAT(rows[2].values, ElementsAre(9, 4000));
  for (const std::size_t i : {0u, 1u, 2u}) {
    const bool is_whole = find_attribute(rows[i].user, evaluation_attribute) != nullptr;
    EXPECT_EQ(is_whole, i < 2) << "who may be exported is kept whole";
    EXPECT_THAT(constraint_values(rows[i]), ElementsAre(i == 2 ? 1 : 0))
        << "9 ms are above the level of 3";
  }
}

TEST(StoredFront, of_the_same_result_is_stored_once_whoever_found_it) {
  const auto store = memory();
  const std::string name = store_front(*store, front(), {});
  SearchedFront again = front();
  again.command = "another";
  again.started_utc = "2026-05-05 00:00:00.000000";
  EXPECT_EQ(store_front(*store, again, {}), name);
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_EQ(read_stored_front(*store, name).command, "another");
  again.points[0].estimate->step_ns = 1.5e6;
  EXPECT_NE(store_front(*store, again, {}), name) << "another figure is another result";
  again = front();
  again.device = "a100";
  EXPECT_NE(store_front(*store, again, {}), name);
  EXPECT_EQ(store->list().size(), 3u);
  SearchedFront empty = front();
  empty.points.clear();
  EXPECT_EQ(store_front(*store, empty, {}), "") << "nothing was tried";
  EXPECT_EQ(store->list().size(), 3u);
}

TEST(StoredFront, leaves_4096_trials_at_most) {
  const auto store = memory();
  std::vector<Evaluation> tried;
  for (int tp = 3; tp < 4100; ++tp) tried.push_back(step(tp, 1e6 * tp));
  store_front(*store, front(), tried);
  EXPECT_EQ(trials_of(*store).size(), 4096u);
}

TEST(StoredFront, fronts_are_listed_from_the_oldest_and_missing_ones_named) {
  const auto store = memory();
  EXPECT_THAT(stored_fronts(*store), IsEmpty());
  expect_error([&] { read_stored_front(*store, "x"); }, "search first: halmark tune");
  SearchedFront newer = front(), older = front();
  newer.title = "newer";
  older.title = "older";
  older.started_utc = "2025-01-01 00:00:00.000000";
  const std::string new_name = store_front(*store, newer, {});
  const std::string old_name = store_front(*store, older, {});
  const std::array objectives = {Objective::latency};
  const std::vector<Evaluation> others = {step(1, 1)};
  store_evaluations(*store, "no front", Phase::decode, others, objectives);
  const auto listed = stored_fronts(*store);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].study, old_name);
  EXPECT_EQ(listed[1].study, new_name);
  EXPECT_EQ(listed[1].started_utc, newer.started_utc);
  const std::string slip = new_name.substr(0, new_name.size() - 1);
  expect_error([&] { read_stored_front(*store, slip); }, "'" + new_name + "'");
  expect_error([&] { read_stored_front(*store, "no front"); }, "no study 'no front' with a front");
}

TEST(StoredFront, one_that_was_changed_is_refused) {
  const auto stored_as = [](const char* from, const char* to) {
    const auto store = memory();
    const std::string name = store_front(*store, front(), {});
    StudyInfo info = store->list().at(0).info;
    std::string text = *find_attribute(info.user, "halmark:front");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, std::string(from).size(), to);
    store->transact([&](StudyTransaction& t) {
      t.set_attributes(info.id, {{"halmark:front", text}}, {});
    });
    return error_of([&] { read_stored_front(*store, name); }).line();
  };
  EXPECT_THAT(stored_as("\"latency\"", "\"latenci\""),
              HasSubstr("objectives: expected an objective"));
  EXPECT_THAT(stored_as("\"title\"", "\"titel\""), HasSubstr("its front cannot be read"));
  EXPECT_THAT(stored_as("\"points\":[\"", "\"points\":[\"no such "),
              HasSubstr("a point of the stored front has no trial"));
}

RunReport report() {
  RunReport out;
  out.title = "sweep";
  out.model = "m";
  out.command = "halmark tune s.toml";
  out.machine = {"a CPU"};
  out.objectives = {"latency", "memory", "no objective"};
  out.evaluations = {step(1, 2e6), step(2, 1e6), step(1, 5e6, Phase::prefill), step(4, 9e6)};
  out.evaluations[1].estimate->operators.push_back({.name = "attention"});
  out.front = {{.evaluation = 1}, {.evaluation = 0}, {.evaluation = 2}};
  return out;
}

TEST(KeepFront, stores_a_front_for_each_kind_of_step) {
  const auto store = memory();
  const std::vector<std::string> names = keep_front(*store, report(), {.device = "d"});
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(names[0].starts_with("sweep decode "));
  EXPECT_TRUE(names[1].starts_with("sweep prefill "));
  const SearchedFront decode = read_stored_front(*store, names[0]);
  EXPECT_EQ(decode.device, "d");
  EXPECT_EQ(decode.configurations, 4u);
  EXPECT_THAT(decode.basis, ElementsAre("a CPU"));
  EXPECT_EQ(decode.objectives, (std::vector{Objective::latency, Objective::memory}));
  ASSERT_EQ(decode.points.size(), 2u);
  EXPECT_EQ(decode.points[0].configuration.parallel.tp, 2);
  EXPECT_THAT(decode.points[0].estimate->operators, IsEmpty());
  EXPECT_EQ(read_stored_front(*store, names[1]).points.size(), 1u);
  EXPECT_GT(decode.started_utc, "2026-01-01");
  for (const StudySummary& study : store->list()) {
    EXPECT_EQ(study.trials(), study.info.name == names[0] ? 3 : 1);
  }
}

TEST(KeepFront, of_requests_is_one_and_none_without_a_point) {
  ServedReport served;
  served.title = "requests";
  served.model = "m";
  served.objectives = {Objective::ttft};
  served.configurations = 3;
  const auto store = memory();
  EXPECT_THAT(keep_front(*store, served, {}), IsEmpty());
  EXPECT_THAT(store->list(), IsEmpty());
  const SearchedFront said = searched_front(served, {.memory_fraction = 0.5});
  EXPECT_EQ(said.title, "requests");
  EXPECT_EQ(said.memory_fraction, 0.5);
  EXPECT_EQ(said.configurations, 3u);
}

class FrontPlaces : public testing::Test {
 protected:
  FrontPlace place() const {
    return {.database = database_, .studies = "sqlite:" + database_ + ".study"};
  }
  std::int64_t begin(const std::string& utc, const std::string& plan = "0123") {
    return open_store(database_)->begin_run({.command = "halmark tune",
                                             .plan_hash = plan,
                                             .plan_text = plan,
                                             .fingerprint = "f",
                                             .tool_version = "1",
                                             .tool_build = "b",
                                             .started_utc = utc});
  }
  halmark::test::ScratchFolder folder_;
  std::string database_ = folder_ / "r.db";
};

TEST_F(FrontPlaces, nothing_stored_is_said_so) {
  expect_error([&] { front_origin(place()); }, "no search is stored");
  FrontPlace named = place();
  named.study = "s";
  expect_error([&] { front_origin(named); }, "no studies are there");
  begin("2026-01-01T00:00:00Z", "");
  EXPECT_THAT(error_of([&] { front_origin(place()); }).line(), HasSubstr("no search is stored"))
      << "a run without a plan is no search";
}

TEST_F(FrontPlaces, the_latest_of_runs_and_studies_counts) {
  const std::int64_t run = begin("2026-01-02T00:00:00Z");
  EXPECT_EQ(front_origin(place()).run, run);
  EXPECT_EQ(front_origin(place()).study, "");
  const auto studies = open_study_store(place().studies, StudyAccess::or_create);
  const std::string study = store_front(*studies, front(), {});  // of 03:04:05 on that day
  EXPECT_EQ(front_origin(place()).study, study);
  const std::int64_t later = begin("2026-01-02T03:04:06Z");
  EXPECT_EQ(front_origin(place()).run, later);
  FrontPlace asked = place();
  asked.run = run;
  EXPECT_EQ(front_origin(asked).run, run);
  asked.run.reset();
  asked.study = study;
  EXPECT_EQ(front_origin(asked).study, study);
  EXPECT_EQ(find_front(asked).points.size(), 2u);
}

TEST_F(FrontPlaces, kernels_are_of_the_latest_run_or_of_the_one_that_is_named) {
  open_store(database_);
  expect_error([&] { stored_kernels(place(), {}); }, "the database holds no run");
  begin("2026-01-02T00:00:00Z");
  begin("2026-01-03T00:00:00Z", "");
  EXPECT_EQ(stored_kernels(place(), {}).report.started_utc, "2026-01-03T00:00:00Z");
  FrontPlace first = place();
  first.run = 1;
  EXPECT_EQ(stored_kernels(first, {}).report.started_utc, "2026-01-02T00:00:00Z");
  EXPECT_THAT(stored_kernels(first, {}).rows, IsEmpty());
}

}  // namespace
}  // namespace halmark::tune
