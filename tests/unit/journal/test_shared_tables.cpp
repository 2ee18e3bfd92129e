#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>

#include "journal/postgresql/tables.hpp"
#include "journal/shared_store.hpp"
#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/postgres_server.hpp"

namespace halmark::journal {
namespace {

using namespace test;

// Tables as a made-up later version would have them; those of the present one are then older.
class SharedTables : public testing::Test {
 protected:
  void SetUp() override {
    if (PostgresServer::get() == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
    url_ = PostgresServer::get()->database();
    make_database(url_, 2);
    session_ = std::make_unique<postgresql::Session>(url_, postgresql::SessionWords{});
  }
  // Roles are of the whole server, and may be there.
  void make_role(const std::string& name) const {
    PostgresServer::get()->sql(url_, "CREATE ROLE " + name + " LOGIN");
  }
  std::string one(const char* sql) {
    std::string out;
    session_->read([&] { out = postgresql::text_at(session_->exec(sql)[0], 0); });
    return out;
  }

  std::string url_;
  std::unique_ptr<postgresql::Session> session_;
};

constexpr TableMigration label{"ALTER TABLE halmark.run ADD COLUMN label text NOT NULL DEFAULT ''"};
constexpr TableMigration note{
    "CREATE TABLE halmark.note(run bigint); INSERT INTO halmark.note SELECT id FROM halmark.run"};
constexpr TableMigration broken{"CREATE TABLE halmark.half(x int); SELECT no_such_column"};

TEST_F(SharedTables, older_ones_are_migrated_step_by_step_and_keep_their_rows) {
  const std::vector steps{label, note};
  prepare_tables(*session_, std::span(steps).first(1));
  EXPECT_EQ(one("SELECT schema_version FROM halmark.meta"), "2");
  prepare_tables(*session_, steps);
  prepare_tables(*session_, steps);
  EXPECT_EQ(one("SELECT schema_version FROM halmark.meta"), "3");
  EXPECT_EQ(one("SELECT count(*) FROM halmark.note"), "1") << "each step is taken once";
  EXPECT_EQ(one("SELECT count(*) FROM halmark.entry"), "2");
}

TEST_F(SharedTables, a_migration_that_fails_leaves_the_older_ones_whole) {
  const std::vector steps{label, broken};
  EXPECT_EQ(error_of([&] { prepare_tables(*session_, steps); }).exit_code(), ExitCode::error);
  EXPECT_EQ(one("SELECT schema_version FROM halmark.meta"), "1");
  EXPECT_EQ(one("SELECT count(*) FROM information_schema.columns WHERE table_schema = 'halmark' "
                "AND (column_name = 'label' OR table_name = 'half')"),
            "0");
  const auto store = open_store_read_only(url_);
  EXPECT_EQ(store->run_measurements(store->latest_run().value()).size(), 2U);
  store->require_sound();
}

TEST_F(SharedTables, migrated_ones_are_refused_to_who_does_not_know_them) {
  const std::vector steps{label};
  prepare_tables(*session_, steps);
  const Error error = error_of([&] { prepare_tables(*session_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), testing::HasSubstr("schema 2; this halmark knows up to 1"));
}

TEST_F(SharedTables, a_schema_that_an_administrator_made_is_filled) {
  const std::string url = PostgresServer::get()->database();
  make_role("writer");
  PostgresServer::get()->sql(url,
                             "CREATE SCHEMA halmark AUTHORIZATION writer; REVOKE CREATE ON "
                             "SCHEMA public FROM public");
  const std::string as_writer = url.substr(0, 13) + "writer" + url.substr(url.find('@'));
  EXPECT_EQ(make_database(as_writer, 2), 1);
}

TEST_F(SharedTables, agents_and_readers_need_few_rights) {
  const PostgresServer& server = *PostgresServer::get();
  make_role("agent");
  make_role("reader");
  ASSERT_TRUE(server.sql(
      url_,
      "GRANT USAGE ON SCHEMA halmark TO agent, "
      "reader; GRANT SELECT ON ALL TABLES IN SCHEMA halmark TO agent, reader; GRANT INSERT ON "
      "halmark.run, halmark.writer, halmark.entry, halmark.sample_block TO agent; GRANT UPDATE ON "
      "halmark.run, halmark.writer TO agent; GRANT USAGE ON ALL SEQUENCES IN SCHEMA halmark TO "
      "agent"));
  const auto as = [&](const std::string& role) {
    return url_.substr(0, url_.find("//") + 2) + role + url_.substr(url_.find('@'));
  };
  EXPECT_EQ(make_database(as("agent"), 2), 2);
  const auto store = open_store_read_only(as("reader"));
  EXPECT_EQ(store->run_measurements(2).size(), 2U);
  store->require_sound();
  EXPECT_EQ(error_of([&] { open_store(as("reader"))->begin_run(run_info()); }).exit_code(),
            ExitCode::error);
  EXPECT_EQ(server.value(url_, "SELECT count(*) FROM halmark.run"), "2");
}

// Killed around the commit, and away when the append asks: nobody knows whether the row is stored.
TEST_F(SharedTables, an_append_that_failed_and_is_tried_again_is_stored_once) {
  constexpr std::uint64_t rows = 25;
  PostgresServer& server = *PostgresServer::get();
  const auto store = open_shared_store(url_, "a");
  store->session().set_reconnect_limit(std::chrono::milliseconds(1));
  const std::int64_t run = store->find_or_begin_run(run_info("retried"));
  store->append(run, numbered_measurement(1));
  int failed = 0;
  for (std::uint64_t i = 2; i <= rows; ++i) {
    std::thread killer;
    bool is_acknowledged = true;
    try {
      const Measurement row = numbered_measurement(i);
      store->append_with(run, std::span(&row, 1), [&](postgresql::Session&) {
        if (killer.joinable()) return;
        killer = std::thread([&server, i] {
          std::this_thread::sleep_for(std::chrono::microseconds(5 * (i - 2)));
          server.kill_now();
        });
      });
    } catch (const postgresql::ServerLost&) {
      is_acknowledged = false;
    }
    ASSERT_TRUE(killer.joinable());
    killer.join();
    server.start_again();
    store->session().set_reconnect_limit(std::chrono::seconds(20));
    if (!is_acknowledged) store->append(run, numbered_measurement(i));
    store->session().set_reconnect_limit(std::chrono::milliseconds(1));
    failed += is_acknowledged ? 0 : 1;
  }
  store->session().set_reconnect_limit(std::chrono::seconds(20));
  std::vector<std::uint64_t> expected(rows), stored;
  std::iota(expected.begin(), expected.end(), 1U);
  for (const Measurement& m : store->run_measurements(run)) stored.push_back(m.seed);
  EXPECT_EQ(stored, expected);
  store->require_sound();
  std::printf("%d of %d appends failed\n", failed, static_cast<int>(rows) - 1);
}

}  // namespace
}  // namespace halmark::journal
