// Faults of a journal that many write: killed writers, a killed server, edits behind its back.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <set>
#include <thread>

#include "core/numeric/cast.hpp"
#include "core/numeric/random.hpp"
#include "journal/shared_store.hpp"
#include "journal_fixture.hpp"
#include "tests/unit/postgres_server.hpp"
#include "verify/database.hpp"

namespace halmark {
namespace {

using namespace test;

constexpr std::uint64_t seed = 20261127;
constexpr int writers_at_once = 4;

int kills() {
  const char* text = std::getenv("HALMARK_KILLS");
  return text != nullptr ? std::atoi(text) : 20;
}

std::uint64_t draw(std::uint64_t what, std::uint64_t bound) {
  return uniform_below(hash_u64(hash_combine(seed, what), 1), bound);
}

// A process that appends to the run of run_info() until it is killed, and says each row after its
// append returned.
class Writer {
 public:
  Writer(const std::string& url, std::uint64_t number) {
    int ends[2];
    if (pipe(ends) != 0) return;
    child_ = fork();
    if (child_ == 0) write_forever(url, number << 32, ends[1]);
    close(ends[1]);
    said_ = ends[0];
  }

  // Waits for `rows` more.
  void hear(std::uint64_t rows) {
    std::uint64_t id = 0;
    for (std::uint64_t i = 0; i < rows && read(said_, &id, sizeof id) > 0; ++i) heard_.insert(id);
  }
  const std::set<std::uint64_t>& end() {
    kill(child_, SIGKILL);
    hear(~std::uint64_t{});
    int status = 0;
    waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "a writer ended by itself: " << WEXITSTATUS(status);
    close(said_);
    return heard_;
  }

 private:
  [[noreturn]] static void write_forever(const std::string& url, std::uint64_t id, int fd) {
    try {
      const auto store = open_shared_store(url, this_node());
      const std::int64_t run = store->find_or_begin_run(run_info());
      for (;;) {
        ++id;
        const int samples = static_cast<int>(draw(id, 300));
        store->append(run, numbered_measurement(id, samples));
        if (write(fd, &id, sizeof id) != static_cast<ssize_t>(sizeof id)) _exit(2);
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(3);
    }
  }

  pid_t child_ = -1;
  int said_ = -1;
  std::set<std::uint64_t> heard_;
};

class SharedFaults : public testing::Test {
 protected:
  void SetUp() override {
    server_ = PostgresServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
    url_ = server_->database();
  }

  // Every acknowledged row once, every row whole, every chain unbroken.
  void expect_kept(const std::set<std::uint64_t>& acknowledged) const {
    for (const DatabaseFinding& f : check_database(url_).findings) {
      ADD_FAILURE() << f.table << ' ' << f.row << ' ' << f.column << ": " << f.text;
    }
    std::multiset<std::uint64_t> stored;
    for (const Measurement& m : open_store_read_only(url_)->run_measurements(1)) {
      stored.insert(m.seed);
    }
    EXPECT_EQ(std::set(stored.begin(), stored.end()).size(), stored.size()) << "a row is twice";
    for (const std::uint64_t id : acknowledged) EXPECT_TRUE(stored.contains(id)) << id;
  }

  // "table column" of what verify finds after the edit of a database of two writers, of which the
  // first has entries a run and more.
  std::vector<std::string> found_after(const std::string& edit) const {
    make_database(url_, 3);
    open_store(url_)->append(1, numbered_measurement(4));
    EXPECT_TRUE(check_database(url_).findings.empty());
    EXPECT_TRUE(server_->sql(url_, edit)) << edit;
    std::vector<std::string> out;
    for (const DatabaseFinding& f : check_database(url_).findings) {
      out.push_back(f.table + ' ' + std::to_string(f.row) + ' ' + f.column);
    }
    return out;
  }
  std::int64_t entry(const std::string& which) const {
    return std::stoll(server_->value(url_, "SELECT " + which + "(id) FROM halmark.entry"));
  }

  PostgresServer* server_ = nullptr;
  std::string url_;
};

TEST_F(SharedFaults, killed_writers_lose_no_acknowledged_row) {
  std::set<std::uint64_t> acknowledged;
  std::uint64_t number = 0;
  for (int round = 0; round * writers_at_once < kills(); ++round) {
    std::vector<Writer> writers;
    for (int i = 0; i < writers_at_once; ++i) writers.emplace_back(url_, ++number);
    for (Writer& writer : writers) writer.hear(draw(number, 8));
    for (Writer& writer : writers) {
      for (std::uint64_t i = draw(++number, 2000); i > 0; --i) std::this_thread::yield();
      acknowledged.merge(std::set(writer.end()));
    }
  }
  std::printf("%d kills, %zu rows acknowledged\n", kills(), acknowledged.size());
  EXPECT_GT(acknowledged.size(), as_size(kills()) / 4) << "they hardly lived";
  expect_kept(acknowledged);
}

TEST_F(SharedFaults, a_server_that_is_killed_and_restarted_loses_no_row_and_stores_none_twice) {
  std::vector<Writer> writers;
  for (std::uint64_t i = 1; i <= writers_at_once; ++i) writers.emplace_back(url_, i);
  for (Writer& writer : writers) writer.hear(3);
  for (int restart = 0; restart < 3; ++restart) {
    server_->kill_now();
    server_->start_again();
    for (Writer& writer : writers) writer.hear(20);
  }
  std::set<std::uint64_t> acknowledged;
  for (Writer& writer : writers) acknowledged.merge(std::set(writer.end()));
  EXPECT_GE(acknowledged.size(), 4U * 63U);
  expect_kept(acknowledged);
}

TEST_F(SharedFaults, sixty_four_connections_write_one_run) {
  constexpr int connections = 64, rows_each = 5;
  std::vector<std::thread> threads;
  std::atomic<int> failed = 0;
  std::vector<std::unique_ptr<SharedStore>> stores;
  for (int i = 0; i < connections; ++i) {
    stores.push_back(open_shared_store(url_, "node " + std::to_string(i)));
  }
  const std::int64_t run = stores.front()->find_or_begin_run(run_info());
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] {
      try {
        for (int row = 0; row < rows_each; ++row) {
          stores[as_size(i)]->append(
              run, numbered_measurement(static_cast<std::uint64_t>(i * rows_each + row + 1)));
        }
      } catch (const std::exception& e) {
        ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("%d rows by %d connections in %.2f s\n", connections * rows_each, connections, s);
  EXPECT_EQ(failed, 0);
  std::set<std::uint64_t> all;
  for (std::uint64_t i = 1; i <= connections * rows_each; ++i) all.insert(i);
  expect_kept(all);
}

TEST_F(SharedFaults, verify_names_the_row_and_column_of_an_edit) {
  const auto found = found_after(
      "UPDATE halmark.entry SET body = replace(body, '1000.25', '900.25') WHERE id = (SELECT "
      "min(id) FROM halmark.entry)");
  const std::string first = "entry " + std::to_string(entry("min"));
  EXPECT_THAT(found, testing::ElementsAre(first + " checksum", first + " chain"));
}

TEST_F(SharedFaults, verify_names_the_chain_of_a_deleted_row) {
  const auto found = found_after(
      "DELETE FROM halmark.sample_block WHERE entry = (SELECT min(id) FROM halmark.entry); DELETE "
      "FROM halmark.entry WHERE id = (SELECT min(id) FROM halmark.entry)");
  EXPECT_THAT(found, testing::ElementsAre("entry " + std::to_string(entry("min")) + " chain"));
}

TEST_F(SharedFaults, verify_names_the_writer_whose_last_row_is_gone) {
  const auto found = found_after(
      "DELETE FROM halmark.sample_block WHERE entry = (SELECT max(id) FROM halmark.entry); DELETE "
      "FROM halmark.entry WHERE id = (SELECT max(id) FROM halmark.entry)");
  const std::string last = server_->value(url_, "SELECT max(id) FROM halmark.writer");
  EXPECT_THAT(found, testing::ElementsAre("writer " + last + " chain"));
}

TEST_F(SharedFaults, verify_names_a_run_whose_writer_is_gone) {
  const auto found = found_after(
      "DELETE FROM halmark.sample_block WHERE entry = (SELECT max(id) FROM halmark.entry); DELETE "
      "FROM halmark.entry WHERE id = (SELECT max(id) FROM halmark.entry); DELETE FROM "
      "halmark.writer WHERE id = (SELECT max(id) FROM halmark.writer)");
  EXPECT_THAT(found, testing::ElementsAre("run 1 chain"));
}

TEST_F(SharedFaults, verify_names_samples_and_columns_that_were_changed) {
  const auto found = found_after(
      "UPDATE halmark.sample_block SET bytes = bytes || '\\x00' WHERE entry = (SELECT max(id) FROM "
      "halmark.entry); UPDATE halmark.run SET fingerprint = 'other'");
  EXPECT_THAT(found,
              testing::IsSupersetOf({"entry " + std::to_string(entry("max")) + " samples",
                                     std::string("run 1 checksum"), std::string("run 1 chain")}));
}

TEST_F(SharedFaults, a_head_that_was_noted_between_two_writers_is_found_again) {
  make_database(url_, 2);
  const std::string noted = open_store_read_only(url_)->chain_head(1);
  open_store(url_)->append(1, numbered_measurement(3));
  const DatabaseCheck check = check_database(url_, NotedHead{noted, 1});
  ASSERT_TRUE(check.noted);
  EXPECT_EQ(check.noted->rows_behind, 1);
  EXPECT_EQ(check.heads[0].chain, open_store_read_only(url_)->chain_head(1));
  EXPECT_TRUE(check.findings.empty());
  EXPECT_FALSE(check_database(url_, NotedHead{std::string(64, '0'), 1}).findings.empty());
}

}  // namespace
}  // namespace halmark
