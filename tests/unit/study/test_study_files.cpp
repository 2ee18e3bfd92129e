// What each kind of study file has of its own: refusals, locks, broken ends.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "study/storage/journal_lock.hpp"
#include "study/storage/sqlite_salvage.hpp"
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
  EXPECT_THAT(error_of([&] { open("sqlite:" + (folder / "a")); }).line(),
              HasSubstr("not a database of studies"));
}

// As a process leaves it that was killed while it made the tables: pages in the file, and beside it
// the journal that takes them back.
TEST(StudySqlite, tables_that_were_not_finished_are_made_by_the_next_one) {
  const ScratchFolder folder;
  sqlite3* unfinished = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "a").c_str(), &unfinished), SQLITE_OK);
  const char* begin =
      "PRAGMA cache_size = 1; BEGIN; CREATE TABLE t(x);"
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
      "INSERT INTO t SELECT randomblob(1000) FROM n";
  ASSERT_EQ(sqlite3_exec(unfinished, begin, nullptr, nullptr, nullptr), SQLITE_OK);
  const auto leave = [&] {
    for (const std::string end : {"", "-journal"}) {
      write_file((folder / "b") + end, file_bytes((folder / "a") + end));
    }
  };
  leave();
  ASSERT_FALSE(file_bytes(folder / "b").empty());
  const std::string location = "sqlite:" + (folder / "b");
  EXPECT_THAT(error_of([&] { open_study_store(location, StudyAccess::existing); }).line(),
              HasSubstr("there are no studies"));
  leave();
  EXPECT_NO_THROW(make_study(*open(location)));
  sqlite3_close(unfinished);
}

// Further tables are others' business; code that runs within our transactions is not.
TEST(StudySqlite, triggers_and_views_are_refused_and_further_tables_are_not) {
  const ScratchFolder folder;
  const std::string path = folder / "a", location = "sqlite:" + path;
  make_study(*open(location));
  raw_sql(path, "CREATE TABLE mine(x); CREATE INDEX i ON mine(x)");
  EXPECT_EQ(open(location)->list().size(), 1u);
  for (const char* code : {"TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END",
                           "VIEW t AS SELECT * FROM trials"}) {
    raw_sql(path, std::string("CREATE ") + code);
    const Error error = error_of([&] { open(location); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_EQ(error.where(), path);
    EXPECT_THAT(error.line(), HasSubstr(" 't'"));
    EXPECT_THAT(error.remedy(), HasSubstr("halmark salvage " + path));
    raw_sql(path,
            std::string("DROP ") + std::string(code).substr(0, std::string(code).find(' ')) + " t");
  }
  EXPECT_EQ(open(location)->list().size(), 1u);
}

TEST(StudySqlite, a_trigger_that_came_meanwhile_stops_the_next_change) {
  const ScratchFolder folder;
  const auto store = open("sqlite:" + (folder / "a"));
  const std::int64_t study = make_study(*store);
  raw_sql(folder / "a", "CREATE TABLE mine(x)");
  std::vector<TrialRow> rows(1, running_row());
  store->transact([&](StudyTransaction& t) { t.create(study, rows); });
  raw_sql(folder / "a", "CREATE TRIGGER t BEFORE INSERT ON trials BEGIN SELECT RAISE(IGNORE); END");
  const Error error =
      error_of([&] { store->transact([&](StudyTransaction& t) { t.create(study, rows); }); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused) << error.line();
  EXPECT_THAT(error.line(), HasSubstr("a trigger 't'"));
  EXPECT_EQ(all_trials(*store, study).size(), 1u);
}

TEST(StudySqlite, a_file_that_went_away_is_noticed_at_the_next_change_and_what_was_stored_is_kept) {
  for (const bool is_replaced : {false, true}) {
    const ScratchFolder folder;
    const std::string path = folder / "a";
    const auto store = open("sqlite:" + path);
    const std::int64_t study = make_study(*store);
    std::vector<TrialRow> rows(1, running_row());
    store->transact([&](StudyTransaction& t) { t.create(study, rows); });
    std::filesystem::remove(path);
    if (is_replaced) make_study(*open("sqlite:" + path), "another");
    const Error error =
        error_of([&] { store->transact([&](StudyTransaction& t) { t.create(study, rows); }); });
    EXPECT_EQ(error.exit_code(), ExitCode::error) << error.line();
    EXPECT_EQ(error.where(), path);
    EXPECT_THAT(error.remedy(), HasSubstr(path + ".rescued"));
    EXPECT_THAT(error.remedy(), HasSubstr("the last change is not stored"));
    EXPECT_EQ(all_trials(*open("sqlite:" + path + ".rescued"), study).size(), 1u);
    if (is_replaced) {
      EXPECT_EQ(open("sqlite:" + path)->list().at(0).info.name, "another");
    }
  }
}

class StudySalvage : public testing::Test {
 protected:
  StudySalvage() {
    const auto store = open("sqlite:" + from_);
    const std::int64_t study = make_study(*store);
    std::vector<TrialRow> rows(40, running_row());
    store->transact([&](StudyTransaction& t) { t.create(study, rows); });
    std::vector<TrialChange> changes;
    for (const TrialRow& row : rows) changes.push_back(completed(row.id, {1.5, 2}));
    store->transact([&](StudyTransaction& t) { t.change(changes); });
  }
  ScratchFolder folder_;
  std::string from_ = folder_ / "a", to_ = folder_ / "b";
};

TEST_F(StudySalvage, keeps_every_trial_and_leaves_code_behind) {
  const std::vector<TrialRow> before = all_trials(*open("sqlite:" + from_), 1);
  raw_sql(from_,
          "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END; CREATE VIEW v "
          "AS SELECT 1");
  const std::string bytes = file_bytes(from_);
  EXPECT_TRUE(may_hold_studies(from_));
  const SalvagedStudies done = salvage_studies(from_, to_);
  EXPECT_EQ(done.left_out.size(), 2u);
  EXPECT_EQ(done.trials, 40);
  EXPECT_EQ(file_bytes(from_), bytes);
  const std::vector<TrialRow> after = all_trials(*open("sqlite:" + to_), 1);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].values, before[i].values);
    EXPECT_EQ(after[i].system, before[i].system);
    EXPECT_EQ(after[i].params.size(), 2u);
  }
  EXPECT_EQ(error_of([&] { salvage_studies(from_, to_); }).exit_code(), ExitCode::refused);
}

TEST_F(StudySalvage, leaves_out_rows_that_no_reader_takes) {
  raw_sql(from_,
          "UPDATE trials SET state = 'RUNING' WHERE trial_id = 3; UPDATE trial_params SET "
          "distribution_json = '{' WHERE trial_id = 5");
  const SalvagedStudies done = salvage_studies(from_, to_);
  EXPECT_EQ(done.trials, 39);
  EXPECT_GE(done.left_out.size(), 3u) << "the trial with what belongs to it, and two parameters";
  EXPECT_EQ(all_trials(*open("sqlite:" + to_), 1).size(), 39u);
}

// Optuna's tables have no checksums: a changed value that is one cannot be told. What is damaged
// beyond that is refused by name, and never a defect.
TEST_F(StudySalvage, flipped_bytes_are_read_or_refused_and_salvaged_as_far_as_can_be) {
  const std::string whole = file_bytes(from_);
  int refused = 0;
  for (std::size_t i = 0; i < 250; ++i) {
    const std::size_t at = i < 100 ? i : (i * 7919 * 131) % whole.size();
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string bytes = whole;
    bytes[at] = static_cast<char>(~bytes[at]);
    write_file(from_, bytes);
    std::filesystem::remove(to_);
    const auto attempt = [&](const std::function<void()>& body) {
      try {
        body();
      } catch (const Error& e) {
        EXPECT_EQ(e.exit_code(), ExitCode::refused) << e.line();
        ++refused;
      } catch (const std::exception& e) {
        ADD_FAILURE() << "a defect: " << e.what();
      }
    };
    attempt([&] {
      const auto store = open_study_store("sqlite:" + from_, StudyAccess::existing);
      for (const StudySummary& study : store->list()) all_trials(*store, study.info.id);
    });
    attempt([&] { salvage_studies(from_, to_); });
  }
  EXPECT_GT(refused, 50);
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

// It is read in blocks of a MiB: lines lie across their borders.
TEST_F(StudyJournal, a_journal_of_several_mebibytes_is_read_whole) {
  make_study(*open_journal());
  std::string lines;
  std::size_t trials = 0;
  for (; lines.size() < (3u << 20); ++trials) {
    lines +=
        R"({"op_code":4,"worker_id":"w","study_id":0,"datetime_start":"2026-11-21T10:20:30.5+00:00"})"
        "\n";
  }
  append(lines + R"({"op_code":4,"study)");
  const auto store = open_journal();
  EXPECT_EQ(all_trials(*store, 0).size(), trials);
  EXPECT_TRUE(store->take_notes().empty());
  append("\n");
  EXPECT_EQ(all_trials(*open_journal(), 0).size(), trials);
}

TEST_F(StudyJournal, a_line_is_limited_to_16_mib_on_both_sides) {
  make_study(*open_journal());
  const std::size_t line_max = 16u << 20;
  const std::string head = R"({"op_code":2,"worker_id":"w","study_id":0,"user_attr":{"a":")",
                    tail = R"("}})";
  const auto line = [&](std::size_t bytes) {
    return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
  };
  append(line(line_max) + "\n");
  EXPECT_EQ(open_journal()->list().size(), 1u);
  append(line(line_max + 1) + "\n");
  EXPECT_THAT(error_of([&] { open_journal()->list(); }).line(),
              HasSubstr("a line is longer than 16 MiB"));
}

TEST_F(StudyJournal, what_is_no_regular_file_or_too_large_is_refused_unopened) {
  std::filesystem::create_symlink("/dev/zero", path());
  EXPECT_THAT(error_of([&] { open_journal(); }).line(), HasSubstr("no regular file"));
  std::filesystem::remove(path());
  append("{");
  std::filesystem::resize_file(path(), (std::uintmax_t{1} << 30) + 1);
  EXPECT_THAT(error_of([&] { open_journal()->list(); }).line(),
              HasSubstr("the limit of a journal of studies is 1073741824"));
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
