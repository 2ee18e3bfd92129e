// Requests of programs: both sides of every limit, every form of an outcome, and every refusal.
#include "core/json/json.hpp"
#include "framework/study/protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Requests : public test::AskedStudy {
 protected:
  Requests() : AskedStudy(space()) {}
  static SpaceDescription space() {
    SpaceDescription out;
    out.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 20'000}};
    out.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
    return out;
  }
  std::string error(const std::string& request) {
    const Json out = answer(request);
    EXPECT_TRUE(out.contains("error")) << request << out;
    return out.value("error", "");
  }
};

TEST_F(Requests, ask_for_one_trial_to_as_many_as_are_allowed) {
  EXPECT_EQ(answer(R"({"ask":1})").at("trials").size(), 1u);
  for (const char* bad :
       {R"({"ask":0})", R"({"ask":-1})", R"({"ask":1.5})", R"({"ask":"2"})", R"({"ask":null})"}) {
    EXPECT_THAT(error(bad), HasSubstr("'ask' must be a number of trials from 1 to "));
  }
  const std::string text = error(R"({"ask":0})");
  const std::string most = text.substr(text.rfind(' ') + 1);
  const std::string whole = R"({"ask":)" + most + "}";
  const Json all = answer(whole);
  EXPECT_EQ(all.at("trials").size(), std::stoul(most));
  EXPECT_FALSE(all.contains("exhausted"));
  EXPECT_THAT(error(R"({"ask":)" + std::to_string(std::stol(most) + 1) + "}"), HasSubstr("'ask'"));
}

TEST_F(Requests, are_objects_of_one_known_key) {
  for (const char* bad : {"1", "[]", "null", "{}", R"({"ask":1,"status":true})"}) {
    EXPECT_THAT(error(bad), HasSubstr("an object with one key")) << bad;
  }
  EXPECT_THAT(error(R"({"aks":1})"), HasSubstr("did you mean 'ask'"));
  EXPECT_THAT(error(R"({"tell":{}})"), HasSubstr("'tell' must be a list"));
  EXPECT_THAT(error(R"({"tell":[1]})"), HasSubstr("'tell' must be a list of objects"));
  EXPECT_THAT(error(R"({"enqueue":{}})"), HasSubstr("'enqueue' must be a list"));
  EXPECT_THAT(error(R"({"enqueue":[1]})"), HasSubstr("'enqueue' must be a list of objects"));
}

TEST_F(Requests, an_outcome_names_its_trial_and_one_result) {
  answer(R"({"ask":2})");
  for (const char* trial : {"-1", "0.5", "\"0\"", "2000000001", "null"}) {
    EXPECT_THAT(error(R"({"tell":[{"trial":)" + std::string(trial) + R"(,"failed":"x"}]})"),
                HasSubstr("must name its 'trial'"))
        << trial;
  }
  EXPECT_THAT(error(R"({"tell":[{"failed":"x","values":[1,2]}]})"), HasSubstr("its 'trial'"));
  EXPECT_THAT(error(R"({"tell":[{"trial":2000000000,"failed":"x"}]})"), HasSubstr("no such trial"));
  const std::string one = "one of 'values', 'infeasible' and 'failed' is needed";
  EXPECT_THAT(error(R"({"tell":[{"trial":0}]})"), HasSubstr(one));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"failed":"x","values":[1,2]}]})"), HasSubstr(one));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"faild":"x"}]})"), HasSubstr("did you mean 'failed'"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"failed":1}]})"), HasSubstr("must be a string"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"values":1}]})"),
              HasSubstr("must be a list of numbers"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"values":[1,"nan"]}]})"), HasSubstr("must be numbers"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"infeasible":"x"}]})"), HasSubstr("must be an object"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"infeasible":{"why":"x"}}]})"), HasSubstr("'why'"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"infeasible":{"reason":2}}]})"), HasSubstr("a string"));
  EXPECT_THAT(error(R"({"tell":[{"trial":0,"infeasible":{"violations":[0]}}]})"),
              HasSubstr("above 0"));
  EXPECT_EQ(answer(R"({"status":1})").at("running"), 2);
}

TEST_F(Requests, outcomes_become_rows) {
  answer(R"({"ask":6})");
  EXPECT_EQ(
      answer(R"({"tell":[{"trial":0,"values":[1.5,"inf"]},)"
             R"({"trial":1,"values":["-inf","Infinity"]},)"
             R"({"trial":2,"values":["-Infinity",3]},)"
             R"({"trial":3,"failed":"crashed"},)"
             R"({"trial":4,"infeasible":{}},)"
             R"({"trial":5,"infeasible":{"reason":"r","violations":[2,0.5],"values":[7,8]}}]})"),
      Json({{"ok", true}}));
  EXPECT_THAT(row(0).values, ElementsAre(1.5, HUGE_VAL));
  EXPECT_THAT(row(1).values, ElementsAre(-HUGE_VAL, HUGE_VAL));
  EXPECT_THAT(row(2).values, ElementsAre(-HUGE_VAL, 3));
  EXPECT_EQ(row(0).state, TrialState::complete);
  EXPECT_THAT(constraint_values(row(0)), IsEmpty()) << "the study states none";
  EXPECT_EQ(row(3).state, TrialState::fail);
  EXPECT_EQ(*find_attribute(row(3).user, "halmark:failed"), "\"crashed\"");
  EXPECT_EQ(row(4).state, TrialState::pruned);
  EXPECT_EQ(row(5).state, TrialState::pruned) << "complete, Optuna would take it for feasible";
  EXPECT_THAT(row(5).values, ElementsAre(7, 8));
  EXPECT_EQ(*find_attribute(row(5).user, violations_attribute), "[2.0,0.5]");
  const Json status = answer(R"({"status":true})");
  EXPECT_EQ(status.at("study"), "s");
  EXPECT_EQ(status.at("trials"), 6);
  EXPECT_EQ(status.at("running"), 0);
  EXPECT_EQ(status.at("foreign_trials"), 0);
}

TEST_F(Requests, several_are_answered_in_their_order_and_an_error_changes_nothing) {
  const std::vector<std::string> requests = {
      R"({"ask":1})", R"({"tell":[{"trial":9,"failed":"x"}]})",
      R"({"tell":[{"trial":0,"values":[1,2]}]})", R"({"enqueue":[{"a":12}]})", R"({"ask":1})"};
  const auto answers = protocol_.answers(requests);
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(Json::parse(answers[0]).at("trials")[0].at("trial"), 0);
  EXPECT_TRUE(Json::parse(answers[1]).contains("error"));
  EXPECT_EQ(Json::parse(answers[2]).at("ok"), true);
  EXPECT_EQ(Json::parse(answers[3]).at("trials"), Json({1}));
  EXPECT_EQ(Json::parse(answers[4]).at("trials")[0].at("params").at("a"), 12);
}

TEST(ParamValues, are_what_json_has_and_fit_64_bits) {
  EXPECT_EQ(param_value_of(Json::parse("9223372036854775807"), "a"), ParamValue(INT64_MAX));
  EXPECT_EQ(param_value_of(Json::parse("-9223372036854775808"), "a"), ParamValue(INT64_MIN));
  for (const char* bad : {"9223372036854775808", "18446744073709551615", "[]", "{}"}) {
    EXPECT_THAT(test::error_of([&] { param_value_of(Json::parse(bad), "a"); }).line(),
                HasSubstr("'a' must be null, true"));
  }
  EXPECT_EQ(param_value_of(Json::parse("1.0"), "a"), ParamValue(1.0));
  EXPECT_EQ(param_value_of(Json::parse("true"), "a"), ParamValue(true));
}

TEST(MetricNames, are_taken_where_there_is_one_per_objective) {
  StudyInfo info{.name = "s",
                 .directions = {StudyDirection::minimize, StudyDirection::maximize},
                 .system = {{std::string(metric_names_attribute), R"(["time","rate"])"}}};
  EXPECT_THAT(metric_names(info), ElementsAre("time", "rate"));
  info.directions.pop_back();
  EXPECT_THAT(metric_names(info), ElementsAre("value 0"));
  info.system.clear();
  info.directions.resize(2);
  EXPECT_THAT(metric_names(info), ElementsAre("value 0", "value 1"));
}

TEST(ConstraintValues, are_numbers_of_every_form_that_optuna_wrote) {
  TrialRow row;
  row.system = {{std::string(constraints_attribute), "[1,-2.5,\"x\"]"},
                {"constraints:0", "3"},
                {"other", "[9]"},
                {"constraints:1", "[4,5]"},
                {"constraints:2", "{"}};
  EXPECT_THAT(constraint_values(row), ElementsAre(1, -2.5, 3, 4, 5));
}

}  // namespace
}  // namespace halmark
