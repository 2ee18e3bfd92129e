// A writer is killed at random moments. What it acknowledged before must be there afterwards.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "core/numeric/random.hpp"
#include "journal_fixture.hpp"
#include "verify/database.hpp"

namespace halmark {
namespace {

using namespace test;

constexpr std::uint64_t seed = 20261121;
constexpr int kills_per_database = 20;  // then a fresh one, so that checking stays short

int kills() {
  const char* text = std::getenv("HALMARK_KILLS");
  return text != nullptr ? std::atoi(text) : 20;
}

std::uint64_t draw(int iteration, std::uint64_t purpose, std::uint64_t bound) {
  return uniform_below(hash_u64(hash_combine(seed, static_cast<std::uint64_t>(iteration)), purpose),
                       bound);
}

void acknowledge(int fd, std::uint64_t id) {
  if (write(fd, &id, sizeof id) != static_cast<ssize_t>(sizeof id)) _exit(2);
}

// Appends until it is killed: one row or several in a transaction, small and large, so that the
// -wal is copied back several times in one life.
[[noreturn]] void write_forever(const std::string& path, int iteration, int fd) {
  try {
    const std::unique_ptr<Store> store = open_store(path);
    const std::int64_t run = store->begin_run(run_info());
    std::uint64_t id = static_cast<std::uint64_t>(iteration) << 32;
    for (std::uint64_t i = 0;; ++i) {
      std::vector<Measurement> rows(1 + draw(iteration, 3 * i + 10, 4));
      for (Measurement& m : rows) {
        m = numbered_measurement(++id, static_cast<int>(draw(iteration, 3 * i + 11, 3000)));
      }
      if (rows.size() == 1) {
        store->append(run, rows.front());
      } else {
        store->append(run, std::span<const Measurement>(rows));
      }
      for (const Measurement& m : rows) acknowledge(fd, m.seed);
    }
  } catch (...) {
    _exit(3);
  }
}

struct Life {
  std::set<std::uint64_t> acknowledged;
  bool was_killed = false;
};

Life one_life(const std::string& path, int iteration) {
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    write_forever(path, iteration, pipe_ends[1]);
  }
  close(pipe_ends[1]);
  Life life;
  std::uint64_t id = 0;
  const std::uint64_t rows = draw(iteration, 0, 40);
  for (std::uint64_t i = 0; i < rows && read(pipe_ends[0], &id, sizeof id) > 0; ++i) {
    life.acknowledged.insert(id);
  }
  // Somewhere inside of the next call, or of the opening when no row was waited for.
  const std::uint64_t spins = draw(iteration, 1, 2000);
  for (std::uint64_t i = 0; i < spins; ++i) std::this_thread::yield();
  kill(child, SIGKILL);
  while (read(pipe_ends[0], &id, sizeof id) == static_cast<ssize_t>(sizeof id)) {
    life.acknowledged.insert(id);
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  life.was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return life;
}

std::set<std::uint64_t> stored_ids(const std::string& path) {
  std::set<std::uint64_t> out;
  const std::unique_ptr<Store> store = open_store_read_only(path);
  for (std::int64_t run = 1; run <= store->latest_run().value_or(0); ++run) {
    for (const Measurement& m : store->run_measurements(run)) out.insert(m.seed);
  }
  EXPECT_TRUE(store->damaged().empty());
  return out;
}

TEST(Kill, at_any_moment_loses_no_acknowledged_row) {
  std::printf("seed %llu, %d kills\n", static_cast<unsigned long long>(seed), kills());
  std::uint64_t acknowledged_rows = 0;
  std::unique_ptr<ScratchFolder> folder;
  std::set<std::uint64_t> acknowledged;
  for (int iteration = 0; iteration < kills(); ++iteration) {
    if (iteration % kills_per_database == 0) {
      folder = std::make_unique<ScratchFolder>();
      acknowledged.clear();
    }
    const std::string path = *folder / "a.db";
    const Life life = one_life(path, iteration);
    ASSERT_TRUE(life.was_killed) << "the writer ended by itself in iteration " << iteration;
    acknowledged.insert(life.acknowledged.begin(), life.acknowledged.end());
    acknowledged_rows += life.acknowledged.size();
    if (acknowledged.empty() && !std::filesystem::exists(path)) continue;
    for (const DatabaseFinding& f : check_database(path).findings) {
      ADD_FAILURE() << "iteration " << iteration << ": " << f.table << ' ' << f.row << ' '
                    << f.column << ": " << f.text;
    }
    const std::set<std::uint64_t> stored = stored_ids(path);
    for (const std::uint64_t id : acknowledged) {
      ASSERT_TRUE(stored.contains(id)) << "row " << id << " is lost, iteration " << iteration;
    }
  }
  EXPECT_GT(acknowledged_rows, static_cast<std::uint64_t>(kills())) << "the writers hardly lived";
}

}  // namespace
}  // namespace halmark
