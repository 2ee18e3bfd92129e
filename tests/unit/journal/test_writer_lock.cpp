#include "journal/sqlite/writer_lock.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::journal {
namespace {

using namespace test;

TEST(WriterLock, a_second_writer_is_refused_and_told_who_writes) {
  const ScratchFolder folder;
  const WriterLock first(folder / "a.db");
  const Error error = error_of([&] { WriterLock second(folder / "a.db", 0.2); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), folder / "a.db");
  EXPECT_NE(error.line().find("pid " + std::to_string(getpid()) + " on "), std::string::npos)
      << error.line();
  EXPECT_NE(error.line().find("--db"), std::string::npos) << error.line();
}

TEST(WriterLock, the_store_holds_it_while_it_is_open_for_writing) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  {
    const auto store = open_store(path);
    EXPECT_EQ(error_of([&] { WriterLock second(path, 0.0); }).exit_code(), ExitCode::refused);
  }
  EXPECT_NO_THROW(WriterLock(path, 0.0));
  const auto reader = open_store_read_only(path);
  EXPECT_NO_THROW(WriterLock(path, 0.0)) << "readers are no writers";
}

TEST(WriterLock, another_database_is_another_role) {
  const ScratchFolder folder;
  const WriterLock first(folder / "a.db");
  EXPECT_NO_THROW(WriterLock(folder / "b.db", 0.0));
}

TEST(WriterLock, a_holder_that_was_killed_holds_nothing) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const WriterLock lock(path);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  close(ready[1]);
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  const Error error = error_of([&] { WriterLock second(path, 0.0); });
  EXPECT_NE(error.line().find("pid " + std::to_string(child)), std::string::npos) << error.line();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(WriterLock(path, 0.0));
}

TEST(WriterLock, waits_for_a_holder_that_ends_in_time) {
  const ScratchFolder folder;
  auto first = std::make_unique<WriterLock>(folder / "a.db");
  std::thread ender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first.reset();
  });
  EXPECT_NO_THROW(WriterLock(folder / "a.db", 10.0));
  ender.join();
}

TEST(WriterLock, gives_up_when_its_wait_is_over_and_not_before) {
  const ScratchFolder folder;
  const WriterLock first(folder / "a.db");
  const auto begin = std::chrono::steady_clock::now();
  error_of([&] { WriterLock(folder / "a.db", 0.4); });
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
}

TEST(WriterLock, names_its_holder_and_nothing_of_the_one_before) {
  const ScratchFolder folder;
  write_file(folder / "a.db.lock", "pid " + std::string(200, 'x') + "\n\n");
  const WriterLock lock(folder / "a.db");
  const std::string holder = file_bytes(folder / "a.db.lock");
  EXPECT_THAT(holder, testing::MatchesRegex("pid " + std::to_string(getpid()) +
                                            " on [^ ]+ since 20..-..-..T..:..:..Z\n"));
  EXPECT_THAT(error_of([&] { WriterLock(folder / "a.db", 0.0); }).line(),
              testing::HasSubstr(holder.substr(0, holder.size() - 1)));
}

TEST(WriterLock, leaves_no_file_behind) {
  const ScratchFolder folder;
  { const WriterLock lock(folder / "a.db"); }
  EXPECT_EQ(folder.names(), std::set<std::string>());
}

// One that waits has opened the file which the holder removes: both of two that come then must not
// hold a lock each.
TEST(WriterLock, of_many_that_take_turns_one_holds_it_at_a_time) {
  const ScratchFolder folder;
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        const WriterLock lock(folder / "a.db", 30);
        most = std::max(most.load(), ++inside);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST(WriterLock, a_folder_that_is_not_there_is_an_error_that_names_the_lock) {
  const ScratchFolder folder;
  const Error error = error_of([&] { WriterLock(folder / "no/a.db", 0.0); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_EQ(error.where(), folder / "no/a.db.lock");
}

TEST(UtcNow, is_the_time_of_greenwich) {
  std::tm parts{};
  ASSERT_NE(strptime(utc_now().c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts), nullptr);
  EXPECT_NEAR(std::difftime(timegm(&parts), std::time(nullptr)), 0, 5);
}

TEST(UtcNow, is_written_as_iso_8601) {
  EXPECT_THAT(utc_now(), testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST(WriterLock, is_told_to_who_only_looks) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db";
  EXPECT_EQ(writer_of(path), "");
  {
    const WriterLock lock(path);
    EXPECT_THAT(writer_of(path), testing::StartsWith("pid " + std::to_string(getpid()) + " on " +
                                                     host_name() + " since 20"));
    EXPECT_THAT(writer_of(path), testing::EndsWith("Z")) << "without the end of its line";
  }
  EXPECT_EQ(writer_of(path), "");
  write_file(path + ".lock", "pid 7 on host since then\n");
  EXPECT_EQ(writer_of(path), "") << "left by one that was killed";
  EXPECT_EQ(folder.names(), std::set<std::string>{"a.db.lock"});
}

TEST(WriterLock, is_a_file_that_a_writer_made_and_nothing_else) {
  const ScratchFolder folder;
  const std::string path = folder / "a.db", lock = path + ".lock";
  const auto refusal = [&] { return error_of([&] { WriterLock(path, 0.0); }); };
  write_file(lock, "my notes");
  EXPECT_EQ(refusal().exit_code(), ExitCode::refused);
  EXPECT_EQ(refusal().where(), lock);
  EXPECT_THAT(refusal().line(), testing::HasSubstr("this is no lock of one"));
  EXPECT_EQ(file_bytes(lock), "my notes");
  EXPECT_EQ(writer_of(path), "");
  std::filesystem::remove(lock);
  ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
  EXPECT_THAT(refusal().line(), testing::HasSubstr("this is no lock of one"));
  std::filesystem::remove(lock);
  std::filesystem::create_symlink(folder / "elsewhere", lock);
  EXPECT_EQ(refusal().exit_code(), ExitCode::refused);
  EXPECT_THAT(refusal().line(), testing::HasSubstr("is a symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST(WriterLock, of_an_unknown_holder_is_one_all_the_same) {
  const ScratchFolder folder;
  const WriterLock first(folder / "a.db");
  std::filesystem::resize_file(folder / "a.db.lock", 0);
  EXPECT_THAT(error_of([&] { WriterLock(folder / "a.db", 0.0); }).line(),
              testing::HasSubstr("writes this database: an unknown process"));
}

// One that lost its file to another holder leaves that one's alone.
TEST(WriterLock, removes_no_other_ones_file) {
  const ScratchFolder folder;
  {
    const WriterLock lock(folder / "a.db");
    std::filesystem::remove(folder / "a.db.lock");
    write_file(folder / "a.db.lock", "pid 7 on host since then\n");
  }
  EXPECT_EQ(file_bytes(folder / "a.db.lock"), "pid 7 on host since then\n");
}

// 2026-11-21T10:20:30Z is 20778 days and 37230 seconds after 1970-01-01.
TEST(UtcText, counts_from_1970) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(20778LL * 86400 + 37230), "2026-11-21T10:20:30Z");
}

}  // namespace
}  // namespace halmark::journal
