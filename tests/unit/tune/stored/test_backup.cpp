// Backups: whole, verified, named when they are, the latest kept.
#include "tests/unit/error_of.hpp"
#include "tune/stored/backup.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "journal/store.hpp"
#include "study/storage/open.hpp"
#include "tests/unit/full_values.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::tune {
namespace {

namespace fs = std::filesystem;

const Verifier believes = [](const std::string&) {};

// With one run, and studies beside it.
std::string make_database(const test::ScratchFolder& folder) {
  const std::string path = folder / "r.db";
  open_store(path)->begin_run({.command = "halmark tune a.toml",
                               .plan_hash = "00aa",
                               .plan_text = "name = \"a\"\n",
                               .fingerprint = "machine-1",
                               .tool_version = "0.1",
                               .tool_build = "abc",
                               .started_utc = "2026-11-21T10:20:30Z"});
  open_study_store("sqlite:" + path + ".study", StudyAccess::or_create);
  return path;
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Backup, holds_what_the_database_holds_while_a_writer_has_it) {
  const test::ScratchFolder folder;
  const std::string path = make_database(folder);
  const auto writer = open_store(path);
  const Backup backup = back_up(path, {}, believes);
  ASSERT_EQ(backup.files.size(), 2u);
  EXPECT_EQ(fs::path(backup.files[0].to).parent_path().filename(), "backups");
  EXPECT_EQ(files_in(folder.path() / "backups"), 2u) << "nothing else is left there";
  EXPECT_EQ(open_store_read_only(backup.files[0].to)->run_info(1).command, "halmark tune a.toml");
  EXPECT_NO_THROW(open_study_store("sqlite:" + backup.files[1].to, StudyAccess::existing));
}

TEST(Backup, keeps_the_latest_and_leaves_other_files_alone) {
  const test::ScratchFolder folder;
  const std::string path = make_database(folder);
  fs::create_directory(folder / "b");
  test::write_file(folder / "b/r.db.mine", "x");
  test::write_file(folder / "b/r.db.2020-01-01T00:00:00Z", "the oldest");
  for (int i = 0; i < 3; ++i) back_up(path, folder / "b", believes, 3);
  EXPECT_TRUE(fs::exists(folder / "b/r.db.mine"));
  EXPECT_FALSE(fs::exists(folder / "b/r.db.2020-01-01T00:00:00Z"));
  EXPECT_EQ(files_in(folder / "b"), 1u + 3 + 3);
}

TEST(Backup, that_does_not_verify_has_no_name_and_removes_nothing) {
  const test::ScratchFolder folder;
  const std::string path = make_database(folder);
  for (int i = 0; i < 2; ++i) back_up(path, {}, believes, 2);
  const Error e = test::error_of([&] {
    back_up(
        path, {}, [](const std::string& copy) { throw refused("damaged", copy); }, 1);
  });
  EXPECT_EQ(e.exit_code(), ExitCode::refused);
  EXPECT_EQ(files_in(folder.path() / "backups"), 4u);
}

TEST(Backup, of_nothing_is_refused_and_before_a_first_night_it_is_none) {
  const test::ScratchFolder folder;
  EXPECT_EQ(test::error_of([&] { back_up(folder / "no.db", {}, believes); }).exit_code(),
            ExitCode::refused);
  EXPECT_EQ(nightly_backup(folder / "no.db", believes), "");
  const std::string server = "postgresql://me:secret@host/db";
  const Error e = test::error_of([&] { back_up(server, {}, believes); });
  EXPECT_THAT(e.line(), testing::HasSubstr("pg_dump"));
  EXPECT_THAT(e.line(), testing::Not(testing::HasSubstr("secret")));
  EXPECT_EQ(nightly_backup(server, believes), "");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Backup, that_fails_ends_no_night) {
  const test::ScratchFolder folder;
  test::write_file(folder / "r.db", "no database");
  EXPECT_THAT(nightly_backup(folder / "r.db", believes), testing::HasSubstr("no backup"));
}

}  // namespace
}  // namespace halmark::tune
