// Trials that a person enqueued: in their order, completed, and given up one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "framework/study/protocol.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Enqueued : public test::AskedStudy {
 protected:
  Enqueued() : AskedStudy(space()) {}
  static SpaceDescription space() {
    SpaceDescription out;
    out.domains = {
        {.name = "a", .kind = DomainKind::integer, .low = 0, .high = 20'000},
        {.name = "b",
         .kind = DomainKind::categorical,
         .values = {ParamValue("x"), ParamValue("y")}},
        {.name = "c", .kind = DomainKind::integer, .low = 1, .high = 8, .when = "b == 'x'"}};
    out.constraints = {{"odd", "a != 13", {}}};
    out.objectives = {{.name = "time"}};
    return out;
  }
  // As other programs do, which look at nothing.
  void enqueue_elsewhere(const std::vector<std::string>& fixed) {
    store_->transact([&](StudyTransaction& t) {
      std::vector<TrialRow> rows;
      for (const std::string& text : fixed) {
        rows.push_back({.state = TrialState::waiting});
        rows.back().system = {{std::string(fixed_params_attribute), text}};
      }
      t.create(study_.info().id, rows);
    });
  }
  std::string params(const Json& trial) { return trial.at("params").dump(); }
};

TEST_F(Enqueued, come_in_their_order_and_no_more_than_are_asked_for) {
  EXPECT_EQ(answer(R"({"enqueue":[{"a":1,"b":"y"},{"a":2,"b":"y"},{"a":3,"b":"x","c":4}]})"),
            Json::parse(R"({"ok":true,"trials":[0,1,2]})"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(row(i).state, TrialState::waiting);
  EXPECT_EQ(*find_attribute(row(2).system, fixed_params_attribute), R"({"a":3,"b":"x","c":4})");
  const Json two = answer(R"({"ask":2})").at("trials");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].at("trial"), 0);
  EXPECT_EQ(params(two[0]), R"({"a":1,"b":"y"})");
  EXPECT_EQ(two[1].at("trial"), 1);
  EXPECT_EQ(params(two[1]), R"({"a":2,"b":"y"})");
  EXPECT_EQ(row(1).state, TrialState::running);
  EXPECT_EQ(row(2).state, TrialState::waiting);
  const Json more = answer(R"({"ask":2})").at("trials");
  ASSERT_EQ(more.size(), 2u);
  EXPECT_EQ(params(more[0]), R"({"a":3,"b":"x","c":4})")
      << "what is given switches on what is given";
  EXPECT_EQ(more[1].at("trial"), 3) << "then the sampler's";
  EXPECT_EQ(answer(R"({"status":1})").at("running"), 4);
}

TEST_F(Enqueued, that_were_proposed_already_are_given_up_and_the_next_is_taken) {
  enqueue_elsewhere({R"({"a":1,"b":"y"})", R"({"a":1,"b":"y"})", R"({"a":2,"b":"y"})"});
  const Json two = answer(R"({"ask":2})").at("trials");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].at("trial"), 0);
  EXPECT_EQ(two[1].at("trial"), 2);
  EXPECT_EQ(row(1).state, TrialState::fail);
  EXPECT_EQ(*find_attribute(row(1).user, "halmark:failed"),
            "\"what was enqueued is outside of the space or was proposed already\"");
}

TEST_F(Enqueued, with_a_value_of_an_inactive_parameter_are_given_up) {
  enqueue_elsewhere({R"({"a":1,"b":"y","c":2})"});
  const Json one = answer(R"({"ask":1})").at("trials");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].at("trial"), 1);
  EXPECT_EQ(row(0).state, TrialState::fail);
}

TEST_F(Enqueued, are_completed_where_they_say_nothing) {
  answer(R"({"enqueue":[{"b":"x"},{"b":"x"},{}]})");
  const Json all = answer(R"({"ask":3})").at("trials");
  ASSERT_EQ(all.size(), 3u);
  for (int i = 0; i < 2; ++i) {
    const Json& p = all[static_cast<std::size_t>(i)].at("params");
    EXPECT_EQ(p.at("b"), "x");
    EXPECT_TRUE(p.contains("a"));
    EXPECT_TRUE(p.contains("c"));
  }
  EXPECT_NE(params(all[0]), params(all[1]));
  EXPECT_EQ(row(0).params.size(), 3u);
}

TEST_F(Enqueued, what_the_space_does_not_have_is_refused_and_nothing_of_it_is_stored) {
  const auto error = [&](const std::string& request) { return answer(request).value("error", ""); };
  EXPECT_THAT(error(R"({"enqueue":[{"a":1,"b":"x"},{"z":1}]})"),
              HasSubstr("the space has no parameter 'z'"));
  EXPECT_THAT(error(R"({"enqueue":[{"a":20001}]})"), HasSubstr("'a' cannot be 20001"));
  EXPECT_THAT(error(R"({"enqueue":[{"a":-1}]})"), HasSubstr("'a' cannot be -1"));
  EXPECT_THAT(error(R"({"enqueue":[{"b":1}]})"), HasSubstr("'b' cannot be 1"));
  EXPECT_EQ(answer(R"({"status":1})").at("trials"), 0);
  EXPECT_EQ(answer(R"({"enqueue":[{"a":20000},{"a":0}]})").at("trials"), Json({0, 1}));
}

TEST_F(Enqueued, what_is_forbidden_or_a_trial_already_is_refused_with_its_reason) {
  const auto error = [&](const std::string& request) { return answer(request).value("error", ""); };
  EXPECT_THAT(error(R"({"enqueue":[{"a":1,"b":"y"},{"a":13,"b":"y"}]})"),
              HasSubstr("breaks the constraint 'odd'"));
  EXPECT_THAT(error(R"({"enqueue":[{"a":13}]})"), HasSubstr("no valid configuration that is new"));
  EXPECT_THAT(error(R"({"enqueue":[{"a":1,"b":"y","c":2}]})"),
              HasSubstr("parameter 'c' is not active"));
  EXPECT_THAT(error(R"({"enqueue":[{"b":"y","c":2}]})"), HasSubstr("no valid configuration"));
  EXPECT_THAT(error(R"({"enqueue":[{"a":1,"b":"y"},{"a":1,"b":"y"}]})"),
              HasSubstr("trial 0 already"));
  EXPECT_EQ(answer(R"({"status":1})").at("trials"), 0) << "of what is refused nothing is stored";
  EXPECT_EQ(answer(R"({"enqueue":[{"a":1,"b":"y"},{"a":2}]})").at("trials"), Json({0, 1}));
  EXPECT_THAT(error(R"({"enqueue":[{"b":"y","a":1}]})"), HasSubstr("trial 0 already")) << "waiting";
  answer(R"({"ask":1})");
  EXPECT_THAT(error(R"({"enqueue":[{"a":1,"b":"y"}]})"), HasSubstr("trial 0 already")) << "running";
  EXPECT_EQ(answer(R"({"tell":[{"trial":0,"values":[1]}]})").at("ok"), true);
  EXPECT_THAT(error(R"({"enqueue":[{"a":1,"b":"y"}]})"), HasSubstr("trial 0 already")) << "told";
}

TEST_F(Enqueued, trials_of_somebody_else_s_space_are_strangers) {
  store_->transact([&](StudyTransaction& t) {
    std::vector<TrialRow> rows = {{.state = TrialState::complete, .values = {1}},
                                  {.state = TrialState::fail}};
    t.create(study_.info().id, rows);
  });
  const Json one = answer(R"({"ask":1})").at("trials");
  EXPECT_EQ(one[0].at("trial"), 2);
  const Json status = answer(R"({"status":1})");
  EXPECT_EQ(status.at("foreign_trials"), 2);
  EXPECT_EQ(status.at("trials"), 3);
  EXPECT_EQ(status.at("running"), 1);
}

TEST_F(Enqueued, that_nobody_can_read_are_given_up_one_by_one) {
  enqueue_elsewhere({"{", "[1]", R"({"a":[1]})", R"({"z":1})", R"({"a":"x"})", "null"});
  const Json one = answer(R"({"ask":1})").at("trials");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].at("trial"), 6);
  for (int trial = 0; trial < 6; ++trial) EXPECT_EQ(row(trial).state, TrialState::fail) << trial;
}

// Attributes are anybody's: what is no JSON says nothing, and stops nobody.
TEST_F(Enqueued, attributes_that_are_no_json_are_passed_over) {
  answer(R"({"ask":3})");
  std::vector<TrialChange> changes;
  for (int trial = 0; trial < 3; ++trial) {
    changes.push_back({.id = row(trial).id,
                       .state = trial == 2 ? TrialState::fail : TrialState::complete,
                       .values = {1.0 + trial},
                       .user = {{"halmark:failed", "{"}, {std::string(violations_attribute), "{"}},
                       .system = {{std::string(proposer_attribute), "{"},
                                  {std::string(constraints_attribute), trial == 1 ? "[2]" : "{"}}});
  }
  store_->transact([&](StudyTransaction& t) { t.change(changes); });
  EXPECT_EQ(answer(R"({"ask":1})").at("trials").size(), 1u);
  Study again(*store_, space(), {.name = "s", .sampler = "nsga2", .seed = 5});
  EXPECT_EQ(again.ask(1).size(), 1u);
  EXPECT_EQ(again.foreign_trials(), 0u);
  EXPECT_EQ(answer(R"({"front":1})").at("trials").size(), 1u) << "the second breaks a constraint";
}

TEST(Budget, ends_with_its_reason) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  SpaceDescription space;
  space.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 5}};
  space.objectives = {{.name = "time"}};
  Study few(*store, space, {.name = "few", .sampler = "random", .seed = 1, .trials = 4});
  StudyProtocol protocol(few);
  const std::string ask = R"({"ask":3})";
  const auto asked = [&] { return Json::parse(protocol.answers({&ask, 1}).at(0)); };
  EXPECT_EQ(asked().at("trials").size(), 3u);
  const Json last = asked();
  EXPECT_EQ(last.at("trials").size(), 1u);
  EXPECT_EQ(last.at("exhausted"), true);
  EXPECT_EQ(last.at("reason"), "all 4 trials were proposed");
  Study all(*store, space, {.name = "all", .sampler = "random", .seed = 1});
  EXPECT_EQ(all.ask(10).size(), 6u);
  EXPECT_EQ(all.why_no_more(), "every valid configuration was proposed");
  SpaceDescription empty = space;
  empty.constraints = {{"", "a > 7", {}}};
  Study none(*store, empty, {.name = "none", .sampler = "auto"});
  EXPECT_TRUE(none.ask(1).empty());
  EXPECT_EQ(none.why_no_more(), "the constraints leave no valid configuration");
  SpaceDescription missed = space;
  missed.domains.push_back({.name = "x", .kind = DomainKind::real, .low = 0, .high = 1});
  missed.constraints = {{"", "x > 2", {}}};
  Study never(*store, missed, {.name = "never", .sampler = "auto"});
  EXPECT_TRUE(never.ask(1).empty());
  EXPECT_EQ(never.why_no_more(), "no further valid configuration was found");
  SpaceDescription bare = space;
  bare.objectives.clear();
  EXPECT_THAT(
      test::error_of([&] { Study(*store, bare, {.name = "bare", .sampler = "random"}); }).line(),
      HasSubstr("a study needs an objective"));
}

}  // namespace
}  // namespace halmark
