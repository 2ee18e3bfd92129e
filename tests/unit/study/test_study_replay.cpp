// Journals line by line: what each operation of Optuna's does to a study, and what none can do.
#include "core/numeric/cast.hpp"
#include "study/storage/journal_replay.hpp"

#include <cmath>

#include "tests/unit/error_of.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;
using journal::StudyReplay;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kind =
    R"("{\"name\":\"IntDistribution\",\"attributes\":{\"low\":1,\"high\":9,\"step\":1,\"log\":false}}")";
const std::string other_kind =
    R"("{\"name\":\"FloatDistribution\",\"attributes\":{\"low\":1,\"high\":9,\"step\":null,\"log\":false}}")";

class Replay : public testing::Test {
 protected:
  Replay() { apply(R"({"op_code":0,"study_name":"s","directions":[1,2]})"); }
  void apply(const std::string& line) { replay_.apply(line, ++lines_); }
  std::string error(const std::string& line) {
    const Error found = error_of([&] { apply(line); });
    EXPECT_EQ(found.exit_code(), ExitCode::refused);
    return found.line();
  }
  std::vector<TrialRow> rows(std::int64_t study = 0) {
    TrialCursor cursor;
    return replay_.trials(study, cursor);
  }
  StudyReplay replay_{"j.log"};
  std::size_t lines_ = 0;
};

TEST_F(Replay, a_study_is_made_once_and_deleted_for_good) {
  const StudyInfo* found = replay_.find("s");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->id, 0);
  EXPECT_THAT(found->directions, ElementsAre(StudyDirection::minimize, StudyDirection::maximize));
  apply(R"({"op_code":0,"study_name":"s","directions":[1]})");
  EXPECT_EQ(replay_.list().size(), 1u);
  EXPECT_EQ(replay_.find("s")->directions.size(), 2u);
  apply(R"({"op_code":0,"study_name":"t","directions":[2]})");
  EXPECT_EQ(replay_.find("t")->id, 1);
  EXPECT_EQ(replay_.find(1)->name, "t");
  apply(R"({"op_code":1,"study_id":0})");
  EXPECT_EQ(replay_.find("s"), nullptr);
  EXPECT_EQ(replay_.find(std::int64_t{0}), nullptr);
  EXPECT_EQ(replay_.list().size(), 1u);
  apply(R"({"op_code":1,"study_id":7})");
  apply(R"({"op_code":4,"study_id":0,"datetime_start":null})");
  apply(R"({"op_code":4,"study_id":-1,"datetime_start":null})");
  EXPECT_TRUE(rows(0).empty());
  EXPECT_TRUE(rows(5).empty());
  EXPECT_TRUE(rows(-1).empty());
  EXPECT_EQ(replay_.find(std::int64_t{2}), nullptr);
  EXPECT_EQ(replay_.find(std::int64_t{-1}), nullptr);
}

TEST_F(Replay, attributes_of_a_study_are_a_persons_or_the_systems) {
  apply(R"({"op_code":2,"study_id":0,"user_attr":{"a":1}})");
  apply(R"({"op_code":3,"study_id":0,"system_attr":{"b":"x"}})");
  apply(R"({"op_code":2,"study_id":0,"user_attr":{"a":2,"c":null}})");
  apply(R"({"op_code":2,"study_id":9,"user_attr":{"a":3}})");
  const StudyInfo& info = *replay_.find("s");
  EXPECT_THAT(info.user, ElementsAre(std::pair("a", "2"), std::pair("c", "null")));
  EXPECT_THAT(info.system, ElementsAre(std::pair("b", "\"x\"")));
}

TEST_F(Replay, a_trial_may_be_made_whole) {
  apply(R"({"op_code":4,"study_id":0,"state":1,"datetime_start":"2026-11-21T10:20:30.5+00:00",)"
        R"("datetime_complete":"2026-11-21T10:20:31.123456789","params":{"x":3},)"
        R"("distributions":{"x":)" +
        kind +
        R"(},"values":[1,2],"user_attrs":{"u":1},"system_attrs":{"s":[2]},)"
        R"("intermediate_values":{"4":0.5,"10":NaN}})");
  apply(R"({"op_code":4,"study_id":0,"state":4,"value":7})");
  apply(R"({"op_code":4,"study_id":0,"state":0,"value":null,"values":null})");
  const auto all = rows();
  ASSERT_EQ(all.size(), 3u);
  const TrialRow& row = all[0];
  EXPECT_EQ(row.number, 0);
  EXPECT_EQ(row.state, TrialState::complete);
  EXPECT_EQ(row.started_utc, "2026-11-21 10:20:30.5+00:0");
  EXPECT_EQ(row.completed_utc, "2026-11-21 10:20:31.123456");
  ASSERT_EQ(row.params.size(), 1u);
  EXPECT_EQ(row.params[0].internal, 3);
  EXPECT_EQ(row.params[0].distribution->high, 9);
  EXPECT_THAT(row.values, ElementsAre(1, 2));
  EXPECT_THAT(row.user, ElementsAre(std::pair("u", "1")));
  EXPECT_THAT(row.system, ElementsAre(std::pair("s", "[2]")));
  ASSERT_EQ(row.intermediate.size(), 2u);
  EXPECT_EQ(all[1].state, TrialState::waiting);
  EXPECT_THAT(all[1].values, ElementsAre(7)) << "an older form";
  EXPECT_EQ(all[2].state, TrialState::running);
  EXPECT_TRUE(all[2].values.empty());
  const auto counts = replay_.list().at(0).counts;
  EXPECT_EQ(counts[as_size(TrialState::complete)], 1);
  EXPECT_EQ(counts[as_size(TrialState::running)], 1);
  EXPECT_EQ(counts[as_size(TrialState::waiting)], 1);
  EXPECT_EQ(counts[as_size(TrialState::fail)], 0);
}

TEST_F(Replay, a_parameter_keeps_the_kind_that_it_had_first_in_the_study) {
  apply(R"({"op_code":4,"study_id":0})");
  apply(R"({"op_code":4,"study_id":0})");
  const auto set = [&](int trial, const std::string& value, const std::string& distribution) {
    apply(R"({"op_code":5,"trial_id":)" + std::to_string(trial) +
          R"(,"param_name":"x","param_value_internal":)" + value + R"(,"distribution":)" +
          distribution + "}");
  };
  set(0, "3", kind);
  set(0, "4", kind);
  set(1, "5.5", other_kind);
  set(9, "1", kind);
  set(-1, "1", kind);
  ASSERT_EQ(rows()[0].params.size(), 1u);
  EXPECT_EQ(rows()[0].params[0].internal, 4) << "set anew";
  EXPECT_TRUE(rows()[1].params.empty());
  set(1, "6", kind);
  EXPECT_EQ(rows()[1].params.at(0).internal, 6);
}

TEST_F(Replay, states_go_forward_and_end) {
  apply(R"({"op_code":4,"study_id":0,"state":4})");
  apply(R"({"op_code":6,"trial_id":0,"state":0,"datetime_start":"2026-11-21T10:20:30"})");
  EXPECT_EQ(rows()[0].state, TrialState::running);
  EXPECT_EQ(rows()[0].started_utc, "2026-11-21 10:20:30");
  apply(R"({"op_code":6,"trial_id":0,"state":0,"datetime_start":"2026-11-21T11:11:11"})");
  EXPECT_EQ(rows()[0].started_utc, "2026-11-21 10:20:30") << "it runs already";
  apply(R"({"op_code":7,"trial_id":0,"step":2,"intermediate_value":0.5})");
  apply(R"({"op_code":7,"trial_id":0,"step":3,"intermediate_value":-Infinity})");
  apply(R"({"op_code":7,"trial_id":0,"step":2,"intermediate_value":0.75})");
  apply(R"({"op_code":8,"trial_id":0,"user_attr":{"a":1}})");
  apply(R"({"op_code":9,"trial_id":0,"system_attr":{"b":2}})");
  apply(R"({"op_code":6,"trial_id":0,"state":2,"values":null,)"
        R"("datetime_complete":"2026-11-21T10:20:40"})");
  const std::string end[] = {R"({"op_code":6,"trial_id":0,"state":1,"values":[1,2]})",
                             R"({"op_code":7,"trial_id":0,"step":9,"intermediate_value":1})",
                             R"({"op_code":8,"trial_id":0,"user_attr":{"c":1}})",
                             R"({"op_code":9,"trial_id":0,"system_attr":{"c":1}})"};
  for (const std::string& line : end) apply(line);
  const TrialRow row = rows().at(0);
  EXPECT_EQ(row.state, TrialState::pruned);
  EXPECT_EQ(row.completed_utc, "2026-11-21 10:20:40");
  ASSERT_EQ(row.intermediate.size(), 2u);
  EXPECT_EQ(row.intermediate[0].second, 0.75);
  EXPECT_EQ(row.intermediate[1].second, -HUGE_VAL);
  EXPECT_THAT(row.user, ElementsAre(std::pair("a", "1")));
  EXPECT_THAT(row.system, ElementsAre(std::pair("b", "2")));
  EXPECT_TRUE(row.values.empty());
}

// A cursor sees new rows, and those unfinished ones that moved.
TEST_F(Replay, a_cursor_gives_what_is_new) {
  apply(R"({"op_code":4,"study_id":0})");
  apply(R"({"op_code":4,"study_id":0})");
  TrialCursor cursor;
  EXPECT_EQ(replay_.trials(0, cursor).size(), 2u);
  EXPECT_TRUE(replay_.trials(0, cursor).empty());
  apply(R"({"op_code":4,"study_id":0})");
  apply(R"({"op_code":6,"trial_id":0,"state":3})");
  const auto news = replay_.trials(0, cursor);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_EQ(news[0].number, 0) << "in the order of their numbers";
  EXPECT_EQ(news[1].number, 2);
  apply(R"({"op_code":5,"trial_id":1,"param_name":"x","param_value_internal":2,"distribution":)" +
        kind + "}");
  EXPECT_EQ(replay_.trials(0, cursor).size(), 1u) << "it has a parameter more";
  EXPECT_TRUE(replay_.trials(0, cursor).empty());
  EXPECT_EQ(replay_.trial(2)->number, 2);
  EXPECT_EQ(replay_.trial(3), nullptr);
  EXPECT_EQ(replay_.trial(-1), nullptr);
}

TEST_F(Replay, lines_that_are_no_operation_are_refused_with_their_place) {
  EXPECT_THAT(error("{"), HasSubstr("j.log:2: this line is no operation"));
  EXPECT_THAT(error("[]"), HasSubstr("j.log:3: this line is no operation"));
  EXPECT_THAT(error("{}"), HasSubstr("no operation"));
  EXPECT_THAT(error(R"({"op_code":11})"), HasSubstr("unknown op_code 11"));
  EXPECT_THAT(error(R"({"op_code":-1})"), HasSubstr("unknown op_code -1"));
  EXPECT_THAT(error(R"({"op_code":4})"), HasSubstr("cannot be read"));
  EXPECT_THAT(error(R"({"op_code":4,"study_id":0,"state":5})"), HasSubstr("unknown state 5"));
  EXPECT_THAT(error(R"({"op_code":4,"study_id":0,"state":-1})"), HasSubstr("unknown state -1"));
  EXPECT_THAT(error(R"({"op_code":4,"study_id":0,"state":1,"values":["x"]})"),
              HasSubstr("a value is no number"));
  EXPECT_NO_THROW(apply(R"({"op_code":10,"trial_id":0})"));
  EXPECT_THAT(error(R"({"op_code":10,"a":)" + std::string(5000, '[')), HasSubstr("j.log:"));
}

TEST_F(Replay, bare_words_are_numbers_outside_of_strings_alone) {
  apply(R"({"op_code":4,"study_id":0,"state":1,"values":[NaN,Infinity],)"
        R"("user_attrs":{"a":"-Infinity \\\" NaN","b":"x\\","c":"NaN"}})");
  const TrialRow row = rows().at(0);
  EXPECT_TRUE(std::isnan(row.values.at(0)));
  EXPECT_EQ(row.values.at(1), HUGE_VAL);
  EXPECT_THAT(row.user, ElementsAre(std::pair("a", R"("-Infinity \\\" NaN")"),
                                    std::pair("b", R"("x\\")"), std::pair("c", "\"NaN\"")));
}

}  // namespace
}  // namespace halmark
