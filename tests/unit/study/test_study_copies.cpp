// Studies carried over, found by name and salvaged; leases judged; answers that list trials.
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "core/json/json.hpp"
#include "framework/study/lease.hpp"
#include "framework/study/protocol.hpp"
#include "framework/study/worker.hpp"
#include "study/storage/backends.hpp"
#include "study/storage/copy.hpp"
#include "study/storage/sqlite_copy.hpp"
#include "study/storage/sqlite_salvage.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class StudyCopies : public testing::Test {
 protected:
  static std::unique_ptr<StudyStore> open(const std::string& path) {
    return open_study_store("sqlite:" + path, StudyAccess::or_create);
  }
  static void fill(StudyStore& store, std::int64_t study, std::size_t trials) {
    std::vector<TrialRow> rows(trials, running_row());
    store.transact([&](StudyTransaction& t) { t.create(study, rows); });
  }
  ScratchFolder folder_;
  std::string a_ = folder_ / "a", b_ = folder_ / "b";
};

TEST_F(StudyCopies, have_all_rows_under_another_name) {
  const auto from = open(a_), to = open_study_store("journal:" + b_, StudyAccess::or_create);
  fill(*from, make_study(*from, "s"), 3);
  const StudyInfo study = find_study(*from, "").info;
  EXPECT_EQ(copy_study(*from, study, *to, "t"), 3u);
  const StudySummary copy = find_study(*to, "t");
  EXPECT_EQ(copy.trials(), 3);
  EXPECT_EQ(copy.info.directions, study.directions);
  EXPECT_EQ(copy.info.user, study.user);
  EXPECT_EQ(all_trials(*to, copy.info.id)[2].params[0].internal, 0.5);
  const Error error = error_of([&] { copy_study(*from, study, *to, "t"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("there is a study 't' already"));
  EXPECT_EQ(find_study(*to, "t").trials(), 3);
}

TEST_F(StudyCopies, are_found_by_name_or_as_the_only_one) {
  const auto store = open(a_);
  EXPECT_THAT(error_of([&] { find_study(*store, ""); }).line(), HasSubstr("there is no study"));
  EXPECT_THAT(error_of([&] { find_study(*store, "x"); }).line(),
              testing::Not(HasSubstr("there is no study 'x'")));
  make_study(*store, "first");
  EXPECT_EQ(find_study(*store, "").info.name, "first");
  EXPECT_THAT(error_of([&] { find_study(*store, "frist"); }).line(),
              testing::AllOf(HasSubstr("there is no study 'frist'"), HasSubstr("'first'")));
  make_study(*store, "second");
  EXPECT_THAT(error_of([&] { find_study(*store, ""); }).line(),
              HasSubstr("several studies are there; name one"));
  EXPECT_EQ(find_study(*store, "second").info.name, "second");
}

TEST_F(StudyCopies, of_a_file_are_one_state_of_it_and_overwrite_nothing) {
  {
    const auto store = open(a_);
    fill(*store, make_study(*store, "s"), 3);
    fill(*store, make_study(*store, "t"), 2);
  }
  write_file(b_ + ".new", "left over");
  const CopiedStudies done = copy_study_file(a_, b_);
  EXPECT_EQ(done.studies, 2);
  EXPECT_EQ(done.trials, 5);
  EXPECT_EQ(find_study(*open(b_), "t").trials(), 2);
  EXPECT_FALSE(fs::exists(b_ + ".new"));
  EXPECT_FALSE(fs::exists(a_ + "-journal"));
  const std::string bytes = file_bytes(b_);
  const Error error = error_of([&] { copy_study_file(a_, b_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("this file exists, and is not overwritten"));
  EXPECT_EQ(file_bytes(b_), bytes);
  fs::create_symlink(folder_ / "nowhere", folder_ / "link");
  EXPECT_EQ(error_of([&] { copy_study_file(a_, folder_ / "link"); }).exit_code(),
            ExitCode::refused);
}

TEST_F(StudyCopies, that_do_not_read_leave_nothing) {
  make_study(*open(a_));
  raw_sql(a_, "INSERT INTO trials(number, study_id, state) VALUES (0, 1, 'ODD')");
  EXPECT_THAT(error_of([&] { copy_study_file(a_, b_); }).line(), HasSubstr("unknown state 'ODD'"));
  EXPECT_THAT(error_of([&] { copy_study_file(folder_ / "none", b_); }).line(),
              HasSubstr("there are no studies"));
  for (const char* rest : {"", ".new", ".new-journal"}) EXPECT_FALSE(fs::exists(b_ + rest));
  raw_sql(a_, "DELETE FROM trials");
  EXPECT_EQ(error_of([&] { copy_study_file(a_, folder_ / "no/where"); }).exit_code(),
            ExitCode::error);
}

// Each row that no reader takes, with its reason and what belonged to it.
TEST_F(StudyCopies, of_what_can_be_read_name_what_is_left_out) {
  {
    const auto store = open(a_);
    fill(*store, make_study(*store), 3);
    const std::vector<TrialChange> told = {completed(1, {1, 2}), completed(2, {3, 4})};
    store->transact([&](StudyTransaction& t) { t.change(told); });
  }
  raw_sql(a_,
          "PRAGMA foreign_keys = OFF; UPDATE trial_values SET objective = 1024 WHERE trial_id = 1 "
          "AND objective = 1; UPDATE trial_values SET objective = 1023 WHERE trial_id = 2 AND "
          "objective = 1; UPDATE trials SET study_id = 9 WHERE trial_id = 3; CREATE VIEW v AS "
          "SELECT 1");
  const SalvagedStudies done = salvage_studies(a_, b_);
  EXPECT_EQ(done.studies, 1);
  EXPECT_EQ(done.trials, 2);
  std::vector<std::string> lines;
  for (const auto& left : done.left_out) {
    lines.push_back(left.table + ' ' + std::to_string(left.row) + ": " + left.reason);
  }
  EXPECT_THAT(
      lines,
      testing::UnorderedElementsAre(
          "schema 0: the file has a view 'v'", "trials 3: what it belongs to is not there",
          "trial_params 5: what it belongs to is not there",
          "trial_params 6: what it belongs to is not there", HasSubstr(": it is of objective 1024"),
          testing::StartsWith("trial_system_attributes 3: what it belongs")));
  EXPECT_EQ(all_trials(*open(b_), 1).at(1).values.size(), 1024u);
  EXPECT_THAT(error_of([&] { salvage_studies(a_, b_); }).line(), HasSubstr("is not overwritten"));
  raw_sql(a_, "UPDATE study_directions SET direction = 'SIDEWAYS' WHERE objective = 0");
  EXPECT_THAT(error_of([&] { open(a_)->list(); }).line(), HasSubstr("has a view"));
  const SalvagedStudies turned = salvage_studies(a_, folder_ / "c");
  EXPECT_TRUE(std::ranges::any_of(turned.left_out, [](const auto& left) {
    return left.reason == "its direction is 'SIDEWAYS'";
  }));
  raw_sql(a_, "DROP TABLE trials");
  EXPECT_THAT(error_of([&] { salvage_studies(a_, folder_ / "d"); }).line(),
              HasSubstr("holds no studies of Optuna's present tables"));
  EXPECT_FALSE(fs::exists(folder_ / "d.new"));
}

TEST_F(StudyCopies, rows_that_no_reader_takes_are_refused_by_name) {
  {
    const auto store = open(a_);
    fill(*store, make_study(*store), 1);
    const TrialChange told = completed(1, {1, 2});
    store->transact([&](StudyTransaction& t) { t.change({&told, 1}); });
  }
  raw_sql(a_, "UPDATE trial_values SET objective = 1024 WHERE objective = 1");
  EXPECT_THAT(error_of([&] { all_trials(*open(a_), 1); }).line(),
              HasSubstr("trial 0 has a value of objective 1024"));
  raw_sql(a_, "UPDATE trial_values SET objective = 1023 WHERE objective = 1024");
  EXPECT_EQ(all_trials(*open(a_), 1)[0].values.size(), 1024u);
  raw_sql(a_, "UPDATE study_directions SET direction = 'SIDEWAYS' WHERE objective = 0");
  EXPECT_THAT(error_of([&] { open(a_)->list(); }).line(),
              HasSubstr("study 's' has the unknown direction 'SIDEWAYS'"));
}

TEST_F(StudyCopies, files_of_others_are_told_by_their_mark) {
  make_study(*open(a_));
  EXPECT_TRUE(may_hold_studies(a_));
  raw_sql(a_, "PRAGMA application_id = 7");
  EXPECT_FALSE(may_hold_studies(a_));
  EXPECT_THAT(error_of([&] { open(a_); }).line(), HasSubstr("belongs to another program"));
}

TEST_F(StudyCopies, words_that_can_only_be_places_are_told_from_names) {
  make_study(*open(a_));
  write_file(folder_ / "x.log", "");
  write_file(folder_ / "x.txt", "");
  for (const std::string& place : {std::string("sqlite:a"), std::string("journal:a"),
                                   std::string("mysql://h/d"), a_, folder_ / "x.log"}) {
    EXPECT_TRUE(is_study_location(place)) << place;
  }
  for (const std::string& name : {std::string("study"), std::string("a.log"), std::string("memory"),
                                  folder_ / "x.txt", folder_.path().string()}) {
    EXPECT_FALSE(is_study_location(name)) << name;
  }
}

TEST_F(StudyCopies, what_was_moved_away_is_rescued_under_a_name_that_is_free) {
  write_file(a_ + ".rescued", "taken");
  write_file(a_ + ".rescued-2", "taken");
  const auto store = open(a_);
  const std::int64_t study = make_study(*store);
  fs::remove(a_);
  EXPECT_THAT(error_of([&] { fill(*store, study, 1); }).remedy(), HasSubstr(a_ + ".rescued-3"));
  EXPECT_EQ(find_study(*open(a_ + ".rescued-3"), "").trials(), 0);
}

TEST(TypedValues, stand_for_what_a_column_cannot_hold) {
  using namespace journal;
  EXPECT_EQ(typed_value(true, 0, "INF_POS"), HUGE_VAL);
  EXPECT_EQ(typed_value(true, 0, "INF_NEG"), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(typed_value(true, 0, "FINITE")));
  EXPECT_TRUE(std::isnan(typed_value(false, 3, "NAN")));
  EXPECT_EQ(typed_value(false, 3, "FINITE"), 3);
  for (const double value : {HUGE_VAL, -HUGE_VAL, 2.5}) {
    EXPECT_EQ(typed_value(false, value, value_type_name(value)), value);
  }
  EXPECT_STREQ(value_type_name(std::nan("")), "NAN");
  EXPECT_EQ(number_text(std::nan("")), "NaN");
  EXPECT_EQ(number_text(HUGE_VAL), "Infinity");
  EXPECT_EQ(number_text(-HUGE_VAL), "-Infinity");
  EXPECT_EQ(number_text(0.1), "0.1");
  for (const char* name : {"MINIMIZE", "MAXIMIZE", "NOT_SET"}) {
    EXPECT_STREQ(direction_name(direction_of(name)), name);
  }
}

// One second more than the lease: clocks of some stores count whole ones.
TEST(LeaseVerdicts, follow_from_owner_age_and_what_was_before) {
  const auto judged = [](TrialLease lease, double lease_s = 10) {
    if (lease.owner.empty()) lease.owner = "{\"host\":\"elsewhere\"}";
    return judge_lease(lease, lease_s);
  };
  EXPECT_EQ(judged({}).state, LeaseState::held) << "nothing is known of its age";
  EXPECT_EQ(judged({.beat_age_s = 11}).state, LeaseState::held);
  EXPECT_EQ(judged({.beat_age_s = 11.5}).state, LeaseState::free);
  EXPECT_EQ(judged({.beat_age_s = 11.5}).taken, "1");
  EXPECT_EQ(judged({.beat_age_s = 1e9}, 0).state, LeaseState::held) << "no lease, no end";
  EXPECT_EQ(judged({.state = TrialState::complete, .beat_age_s = 1e9}).state, LeaseState::held);
  EXPECT_EQ(judge_lease({.beat_age_s = 1e9}, 10).state, LeaseState::held) << "nobody's";
  const auto taken = [](const char* count) {
    return Attributes{{std::string(taken_attribute), count}};
  };
  EXPECT_EQ(judged({.beat_age_s = 20, .system = taken("1")}).state, LeaseState::lost_before);
  EXPECT_EQ(judged({.beat_age_s = 20, .system = taken("0")}).state, LeaseState::free);
  EXPECT_EQ(judged({.beat_age_s = 20, .system = taken("0")}).taken, "1");
  const TrialLease given_back{.owner = "\"\"", .beat_age_s = 0};
  EXPECT_EQ(judge_lease(given_back, 10).state, LeaseState::free);
  EXPECT_EQ(judge_lease(given_back, 10).taken, "0");
  TrialLease again = given_back;
  again.system = taken("1");
  EXPECT_EQ(judge_lease(again, 10).state, LeaseState::free) << "given back is not lost";
  EXPECT_EQ(judge_lease(again, 10).taken, "1");
  Json dead = Json::parse(this_worker());
  dead["start"] = "1";
  EXPECT_EQ(judge_lease({.owner = dead.dump(), .beat_age_s = 0}, 0).state, LeaseState::free);
}

// 2020 began 1,577,836,800 s after 1970.
TEST_F(StudyCopies, leases_of_a_journal_are_as_old_as_the_clock_says) {
  const auto store = open_study_store("journal:" + b_, StudyAccess::or_create);
  const std::int64_t study = make_study(*store);
  std::vector<TrialRow> rows(1, running_row());
  rows[0].started_utc = "2020-01-01 00:00:00.000000";
  store->transact([&](StudyTransaction& t) { t.create(study, rows); });
  const auto since = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count() - 1'577'836'800;
  };
  for (int look = 0; look < 3; ++look) {
    const double before = since();
    double age = 0;
    store->transact([&](StudyTransaction& t) { age = *t.leases({&rows[0].id, 1})[0].beat_age_s; });
    EXPECT_GE(age, before - 1e-5);
    EXPECT_LE(age, since() + 1e-5);
    usleep(300'000);
  }
}

// Answers that list trials: all of them from a number on, and those of the front.
TEST(StudyAnswers, list_trials_the_front_and_the_objectives) {
  const auto store = open_study_store("memory:", StudyAccess::or_create);
  SpaceDescription space;
  space.domains = {{.name = "a", .kind = DomainKind::integer, .low = 0, .high = 99}};
  space.objectives = {{.name = "time"}, {.name = "rate", .is_maximised = true}};
  Study study(*store, space, {.name = "s", .sampler = "random"});
  StudyProtocol protocol(study);
  const auto answer = [&](const std::string& request) {
    return Json::parse(protocol.answers({&request, 1}).at(0));
  };
  answer(R"({"ask":4})");
  answer(R"({"tell":[{"trial":0,"values":[1,"inf"]},{"trial":1,"values":[2,5]},)"
         R"({"trial":2,"values":[3,4]}]})");
  const Json all = answer(R"({"trials":0})").at("trials");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].at("values"), Json::parse(R"([1.0,"inf"])"));
  EXPECT_EQ(all[0].at("state"), "COMPLETE");
  EXPECT_FALSE(all[0].contains("constraints")) << "no trial of the study has any";
  EXPECT_EQ(all[3].at("state"), "RUNNING");
  EXPECT_TRUE(all[3].at("params").contains("a"));
  EXPECT_FALSE(all[3].contains("constraints"));
  EXPECT_EQ(study.rows().size(), 4u) << "outside of a request too";
  EXPECT_EQ(answer(R"({"trials":3})").at("trials").size(), 1u);
  EXPECT_EQ(answer(R"({"trials":4})").at("trials").size(), 0u);
  EXPECT_EQ(answer(R"({"trials":2000000000})").at("trials").size(), 0u);
  for (const char* bad : {R"({"trials":-1})", R"({"trials":2000000001})", R"({"trials":0.5})"}) {
    EXPECT_THAT(answer(bad).at("error"), HasSubstr("the number of the first trial")) << bad;
  }
  const Json front = answer(R"({"front":true})").at("trials");
  ASSERT_EQ(front.size(), 1u) << "what is not finite is not on it";
  EXPECT_EQ(front[0].at("trial"), 1);
  EXPECT_EQ(answer(R"({"status":1})").at("objectives"),
            Json::parse(R"([{"name":"time","direction":"minimize"},
                            {"name":"rate","direction":"maximize"}])"));
  const Json summary = study_summary_json(find_study(*store, "s"));
  EXPECT_EQ(summary.at("trials"), 4);
  EXPECT_EQ(summary.at("states").at("COMPLETE"), 3);
  EXPECT_EQ(summary.at("states").at("RUNNING"), 1);
  EXPECT_EQ(summary.at("objectives").size(), 2u);
}

TEST(StudyAnswers, write_what_is_not_finite_as_words) {
  const TrialRow row{.values = {-HUGE_VAL, std::nan(""), 0.5}};
  EXPECT_EQ(trial_json(row).at("values"), Json::parse(R"(["-inf","nan",0.5])"));
}

}  // namespace
}  // namespace halmark
