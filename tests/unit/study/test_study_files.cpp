// What each kind of study file has of its own: refusals, locks, broken ends.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "study/storage/journal_lock.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/journal/journal_fixture.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<StudyStore> open(const std::string& location) {
  return open_study_store(location, StudyAccess::or_create);
}

TEST(StudySqlite, a_results_database_is_told_from_its_studies) {
  const ScratchFolder folder;
  make_database(folder / "a.db", 1);
  const Error error = error_of([&] { open("sqlite:" + (folder / "a.db")); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("a.db.study"));
}

TEST(StudySqlite, another_revision_is_refused_with_the_way_forward) {
  const ScratchFolder folder;
  open("sqlite:" + (folder / "a"));
  raw_sql(folder / "a", "UPDATE alembic_version SET version_num = 'v3.0.0.d'");
  const Error error = error_of([&] { open("sqlite:" + (folder / "a")); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("v3.0.0.d"));
  EXPECT_THAT(error.line(), HasSubstr("storage upgrade"));
}

TEST(StudySqlite, a_truncated_or_damaged_file_is_refused) {
  const ScratchFolder folder;
  {
    const auto store = open("sqlite:" + (folder / "a"));
    const std::int64_t study = make_study(*store);
    std::vector<TrialRow> rows(100, running_row());
    store->transact([&](StudyTransaction& t) { t.create(study, rows); });
  }
  std::string bytes = file_bytes(folder / "a");
  write_file(folder / "short", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error_of([&] { open("sqlite:" + (folder / "short")); }).line(),
              HasSubstr("truncated"));
  bytes.replace(4096, bytes.size() - 4096, std::string(bytes.size() - 4096, '\x5a'));
  write_file(folder / "damaged", bytes);
  const Error error = error_of([&] {
    const auto store = open("sqlite:" + (folder / "damaged"));
    all_trials(*store, 1);
  });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.line().find('\n'), std::string::npos);
}

TEST(StudySqlite, other_tables_are_no_studies) {
  const ScratchFolder folder;
  raw_sql(folder / "a", "CREATE TABLE t(x)");
  EXPECT_THAT(error_of([&] { open("sqlite:" + (folder / "a")); }).line(), HasSubstr("no studies"));
}

class StudyJournal : public testing::Test {
 protected:
  std::string path() const { return folder_ / "j.log"; }
  std::unique_ptr<StudyStore> open_journal() const { return open("journal:" + path()); }
  void append(const std::string& bytes) const {
    std::ofstream(path(), std::ios::app | std::ios::binary) << bytes;
  }
  ScratchFolder folder_;
};

TEST_F(StudyJournal, half_a_line_at_the_end_is_read_over_and_cut_off_by_the_next_writer) {
  make_study(*open_journal());
  const std::string whole = file_bytes(path());
  append(R"({"op_code":4,"study_id":0,"dateti)");
  const auto store = open_journal();
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_TRUE(store->take_notes().empty());
  EXPECT_NE(file_bytes(path()), whole) << "readers change nothing";
  std::vector<TrialRow> rows(1, running_row());
  store->transact([&](StudyTransaction& t) { t.create(0, rows); });
  EXPECT_THAT(store->take_notes(), ElementsAre(HasSubstr("half a line")));
  EXPECT_TRUE(file_bytes(path()).starts_with(whole + R"({"op_code":4,)"));
  EXPECT_EQ(all_trials(*open_journal(), 0).size(), 1u);
}

TEST_F(StudyJournal, a_broken_last_line_is_read_over_but_never_buried) {
  make_study(*open_journal());
  append("{\"op_code\":4,\"stu\n");
  const auto store = open_journal();
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_THAT(store->take_notes(), ElementsAre(HasSubstr("the last line is broken")));
  std::vector<TrialRow> rows(1, running_row());
  const Error error =
      error_of([&] { store->transact([&](StudyTransaction& t) { t.create(0, rows); }); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  append("{\"op_code\":1,\"worker_id\":\"w\",\"study_id\":0}\n");
  EXPECT_EQ(error_of([&] { open_journal(); }).exit_code(), ExitCode::refused);
}

TEST_F(StudyJournal, the_words_for_what_json_cannot_write_are_numbers) {
  make_study(*open_journal());
  append(
      R"({"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"2026-11-21T10:20:30.5+00:00"})"
      "\n"
      R"({"op_code":7,"worker_id":"w","trial_id":0,"step":3,"intermediate_value":NaN})"
      "\n"
      R"({"op_code":8,"worker_id":"w","trial_id":0,"user_attr":{"a":"NaN \" Infinity"}})"
      "\n"
      R"({"op_code":6,"worker_id":"w","trial_id":0,"state":1,"values":[-Infinity,Infinity],)"
      R"("datetime_complete":"2026-11-21T10:20:31.000000"})"
      "\n");
  const std::vector<TrialRow> rows = all_trials(*open_journal(), 0);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].values, ElementsAre(-HUGE_VAL, HUGE_VAL));
  EXPECT_TRUE(std::isnan(rows[0].intermediate.at(0).second));
  EXPECT_EQ(rows[0].user.at(0).second, R"("NaN \" Infinity")");
}

TEST_F(StudyJournal, what_a_finished_trial_is_told_later_changes_nothing) {
  make_study(*open_journal());
  append(R"({"op_code":4,"worker_id":"w","study_id":0,"datetime_start":null,"state":3})"
         "\n"
         R"({"op_code":6,"worker_id":"w","trial_id":0,"state":1,"values":[1,2]})"
         "\n"
         R"({"op_code":0,"worker_id":"w","study_name":"s","directions":[1]})"
         "\n"
         R"({"op_code":10,"worker_id":"w","trial_id":0})"
         "\n");
  const auto store = open_journal();
  EXPECT_EQ(all_trials(*store, 0).at(0).state, TrialState::fail);
  EXPECT_EQ(store->list().size(), 1u);
}

class StudyLock : public testing::Test {
 protected:
  StudyLock() { fd_ = ::open(path().c_str(), O_RDWR | O_CREAT | O_APPEND, 0644); }
  ~StudyLock() override { close(fd_); }
  std::string path() const { return folder_ / "j.log"; }
  ScratchFolder folder_;
  int fd_ = -1;
};

TEST_F(StudyLock, is_the_link_that_optuna_makes_and_leads_to_the_journal) {
  {
    const journal::StudyJournalLock lock(path(), fd_);
    EXPECT_TRUE(std::filesystem::is_symlink(path() + ".lock"));
    EXPECT_TRUE(std::filesystem::equivalent(path() + ".lock", path()));
    EXPECT_EQ(lock.note(), "");
  }
  EXPECT_FALSE(std::filesystem::is_symlink(path() + ".lock"));
}

TEST_F(StudyLock, of_a_killed_process_is_taken_over_at_once) {
  const pid_t child = fork();
  if (child == 0) {
    const int own = ::open(path().c_str(), O_RDWR | O_APPEND);
    const journal::StudyJournalLock lock(path(), own);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(std::filesystem::is_symlink(path() + ".lock"));
  const journal::StudyJournalLock lock(path(), fd_, {.grace_s = 30, .wait_max_s = 5});
  EXPECT_THAT(lock.note(), HasSubstr("killed process"));
}

TEST_F(StudyLock, of_somebody_else_is_taken_over_when_nothing_has_moved_for_the_grace) {
  for (const bool is_link : {true, false}) {
    if (is_link) {
      std::filesystem::create_symlink(path(), path() + ".lock");
    } else {
      write_file(path() + ".lock", "");  // the variant of exclusive opening
    }
    EXPECT_THAT(error_of([&] {
                  journal::StudyJournalLock(path(), fd_, {.grace_s = 5, .wait_max_s = 0.1});
                }).line(),
                HasSubstr("keeps the lock"));
    const journal::StudyJournalLock lock(path(), fd_, {.grace_s = 0.1, .wait_max_s = 5});
    EXPECT_THAT(lock.note(), HasSubstr("had not moved"));
  }
}

struct Spelling {
  const char* text;
  ParamDistribution expected;
};

TEST(Distributions, are_read_in_every_spelling_and_written_in_the_present_one) {
  using Kind = ParamDistribution::Kind;
  const std::vector<Spelling> spellings = {
      {R"({"name": "IntDistribution", "attributes": {"log": false, "step": 2, "low": 1, "high": 9}})",
       {.kind = Kind::integer, .low = 1, .high = 9, .step = 2}},
      {R"({"name":"FloatDistribution","attributes":{"step":null,"low":0.1,"high":1.0,"log":true}})",
       {.kind = Kind::real, .low = 0.1, .high = 1, .is_log = true}},
      {R"({"name":"CategoricalDistribution","attributes":{"choices":["a",null,true,1,2.5]}})",
       {.choices = {ParamValue("a"), nullptr, true, std::int64_t{1}, 2.5}}},
      {R"({"name":"UniformDistribution","attributes":{"low":0,"high":2}})",
       {.kind = Kind::real, .low = 0, .high = 2}},
      {R"({"name":"DiscreteUniformDistribution","attributes":{"low":0,"high":2,"q":0.5}})",
       {.kind = Kind::real, .low = 0, .high = 2, .step = 0.5}},
      {R"({"name":"IntLogUniformDistribution","attributes":{"low":1,"high":8,"step":1}})",
       {.kind = Kind::integer, .low = 1, .high = 8, .step = 1, .is_log = true}},
      {R"({"type":"int","low":1,"high":8})",
       {.kind = Kind::integer, .low = 1, .high = 8, .step = 1}},
  };
  for (const Spelling& spelling : spellings) {
    const ParamDistribution read = parse_distribution(spelling.text, "here");
    EXPECT_EQ(read, spelling.expected) << spelling.text;
    EXPECT_EQ(parse_distribution(distribution_text(read), "here"), read);
  }
  EXPECT_EQ(distribution_text(spellings[0].expected),
            R"({"name":"IntDistribution","attributes":{"log":false,"step":2,"low":1,"high":9}})");
  EXPECT_EQ(error_of([] {
              parse_distribution(R"({"name":"Other","attributes":{}})", "here");
            }).exit_code(),
            ExitCode::refused);
}

}  // namespace
}  // namespace halmark
