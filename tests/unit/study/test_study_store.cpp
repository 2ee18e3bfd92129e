// What all places of studies do alike: both files, and PostgreSQL where a server can be had.
#include "tests/unit/error_of.hpp"
#include "tests/unit/postgres_server.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::Pair;

class AnyStudies : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    location_ = GetParam() + ':' + (folder_ / "a");
    if (GetParam() != "postgresql") return;
    if (PostgresServer::get() == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
    location_ = PostgresServer::get()->database();
  }
  std::unique_ptr<StudyStore> open(StudyAccess access = StudyAccess::or_create) const {
    return open_study_store(location_, access);
  }
  std::string location_;
  ScratchFolder folder_;
};
class StudyFile : public AnyStudies {};

TEST_P(AnyStudies, keeps_every_kind_of_row) {
  {
    const auto store = open();
    const std::int64_t study = make_study(*store);
    store->transact([&](StudyTransaction& t) {
      std::vector<TrialRow> rows(4, running_row());
      rows[0].state = TrialState::complete;
      rows[0].values = {HUGE_VAL, -0.1};
      rows[0].user = {{"why", R"("quote \" and é")"}};
      rows[0].intermediate = {{1, 0.25}, {7, std::nan("")}, {9, -HUGE_VAL}};
      rows[0].started_utc = "2026-11-21 10:20:30.000001";
      rows[0].completed_utc = "2026-11-21 10:20:31.990000";
      rows[2].state = TrialState::waiting;
      rows[2].params.clear();
      rows[2].system = {{"fixed_params", R"({"rate":2})"}};
      rows[3].state = TrialState::fail;
      t.create(study, rows);
    });
  }
  const auto store = open(StudyAccess::existing);
  const std::vector<StudySummary> studies = store->list();
  ASSERT_EQ(studies.size(), 1u);
  EXPECT_EQ(studies[0].info.name, "s");
  EXPECT_THAT(studies[0].info.directions,
              ElementsAre(StudyDirection::minimize, StudyDirection::maximize));
  EXPECT_THAT(metric_names(studies[0].info), ElementsAre("latency", "tokens"));
  EXPECT_THAT(studies[0].info.user, ElementsAre(Pair("note", R"({"a":[1,"x"]})")));
  EXPECT_THAT(studies[0].counts, ElementsAre(1, 1, 0, 1, 1));

  const std::vector<TrialRow> rows = all_trials(*store, studies[0].info.id);
  ASSERT_EQ(rows.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rows[static_cast<std::size_t>(i)].number, i);
  EXPECT_THAT(rows[0].values, ElementsAre(HUGE_VAL, -0.1));
  EXPECT_THAT(rows[0].user, ElementsAre(Pair("why", R"("quote \" and é")")));
  ASSERT_EQ(rows[0].intermediate.size(), 3u);
  EXPECT_TRUE(std::isnan(rows[0].intermediate[1].second));
  EXPECT_EQ(rows[0].intermediate[2], std::pair(std::int64_t{9}, -HUGE_VAL));
  EXPECT_EQ(rows[0].started_utc, "2026-11-21 10:20:30.000001");
  EXPECT_EQ(rows[0].completed_utc, "2026-11-21 10:20:31.990000");
  ASSERT_EQ(rows[1].params.size(), 2u);
  EXPECT_EQ(rows[1].params[0].internal, 0.5);
  EXPECT_EQ(*rows[1].params[0].distribution, *running_row().params[0].distribution);
  EXPECT_EQ(rows[1].params[1].distribution->value(3), ParamValue(std::int64_t{4}));
  EXPECT_EQ(rows[2].state, TrialState::waiting);
  EXPECT_EQ(rows[2].started_utc, "");
  EXPECT_EQ(rows[3].completed_utc.size(), 26u);
}

TEST_P(AnyStudies, a_cursor_gives_what_is_new_or_changed_and_nothing_else) {
  const auto mine = open(), other = open();
  const std::int64_t study = make_study(*mine);
  TrialCursor cursor;
  EXPECT_TRUE(mine->trials(study, cursor).empty());
  std::vector<TrialRow> rows(3, running_row());
  other->transact([&](StudyTransaction& t) { t.create(study, rows); });
  EXPECT_EQ(mine->trials(study, cursor).size(), 3u);
  EXPECT_TRUE(mine->trials(study, cursor).empty());
  const TrialChange change = completed(rows[1].id, {1, 2});
  other->transact([&](StudyTransaction& t) {
    t.change({&change, 1});
    std::vector<TrialRow> more(1, running_row());
    t.create(study, more);
  });
  const std::vector<TrialRow> news = mine->trials(study, cursor);
  ASSERT_EQ(news.size(), 2u);
  EXPECT_EQ(news[0].number, 1);
  EXPECT_THAT(news[0].values, ElementsAre(1, 2));
  EXPECT_EQ(news[1].number, 3);
  EXPECT_TRUE(mine->trials(study, cursor).empty());
}

TEST_P(AnyStudies, an_undone_transaction_leaves_nothing) {
  const auto store = open();
  const std::int64_t study = make_study(*store);
  struct Undo {};
  EXPECT_THROW(store->transact([&](StudyTransaction& t) {
    std::vector<TrialRow> rows(2, running_row());
    t.create(study, rows);
    throw Undo();
  }),
               Undo);
  EXPECT_TRUE(all_trials(*store, study).empty());
  std::vector<TrialRow> rows(1, running_row());
  store->transact([&](StudyTransaction& t) { t.create(study, rows); });
  EXPECT_EQ(rows[0].number, 0);
  EXPECT_EQ(all_trials(*open(), study).size(), 1u);
}

TEST_P(AnyStudies, studies_of_one_place_have_numbers_of_their_own) {
  const auto store = open();
  const std::int64_t a = make_study(*store, "a"), b = make_study(*store, "b");
  for (int i = 0; i < 3; ++i) {
    for (const std::int64_t study : {a, b}) {
      std::vector<TrialRow> rows(2, running_row(i + 1.0));
      store->transact([&](StudyTransaction& t) { t.create(study, rows); });
      EXPECT_EQ(rows[1].number, 2 * i + 1);
    }
  }
  TrialCursor cursor;
  const std::vector<TrialRow> rows = open()->trials(b, cursor);
  ASSERT_EQ(rows.size(), 6u);
  for (const TrialRow& row : rows) EXPECT_EQ(row.params.size(), 2u);
  store->transact([&](StudyTransaction& t) {
    EXPECT_EQ(t.find("b")->id, b);
    EXPECT_FALSE(t.find("c").has_value());
  });
}

TEST_P(AnyStudies, a_lease_says_who_runs_a_trial_and_when_he_was_heard_of) {
  const auto store = open();
  const std::int64_t study = make_study(*store);
  std::vector<TrialRow> rows(2, running_row());
  rows[0].started_utc = "2020-01-01 00:00:00.000000";
  rows[1].system.clear();
  store->transact([&](StudyTransaction& t) { t.create(study, rows); });
  const std::vector<std::int64_t> ids = {rows[0].id, rows[1].id};
  store->transact([&](StudyTransaction& t) {
    const auto leases = t.leases(ids);
    ASSERT_EQ(leases.size(), 2u);
    EXPECT_EQ(leases[0].owner, "\"me\"");
    if (GetParam() == "postgresql") {
      EXPECT_LT(*leases[0].beat_age_s, 5) << "it has a sign of life from the beginning";
    } else {
      EXPECT_GT(*leases[0].beat_age_s, 1e8);
    }
    EXPECT_EQ(leases[1].owner, "");
    t.beat({ids.data(), 1});
  });
  store->transact([&](StudyTransaction& t) { EXPECT_LT(*t.leases(ids)[0].beat_age_s, 5); });
}

TEST_P(StudyFile, an_absent_one_is_made_only_when_that_is_wanted) {
  const Error error = error_of([&] { open(StudyAccess::existing); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_TRUE(folder_.names().empty());
  write_file(folder_ / "a", "");
  make_study(*open());
  EXPECT_EQ(open(StudyAccess::existing)->list().size(), 1u);
}

TEST_P(StudyFile, what_is_no_study_is_refused_and_stays_as_it_is) {
  const std::vector<std::string> foreign = {"\xff\xd8\xff\xe0 a picture", "{\"a\":1}",
                                            "{\"a\":1}\n", "SQLite format 3", "[1]\n[2]\n"};
  for (const std::string& bytes : foreign) {
    write_file(folder_ / "a", bytes);
    const Error error = error_of([&] { make_study(*open()); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << bytes;
    EXPECT_EQ(error.line().find('\n'), std::string::npos);
    EXPECT_EQ(file_bytes(folder_ / "a"), bytes);
    EXPECT_EQ(folder_.names().size(), 1u);
  }
}

// A trial that ran before it was told, with what it said on the way; a change may give all of it.
TEST_P(AnyStudies, a_change_gives_state_values_parameters_and_words) {
  const auto store = open();
  const std::int64_t study = make_study(*store);
  std::vector<TrialRow> rows(3, running_row());
  rows[1].state = TrialState::waiting;
  rows[1].params.clear();
  store->transact([&](StudyTransaction& t) { t.create(study, rows); });
  const TrialRow whole = running_row(0.25);
  const std::vector<TrialChange> changes = {
      {.id = rows[0].id,
       .state = TrialState::complete,
       .values = {HUGE_VAL, -HUGE_VAL},
       .user = {{"a", "1"}, {"b", "\"x\""}},
       .system = {{"halmark:worker", "\"other\""}, {"new", "[2]"}}},
      {.id = rows[1].id, .state = TrialState::running, .params = whole.params},
      {.id = rows[2].id, .user = {{"only", "true"}}}};
  store->transact([&](StudyTransaction& t) { t.change(changes); });
  const std::vector<TrialRow> found = all_trials(*open(), study);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].state, TrialState::complete);
  EXPECT_THAT(found[0].values, ElementsAre(HUGE_VAL, -HUGE_VAL));
  EXPECT_EQ(*find_attribute(found[0].user, "b"), "\"x\"");
  EXPECT_EQ(*find_attribute(found[0].system, "halmark:worker"), "\"other\"");
  EXPECT_EQ(*find_attribute(found[0].system, "new"), "[2]");
  EXPECT_TRUE(found[0].completed_utc.starts_with("20")) << found[0].completed_utc;
  EXPECT_EQ(found[1].state, TrialState::running);
  ASSERT_EQ(found[1].params.size(), 2u);
  EXPECT_EQ(found[1].params[0].internal, 0.25);
  EXPECT_TRUE(found[1].started_utc.starts_with("20")) << found[1].started_utc;
  EXPECT_EQ(found[2].state, TrialState::running);
  EXPECT_TRUE(found[2].completed_utc.empty());
  EXPECT_EQ(*find_attribute(found[2].user, "only"), "true");
  const auto studies = store->list();
  EXPECT_THAT(studies.at(0).counts, ElementsAre(2, 1, 0, 0, 0));
}

TEST_P(AnyStudies, studies_are_made_and_found_by_their_name) {
  const auto store = open();
  const std::int64_t first = make_study(*store, "a b'c"), second = make_study(*store, "z");
  EXPECT_NE(first, second);
  store->transact([&](StudyTransaction& t) {
    const auto found = t.find("a b'c");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, first);
    EXPECT_EQ(found->directions.size(), 2u);
    EXPECT_THAT(found->user, ElementsAre(Pair("note", R"({"a":[1,"x"]})")));
    EXPECT_FALSE(t.find("a b"));
  });
  EXPECT_EQ(open(StudyAccess::existing)->list().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(BackEnds, AnyStudies, testing::Values("sqlite", "journal", "postgresql"),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(BackEnds, StudyFile, testing::Values("sqlite", "journal"),
                         [](const auto& info) { return info.param; });

TEST(StudyPostgresql, an_absent_one_is_made_only_when_that_is_wanted_and_another_revision_refused) {
  PostgresServer* server = PostgresServer::get();
  if (server == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
  const std::string url = server->database();
  const auto refusal = [&](StudyAccess access) {
    const Error error = error_of([&] { open_study_store(url, access); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.line();
  };
  EXPECT_THAT(refusal(StudyAccess::existing), testing::HasSubstr("holds no studies"));
  make_study(*open_study_store(url, StudyAccess::or_create));
  EXPECT_EQ(open_study_store(url, StudyAccess::existing)->list().size(), 1u);
  server->sql(url, "UPDATE alembic_version SET version_num = 'v3.0.0.d'");
  EXPECT_THAT(refusal(StudyAccess::or_create), testing::HasSubstr("v3.0.0.d"));
  server->sql(url, "DROP TABLE alembic_version");
  EXPECT_THAT(refusal(StudyAccess::existing), testing::HasSubstr("no revision of Optuna"));
}

TEST(StudyPostgresql, a_server_that_is_not_there_is_an_error_without_the_password) {
  const Error error = error_of([] {
    open_study_store("postgresql://user:secret@/d?host=/nonexistent", StudyAccess::or_create);
  });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_THAT(error.line(), testing::HasSubstr("the server cannot be reached"));
  EXPECT_EQ(error.where(), "postgresql://user@/d?host=/nonexistent");
  EXPECT_EQ(error.line().find("secret"), std::string::npos) << error.line();
}

TEST(StudyLocation, names_its_kind) {
  for (const char* location : {"a.study", "mysql://h/db", "sqlite:", "csv:a", "sqlite"}) {
    const Error error = error_of([&] { open_study_store(location, StudyAccess::or_create); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << location;
    EXPECT_THAT(error.line(), testing::HasSubstr("journal:PATH"));
  }
}

}  // namespace
}  // namespace halmark
