// What happens to a database while it is written: foreign code in it, and another file in its
// place.
#include <gmock/gmock.h>

#include <filesystem>

#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Writer : public testing::Test {
 protected:
  // Two rows are stored; what follows comes while the writer is at work.
  Writer() {
    run_ = store_->begin_run(run_info());
    for (std::uint64_t i = 1; i <= 2; ++i) store_->append(run_, numbered_measurement(i));
  }

  Error error_of_the_next_row() {
    return error_of([&] { store_->append(run_, numbered_measurement(3)); });
  }

  static std::vector<std::uint64_t> seeds_in(const std::string& path) {
    const auto reader = open_store_read_only(path);
    std::vector<std::uint64_t> out;
    for (const Measurement& m : reader->run_measurements(1)) out.push_back(m.seed);
    reader->require_sound();
    return out;
  }

  ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
  std::unique_ptr<Store> store_ = open_store(path_);
  std::int64_t run_ = 0;
};

TEST_F(Writer, notices_a_trigger_that_came_meanwhile_and_stores_nothing_more) {
  for (const char* body : {"BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END",
                           "AFTER INSERT ON entry BEGIN UPDATE entry SET body = '{}'; END"}) {
    raw_sql(path_, std::string("CREATE TRIGGER evil ") + body);
    const Error error = error_of_the_next_row();
    EXPECT_EQ(error.exit_code(), ExitCode::refused) << error.line();
    EXPECT_THAT(error.line(), HasSubstr("a trigger 'evil'"));
    EXPECT_THAT(error.remedy(), HasSubstr("halmark salvage"));
    raw_sql(path_, "DROP TRIGGER evil");
    EXPECT_EQ(seeds_in(path_), (std::vector<std::uint64_t>{1, 2}));
  }
  store_->append(run_, numbered_measurement(3));
  EXPECT_EQ(seeds_in(path_), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Writer, begins_no_run_where_a_trigger_came_meanwhile) {
  raw_sql(path_, "CREATE TRIGGER evil AFTER INSERT ON run BEGIN UPDATE run SET command = 'x'; END");
  EXPECT_EQ(error_of([&] { store_->begin_run(run_info("b")); }).exit_code(), ExitCode::refused);
  raw_sql(path_, "DROP TRIGGER evil");
  EXPECT_EQ(open_store_read_only(path_)->latest_run(), run_);
}

struct Change {
  const char* name;
  void (*make)(const ScratchFolder& folder, const std::string& path);
  const char* says;
};

class ChangedPlace : public Writer, public testing::WithParamInterface<Change> {};

TEST_P(ChangedPlace, is_noticed_at_the_next_commit_and_no_row_is_lost) {
  GetParam().make(folder_, path_);
  const Error error = error_of_the_next_row();
  EXPECT_EQ(error.exit_code(), ExitCode::error) << error.line();
  EXPECT_EQ(error.where(), path_);
  EXPECT_THAT(error.line(), HasSubstr(GetParam().says));
  EXPECT_THAT(error.remedy(), HasSubstr(path_ + ".rescued"));
  EXPECT_EQ(seeds_in(path_ + ".rescued"), (std::vector<std::uint64_t>{1, 2, 3}));
  const Error again = error_of_the_next_row();
  EXPECT_EQ(again.line(), error.line()) << "nothing more is written";
  store_.reset();
  EXPECT_EQ(seeds_in(path_ + ".rescued"), (std::vector<std::uint64_t>{1, 2, 3}));
}

INSTANTIATE_TEST_SUITE_P(
    Files, ChangedPlace,
    testing::Values(
        Change{"deleted", [](auto&, auto& path) { fs::remove(path); }, "was deleted"},
        Change{"deleted_with_its_log",
               [](auto&, auto& path) {
                 for (const char* rest : {"", "-wal", "-shm"}) fs::remove(path + rest);
               },
               "was deleted"},
        Change{"log_deleted", [](auto&, auto& path) { fs::remove(path + "-wal"); }, "-wal"},
        Change{"moved", [](auto& folder, auto& path) { fs::rename(path, folder / "b.db"); },
               "was moved away"},
        Change{"replaced",
               [](auto& folder, auto& path) {
                 make_database(folder / "b.db", 7);
                 fs::rename(folder / "b.db", path);
               },
               "was replaced by another file"},
        Change{"moved_and_replaced",
               [](auto& folder, auto& path) {
                 fs::rename(path, folder / "b.db");
                 make_database(folder / "c.db", 7);
                 fs::copy_file(folder / "c.db", path);
               },
               "moved away and replaced"}),
    [](const auto& info) { return std::string(info.param.name); });

// `cp other.db r.db`: the same file, other bytes.
TEST_F(Writer, notices_what_was_copied_over_the_file_in_place) {
  make_database(folder_ / "b.db", 7);
  // While the log holds every page of so small a file, nothing of the copy would be seen.
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &reader), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(reader, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(reader);
  fs::copy_file(folder_ / "b.db", path_, fs::copy_options::overwrite_existing);
  const Error error = error_of_the_next_row();
  EXPECT_EQ(error.exit_code(), ExitCode::error) << error.line();
  EXPECT_THAT(error.line(), HasSubstr("was overwritten by another program"));
  EXPECT_THAT(error.remedy(), HasSubstr("(2) are lost, because they could not be copied"))
      << "the copy took their place";
  EXPECT_FALSE(fs::exists(path_ + ".rescued"));
  store_.reset();
  const auto other = open_store_read_only(path_);
  EXPECT_EQ(other->run_measurements(1).size(), 7u);
  EXPECT_NO_THROW(other->require_sound());
}

TEST_F(Writer, notices_a_file_that_was_emptied_in_place) {
  fs::resize_file(path_, 0);
  EXPECT_THAT(error_of_the_next_row().line(), HasSubstr("was overwritten by another program"));
  EXPECT_EQ(seeds_in(path_ + ".rescued"), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(Writer, goes_on_where_a_file_was_only_touched_or_read) {
  fs::last_write_time(path_, fs::file_time_type::clock::now());
  store_->append(run_, numbered_measurement(3));
  raw_sql(path_, "PRAGMA wal_checkpoint");
  store_->append(run_, numbered_measurement(4));
  EXPECT_EQ(seeds_in(path_), (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(Writer, says_what_is_lost_where_nothing_can_be_kept) {
  fs::create_directory(folder_ / "deep");
  const std::string path = folder_ / "deep/a.db";
  const auto store = open_store(path);
  const std::int64_t run = store->begin_run(run_info());
  store->append(run, numbered_measurement(1));
  fs::remove_all(folder_ / "deep");
  const Error error = error_of([&] { store->append(run, numbered_measurement(2)); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_THAT(error.line(), HasSubstr("was deleted"));
  EXPECT_THAT(error.remedy(), HasSubstr("the rows of this command (2) are lost"));
}

TEST_F(Writer, leaves_the_database_that_took_its_place_alone) {
  make_database(folder_ / "b.db", 7);
  fs::rename(folder_ / "b.db", path_);
  error_of_the_next_row();
  store_.reset();
  const auto other = open_store_read_only(path_);
  EXPECT_EQ(other->run_measurements(1).size(), 7u);
  EXPECT_NO_THROW(other->require_sound());
}

TEST_F(Writer, goes_on_while_others_read_and_copy) {
  for (std::uint64_t i = 3; i <= 6; ++i) {
    store_->append(run_, numbered_measurement(i));
    EXPECT_EQ(seeds_in(path_).size(), i);
    fs::copy_file(path_, folder_ / ("copy" + std::to_string(i)));
  }
}

TEST_F(Writer, keeps_what_is_rescued_under_a_name_that_is_free) {
  write_file(path_ + ".rescued", "mine");
  write_file(path_ + ".rescued-2", "mine too");
  fs::remove(path_);
  EXPECT_THAT(error_of_the_next_row().remedy(), HasSubstr("all are in " + path_ + ".rescued-3"));
  EXPECT_EQ(file_bytes(path_ + ".rescued-2"), "mine too");
  EXPECT_EQ(seeds_in(path_ + ".rescued-3"), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Writer, says_whether_the_last_row_is_among_those_that_are_kept) {
  fs::remove(path_);
  EXPECT_THAT(error_of_the_next_row().remedy(), HasSubstr("the last one included"));
}

TEST_F(Writer, leaves_no_log_beside_a_name_that_it_lost) {
  fs::rename(path_, folder_ / "b.db");
  error_of_the_next_row();
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  EXPECT_FALSE(fs::exists(path_ + "-shm"));
}

TEST_F(Writer, adds_no_row_to_a_run_that_is_not_there) {
  const Error error = error_of([&] { store_->append(9, numbered_measurement(3)); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), path_);
  store_->append(run_, numbered_measurement(3));
  EXPECT_EQ(seeds_in(path_), (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(Writer, gives_no_row_the_samples_of_one_that_is_gone) {
  raw_sql(path_, "PRAGMA foreign_keys = OFF; INSERT INTO sample_block VALUES (3, x'00')");
  const Error error = error_of_the_next_row();
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("samples of a row that is gone lie where those of entry 3"));
  raw_sql(path_, "DELETE FROM sample_block WHERE entry = 3");
  store_->append(run_, numbered_measurement(3));
  EXPECT_EQ(seeds_in(path_), (std::vector<std::uint64_t>{1, 2, 3}));
}

// The greatest number that SQLite has leaves it to draw another one.
TEST_F(Writer, numbers_rows_in_their_order_or_not_at_all) {
  raw_sql(path_,
          "PRAGMA foreign_keys = OFF; UPDATE entry SET id = 9223372036854775807 WHERE id = 2");
  const Error error = error_of_the_next_row();
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(),
              HasSubstr("entry 9223372036854775807 leaves no number for the next row"));
}

TEST_F(Writer, begins_no_run_under_the_number_of_one_that_is_gone) {
  raw_sql(path_, "PRAGMA foreign_keys = OFF; UPDATE entry SET run = 2 WHERE id = 2");
  const Error error = error_of([&] { store_->begin_run(run_info("b")); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("run 2"));
}

}  // namespace
}  // namespace halmark
