// Many writers at once, and writers killed at any moment: no row that was acknowledged is lost, no
// number is given twice or left out.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "core/numeric/cast.hpp"
#include "core/numeric/random.hpp"
#include "tests/unit/study/study_fixture.hpp"

namespace halmark {
namespace {

using namespace test;

constexpr int writers = 8;
constexpr int trials_each = 1000;
constexpr int trials_together = 20;
constexpr std::uint64_t seed = 20261122;

class StudyFaults : public testing::TestWithParam<std::string> {
 protected:
  std::string location() const { return GetParam() + ':' + (folder_ / "a"); }
  ScratchFolder folder_;
};

// Asks and tells `trials_each` trials of its own, told apart by their parameter.
int write_trials(const std::string& location, int writer) {
  try {
    const auto store = open_study_store(location, StudyAccess::or_create);
    std::int64_t study = -1;
    store->transact([&](StudyTransaction& t) {
      const auto found = t.find("s");
      study = found ? found->id : t.create_study(two_objectives("s")).id;
    });
    for (int done = 0; done < trials_each; done += trials_together) {
      std::vector<TrialRow> rows;
      for (int i = 0; i < trials_together; ++i) {
        rows.push_back(running_row(writer * trials_each + done + i + 1));
      }
      store->transact([&](StudyTransaction& t) { t.create(study, rows); });
      std::vector<TrialChange> changes;
      for (const TrialRow& row : rows) {
        changes.push_back(completed(row.id, {row.params[0].internal, -row.params[0].internal}));
      }
      store->transact([&](StudyTransaction& t) { t.change(changes); });
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "writer %d: %s\n", writer, e.what());
    return 1;
  }
}

TEST_P(StudyFaults, eight_writers_lose_no_row_and_leave_no_gap) {
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = fork();
    if (child == 0) _exit(write_trials(location(), writer));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const auto store = open_study_store(location(), StudyAccess::existing);
  const StudySummary study = store->list().at(0);
  EXPECT_EQ(study.counts[as_size(TrialState::complete)], writers * trials_each);
  std::vector<bool> seen(writers * trials_each + 1);
  int number = 0;
  for (const TrialRow& row : all_trials(*store, study.info.id)) {
    ASSERT_EQ(row.number, number++);
    ASSERT_EQ(row.params.size(), 2u);
    const auto mark = as_size(row.params[0].internal);
    ASSERT_FALSE(seen.at(mark)) << "trial " << mark << " is there twice";
    seen[mark] = true;
    ASSERT_EQ(row.values, (std::vector<double>{as_double(mark), -as_double(mark)}));
  }
}

[[noreturn]] void write_forever(const std::string& location, std::uint32_t life, int fd) {
  try {
    const auto store = open_study_store(location, StudyAccess::existing);
    const std::int64_t study = store->list().at(0).info.id;
    for (std::uint32_t i = 1;; ++i) {
      std::vector<TrialRow> rows(1 + i % 5, running_row(life * 65536.0 + i));
      store->transact([&](StudyTransaction& t) { t.create(study, rows); });
      const TrialChange change = completed(rows[0].id, {1, 2});
      store->transact([&](StudyTransaction& t) { t.change({&change, 1}); });
      const int number = rows[0].number;
      if (write(fd, &number, sizeof number) != sizeof number) _exit(2);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "writer: %s\n", e.what());
    _exit(3);
  }
}

TEST_P(StudyFaults, a_kill_at_any_moment_loses_no_acknowledged_trial) {
  const char* text = std::getenv("HALMARK_KILLS");
  const std::uint32_t kills = text != nullptr ? static_cast<std::uint32_t>(std::atoi(text)) : 20;
  make_study(*open_study_store(location(), StudyAccess::or_create));
  std::vector<int> acknowledged;
  for (std::uint32_t life = 0; life < kills; ++life) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      write_forever(location(), life, ends[1]);
    }
    close(ends[1]);
    int number = 0;
    const std::uint64_t wanted = uniform_below(hash_u64(seed, 2 * life), 20);
    for (std::uint64_t i = 0; i < wanted && read(ends[0], &number, sizeof number) > 0; ++i) {
      acknowledged.push_back(number);
    }
    std::this_thread::sleep_for(
        std::chrono::microseconds(uniform_below(hash_u64(seed, 2 * life + 1), 5000)));
    kill(child, SIGKILL);
    while (read(ends[0], &number, sizeof number) > 0) acknowledged.push_back(number);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself in life " << life;
  }
  EXPECT_GT(acknowledged.size(), kills);
  const auto store = open_study_store(location(), StudyAccess::existing);
  const std::vector<TrialRow> rows = all_trials(*store, store->list().at(0).info.id);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].number, static_cast<int>(i));
    ASSERT_EQ(rows[i].params.size(), 2u) << "trial " << i << " is there in part";
  }
  for (const int number : acknowledged) {
    ASSERT_LT(as_size(number), rows.size());
    ASSERT_EQ(rows[as_size(number)].state, TrialState::complete) << number;
  }
}

INSTANTIATE_TEST_SUITE_P(BackEnds, StudyFaults, testing::Values("sqlite", "journal"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace halmark
