// Values of studies: what a distribution allows, what is refused and why, whose front it is.
// What a trial states of constraints follows the study that it joins. GPSampler of Optuna 5 fails
// where complete trials have different numbers of them.
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <ctime>

#include "framework/study/constraint_form.hpp"
#include "framework/study/front.hpp"
#include "framework/study/study.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using Kind = ParamDistribution::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

TEST(Distributions, say_what_they_lack) {
  const std::pair<const char*, const char*> table[] = {
      {"[]", "it is no object"},
      {"{}", "it has no name"},
      {R"({"name": 3, "attributes": {}})", "it has no name"},
      {R"({"type": 3})", "it has no name"},
      {R"({"name": "IntDistribution"})", "it has no attributes"},
      {R"({"name": "Other", "attributes": {}})", "its class is 'Other'"},
      {R"({"type": "int", "high": 3})", "no number 'low'"},
      {R"({"type": "int", "low": 3})", "no number 'high'"},
      {R"({"type": "float", "low": "3", "high": 4})", "no number 'low'"},
      {R"({"type": "int", "low": 0.5, "high": 4})", "none of 64 bits"},
      {R"({"type": "int", "low": 0, "high": 9223372036854775808})", "none of 64 bits"},
      {R"({"type": "int", "low": 0, "high": 4, "step": 1e300})", "none of 64 bits"},
      {R"({"type": "categorical"})", "no list 'choices'"},
      {R"({"type": "categorical", "choices": 3})", "no list 'choices'"},
      {R"({"type": "categorical", "choices": {}})", "no list 'choices'"},
      {R"({"type": "categorical", "choices": []})", "no list 'choices'"},
      {R"({"type": "categorical", "choices": [[]]})", "'choices' must be null"}};
  for (const auto& [text, reason] : table) {
    const Error error = test::error_of([&, text = text] { parse_distribution(text, "here"); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << text;
    EXPECT_THAT(error.line(), HasSubstr(reason)) << text;
  }
}

TEST(Distributions, steps_and_scales_are_read_where_they_are_meant) {
  const auto read = [](const std::string& more, const char* type = "int") {
    return parse_distribution(
        "{\"type\": \"" + std::string(type) + "\", \"low\": 1, \"high\": 8" + more + "}", "here");
  };
  EXPECT_EQ(read("").step, 1);
  EXPECT_EQ(read(R"(, "step": 0)").step, 1);
  EXPECT_EQ(read(R"(, "step": null)").step, 1);
  EXPECT_EQ(read(R"(, "step": 3)").step, 3);
  EXPECT_EQ(read("", "float").step, 0);
  EXPECT_EQ(read(R"(, "step": 0.5)", "float").step, 0.5);
  EXPECT_FALSE(read("").is_log);
  EXPECT_FALSE(read(R"(, "log": false)").is_log);
  EXPECT_FALSE(read(R"(, "log": 1)").is_log);
  EXPECT_TRUE(read(R"(, "log": true)").is_log);
  EXPECT_TRUE(read(R"(, "log": true)", "float").is_log);
  const auto old = [](const char* name) {
    return parse_distribution(
        "{\"name\": \"" + std::string(name) + R"(", "attributes": {"low": 1, "high": 8}})", "here");
  };
  EXPECT_EQ(old("LogUniformDistribution"),
            (ParamDistribution{.kind = Kind::real, .low = 1, .high = 8, .is_log = true}));
  EXPECT_EQ(old("IntUniformDistribution"),
            (ParamDistribution{.kind = Kind::integer, .low = 1, .high = 8, .step = 1}));
  EXPECT_EQ(old("UniformDistribution").is_log, false);
}

TEST(Distributions, are_written_as_optuna_writes_them) {
  EXPECT_EQ(
      distribution_text({.kind = Kind::real, .low = 0.5, .high = 2, .is_log = true}),
      R"({"name":"FloatDistribution","attributes":{"step":null,"low":0.5,"high":2.0,"log":true}})");
  EXPECT_EQ(
      distribution_text({.kind = Kind::real, .low = 0, .high = 2, .step = 0.25}),
      R"({"name":"FloatDistribution","attributes":{"step":0.25,"low":0.0,"high":2.0,"log":false}})");
  EXPECT_EQ(distribution_text({.choices = {ParamValue("a"), nullptr, std::int64_t{2}}}),
            R"({"name":"CategoricalDistribution","attributes":{"choices":["a",null,2]}})");
}

TEST(Distributions, an_internal_number_stands_for_a_value) {
  const ParamDistribution choice{.choices = {ParamValue("a"), ParamValue("b")}};
  EXPECT_EQ(choice.value(0), ParamValue("a"));
  EXPECT_EQ(choice.value(1), ParamValue("b"));
  for (const double none : {-1.0, 2.0, 3.0}) {
    EXPECT_THAT(
        test::error_of([&] { choice.value(none); }).line(),
        HasSubstr("a trial has choice " + std::to_string(static_cast<int>(none)) + " of 2"));
  }
  const ParamDistribution integer{.kind = Kind::integer, .low = 1, .high = 8, .step = 1};
  EXPECT_EQ(integer.value(3.0), ParamValue(std::int64_t{3}));
  EXPECT_EQ(integer.value(2.9999999), ParamValue(std::int64_t{3}));
  const ParamDistribution real{.kind = Kind::real, .low = 0, .high = 1};
  EXPECT_EQ(real.value(0.25), ParamValue(0.25));
}

TEST(Distributions, are_compatible_by_kind_scale_and_choices) {
  const ParamDistribution a{.kind = Kind::integer, .low = 1, .high = 8, .step = 1};
  ParamDistribution b = a;
  b.high = 80;
  b.low = 3;
  b.step = 2;
  EXPECT_TRUE(a.is_compatible(b));
  b.is_log = true;
  EXPECT_FALSE(a.is_compatible(b));
  b = a;
  b.kind = Kind::real;
  EXPECT_FALSE(a.is_compatible(b));
  const ParamDistribution c{.choices = {std::int64_t{1}, true}};
  const ParamDistribution d{.choices = {true, std::int64_t{1}}};
  EXPECT_TRUE(c.is_compatible(c));
  EXPECT_FALSE(c.is_compatible(d)) << "their order counts";
}

TEST(Distributions, follow_from_a_domain) {
  EXPECT_EQ(distribution_of({.kind = DomainKind::categorical, .values = {ParamValue("a"), true}}),
            (ParamDistribution{.choices = {ParamValue("a"), true}}));
  EXPECT_EQ(distribution_of({.kind = DomainKind::ordinal, .values = {std::int64_t{1}}}),
            (ParamDistribution{.choices = {std::int64_t{1}}}));
  EXPECT_EQ(
      distribution_of({.kind = DomainKind::integer, .low = 2, .high = 8, .is_log = true}),
      (ParamDistribution{.kind = Kind::integer, .low = 2, .high = 8, .step = 1, .is_log = true}));
  EXPECT_EQ(distribution_of({.kind = DomainKind::integer, .low = 2, .high = 8, .step = 3}).step, 3);
  EXPECT_EQ(distribution_of({.kind = DomainKind::real, .low = 2, .high = 8, .step = 0.5}),
            (ParamDistribution{.kind = Kind::real, .low = 2, .high = 8, .step = 0.5}));
  EXPECT_TRUE(
      distribution_of({.kind = DomainKind::real, .low = 2, .high = 8, .is_log = true}).is_log);
}

TEST(TrialStates, have_optunas_names_and_ends) {
  const std::pair<TrialState, const char*> names[] = {{TrialState::running, "RUNNING"},
                                                      {TrialState::complete, "COMPLETE"},
                                                      {TrialState::pruned, "PRUNED"},
                                                      {TrialState::fail, "FAIL"},
                                                      {TrialState::waiting, "WAITING"}};
  for (const auto& [state, name] : names) EXPECT_EQ(state_name(state), name);
  EXPECT_FALSE(is_finished(TrialState::running));
  EXPECT_FALSE(is_finished(TrialState::waiting));
  for (const auto state : {TrialState::complete, TrialState::pruned, TrialState::fail}) {
    EXPECT_TRUE(is_finished(state));
  }
}

TEST(TrialCursor, keeps_what_is_unfinished_and_the_largest_id) {
  TrialCursor cursor;
  cursor.see({.id = 7, .state = TrialState::running, .params = {{"a", 1, nullptr}}});
  cursor.see({.id = 3, .state = TrialState::waiting});
  EXPECT_EQ(cursor.last_id, 7);
  ASSERT_EQ(cursor.unfinished.size(), 2u);
  EXPECT_EQ(cursor.unfinished.at(7).params, 1u);
  EXPECT_EQ(cursor.unfinished.at(7).state, TrialState::running);
  EXPECT_EQ(cursor.unfinished.at(3).state, TrialState::waiting);
  cursor.see({.id = 7, .state = TrialState::complete});
  EXPECT_FALSE(cursor.unfinished.contains(7));
  EXPECT_TRUE(cursor.unfinished.contains(3));
  cursor.see({.id = 9, .state = TrialState::fail});
  EXPECT_EQ(cursor.last_id, 9);
}

TEST(StudySummary, adds_the_trials_of_every_state) {
  const StudySummary summary{.info = {}, .counts = {1, 20, 300, 4000, 50000}};
  EXPECT_EQ(summary.trials(), 54321);
}

TEST(Attributes, are_found_by_their_whole_name) {
  const Attributes attributes = {{"ab", "1"}, {"a", "2"}, {"a", "3"}};
  EXPECT_EQ(*find_attribute(attributes, "a"), "2");
  EXPECT_EQ(*find_attribute(attributes, "ab"), "1");
  EXPECT_EQ(find_attribute(attributes, "b"), nullptr);
}

TEST(UtcNow, is_the_present_to_the_microsecond) {
  // std::time may be a tick of the kernel behind, in the second before.
  using Clock = std::chrono::system_clock;
  const std::time_t before = Clock::to_time_t(Clock::now());
  const std::string text = utc_microseconds_now();
  const std::time_t after = Clock::to_time_t(Clock::now());
  ASSERT_EQ(text.size(), 26u) << text;
  EXPECT_EQ(text[19], '.');
  std::tm parts{};
  ASSERT_NE(strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts), nullptr) << text;
  const std::time_t said = timegm(&parts);
  EXPECT_GE(said, before);
  EXPECT_LE(said, after);
  // Digits behind the point are not those of a coarser clock.
  std::string digits;
  for (int i = 0; i < 50; ++i) digits += utc_microseconds_now().substr(23);
  EXPECT_NE(digits.find_first_not_of('0'), std::string::npos);
}

TrialRow complete(std::vector<double> values, const char* constraints = "[0]") {
  return {.state = TrialState::complete,
          .values = std::move(values),
          .system = {{std::string(constraints_attribute), constraints}}};
}

TEST(StudyFront, has_complete_feasible_trials_that_none_beats) {
  const StudyInfo study{.name = "s",
                        .directions = {StudyDirection::minimize, StudyDirection::maximize}};
  std::vector<TrialRow> rows = {complete({1, 5}),          complete({2, 6}),
                                complete({2, 5}),          complete({0.5, 9}, "[0, 0.001]"),
                                complete({0.5, HUGE_VAL}), complete({0.5}),
                                complete({3, 6}),          complete({0.9, 1}, "[0, -2]")};
  rows.push_back(complete({0.1, 99}));
  rows.back().state = TrialState::pruned;
  EXPECT_THAT(study_front(study, rows), ElementsAre(0u, 1u, 7u));
  EXPECT_THAT(study_front(study, {}), IsEmpty());
  const StudyInfo lowest{.name = "s", .directions = {StudyDirection::minimize}};
  const std::vector<TrialRow> single = {complete({3}), complete({-1}), complete({2})};
  EXPECT_THAT(study_front(lowest, single), ElementsAre(1u));
  const StudyInfo highest{.name = "s", .directions = {StudyDirection::maximize}};
  EXPECT_THAT(study_front(highest, single), ElementsAre(0u));
}

const Attributes named = {{"constraints:memory", "-3.0"}, {"constraints:power", "1.5"}};
const Attributes listed = {{"constraints", "[0.0,2.0,-1.0]"}};

TEST(ConstraintForm, names_are_those_of_the_study_with_equal_parts) {
  ConstraintForm form;
  form.learn(TrialState::complete, {{"other", "1"}, named[0], named[1]});
  form.learn(TrialState::complete, listed);
  EXPECT_TRUE(form.is_stated());
  EXPECT_THAT(form.stated(0),
              ElementsAre(Pair("constraints:memory", "0.0"), Pair("constraints:power", "0.0")));
  EXPECT_THAT(form.stated(3),
              ElementsAre(Pair("constraints:memory", "1.5"), Pair("constraints:power", "1.5")));
}

TEST(ConstraintForm, a_list_is_as_long_as_those_of_the_study) {
  ConstraintForm form;
  form.learn(TrialState::complete, listed);
  EXPECT_THAT(form.stated(3), ElementsAre(Pair("constraints", "[1.0,1.0,1.0]")));
}

TEST(ConstraintForm, trials_have_none_where_those_of_the_study_have_none) {
  for (const bool is_constrained : {false, true}) {
    ConstraintForm form(is_constrained);
    EXPECT_EQ(form.is_stated(), is_constrained);
    form.learn(TrialState::fail, named);
    form.learn(TrialState::complete, {{"constraints", "broken"}});
    EXPECT_FALSE(form.is_stated());
    EXPECT_THAT(form.stated(0), IsEmpty());
    EXPECT_THAT(form.stated(2), IsEmpty());
  }
}

SpaceDescription space() {
  SpaceDescription out;
  out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 99}};
  out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  return out;
}

// Trials of others, then one that is feasible and one that breaks constraints by 4 in all.
std::vector<TrialRow> continued(const Attributes& of_others) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  const StudySettings settings{.name = "s", .sampler = "random"};
  const Study began(*store, space(), settings);
  store->transact([&](StudyTransaction& transaction) {
    std::vector<TrialRow> rows(2, {.state = TrialState::complete, .values = {1, 2}});
    for (TrialRow& row : rows) row.system = of_others;
    transaction.create(began.info().id, rows);
  });
  Study study(*store, space(), settings);
  study.ask(2);
  const std::vector<StudyVerdict> verdicts = {
      {.trial = 2, .outcome = TrialOutcome::complete, .values = {3, 4}},
      {.trial = 3, .outcome = TrialOutcome::infeasible, .values = {0, 9}, .violations = {1, 3}}};
  study.tell(verdicts);
  std::vector<TrialRow> out = study.rows();
  EXPECT_THAT(study_front(study.info(), out), testing::Not(testing::Contains(3u)));
  return out;
}

TEST(ConstraintForm, a_study_that_is_continued_keeps_its_own) {
  for (const Attributes& of_others : {Attributes{}, named, listed}) {
    const std::vector<TrialRow> rows = continued(of_others);
    ASSERT_EQ(rows.size(), 4u);
    const std::size_t size = constraint_values(rows[0]).size();
    EXPECT_EQ(constraint_values(rows[2]), std::vector<double>(size, 0));
    EXPECT_EQ(rows[3].state, size == 0 ? TrialState::pruned : TrialState::complete);
    EXPECT_EQ(rows[3].values, (std::vector<double>{0, 9}));
    double total = 0;
    for (const double part : constraint_values(rows[3])) total += part;
    EXPECT_EQ(total, size == 0 ? 0 : 4);
    for (const auto& [key, text] : of_others) {
      EXPECT_NE(find_attribute(rows[3].system, key), nullptr) << key;
    }
  }
}

}  // namespace
}  // namespace halmark
