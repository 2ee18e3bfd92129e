// How a writer of a journal waits for another one.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "study/storage/journal_lock.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// A tenth of the time at most is work, whether the lock or its link is another's.
TEST(StudyLockWait, is_spent_asleep) {
  const test::ScratchFolder folder;
  const std::string path = folder / "j.log";
  const int own = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const auto refusal = [&] {
    const double before = cpu_s();
    const Error error = test::error_of([&] {
      const journal::StudyJournalLock lock(path, own, {.grace_s = 5, .wait_max_s = 0.5});
    });
    EXPECT_LT(cpu_s() - before, 0.1);
    EXPECT_EQ(error.exit_code(), ExitCode::error);
    return error.line();
  };
  const int other = open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_THAT(refusal(), testing::HasSubstr("writes this journal and does not end"));
  close(other);
  test::write_file(path + ".lock", "");
  EXPECT_THAT(refusal(), testing::HasSubstr("another process keeps the lock of this journal"));
  std::filesystem::remove(path + ".lock");
  const journal::StudyJournalLock lock(path, own, {.grace_s = 5, .wait_max_s = 0.5});
  EXPECT_EQ(lock.note(), "") << "a wait that ended in vain keeps nothing";
  close(own);
}

}  // namespace
}  // namespace halmark
