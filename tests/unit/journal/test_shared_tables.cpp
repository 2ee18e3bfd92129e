#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>

#include "journal/check.hpp"
#include "journal/postgresql/rows.hpp"
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
    session_->read([&] { out = session_->exec(sql)[0][0].text(); });
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
    if (is_acknowledged) {
      store->run_info(run);  // killed behind the answer: comes back before the next row
    } else {
      store->append(run, numbered_measurement(i));
    }
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

TEST(Bytea, is_hexadecimal_text_and_back) {
  const std::string bytes("\x00\x0a\x9f\xff z", 6);
  EXPECT_EQ(postgresql::bytea_text(bytes), "\\x000a9fff207a");
  EXPECT_EQ(postgresql::bytea_bytes("\\x000a9fff207a"), bytes);
  EXPECT_EQ(postgresql::bytea_text(""), "\\x");
  EXPECT_EQ(postgresql::bytea_bytes("\\x"), "");
  EXPECT_EQ(postgresql::bytea_bytes("000a"), "") << "another format";
}

// Rows come 512 at a time.
TEST_F(SharedTables, rows_of_several_answers_are_all_there_in_order) {
  const auto store = open_store(url_);
  for (const int rows : {511, 512, 513, 1024, 1030}) {
    const std::int64_t run = store->begin_run(run_info(std::to_string(rows)));
    std::vector<Measurement> all;
    for (int i = 1; i <= rows; ++i) all.push_back(numbered_measurement(std::uint64_t(i), 0));
    store->append(run, all);
    const std::vector<Measurement> back = store->run_measurements(run);
    ASSERT_EQ(back.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(back[i].seed, i + 1);
  }
  EXPECT_EQ(store->case_figures(full_case().key(), 700).size(), 700u);
  store->require_sound();
}

TEST_F(SharedTables, a_rule_on_them_is_refused_to_writers_and_named_to_checkers) {
  PostgresServer::get()->sql(url_,
                             "CREATE RULE r AS ON INSERT TO halmark.entry DO INSTEAD NOTHING");
  const Error error = error_of([&] { open_store(url_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), testing::HasSubstr("this database has the rule r on entry"));
  EXPECT_THAT(error.remedy(), testing::HasSubstr("rows are stored as they are given"));
  EXPECT_THAT(open_snapshot(url_)->read().foreign_parts,
              testing::ElementsAre("the rule r on entry"));
}

TEST_F(SharedTables, that_do_not_say_their_version_are_refused) {
  for (const char* edit :
       {"UPDATE halmark.meta SET schema_version = 0", "DELETE FROM halmark.meta"}) {
    PostgresServer::get()->sql(url_, edit);
    const Error error = error_of([&] { open_store_read_only(url_); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), testing::HasSubstr("does not say which schema it has"));
    EXPECT_EQ(error.remedy(), "restore a backup");
  }
}

// Rows 1 and 2 are the writer's and its rows' numbers alike: 1 the writer, 2 and 3 the rows.
TEST_F(SharedTables, rows_that_lack_what_they_name_are_told_with_what_it_is) {
  PostgresServer::get()->sql(
      url_,
      "SET session_replication_role = replica; INSERT INTO halmark.sample_block VALUES (77, ''); "
      "UPDATE halmark.entry SET run = 9 WHERE id = 2; UPDATE halmark.entry SET writer = 8 WHERE id "
      "= 3; UPDATE halmark.writer SET run = 7 WHERE id = 1");
  std::vector<std::string> orphans;
  for (const auto& o : open_snapshot(url_)->read().orphans) {
    orphans.push_back(o.table + ' ' + std::to_string(o.row) + ' ' + o.column + ' ' + o.parent);
  }
  EXPECT_THAT(orphans, testing::UnorderedElementsAre("entry 2 run run", "entry 2 writer writer",
                                                     "entry 3 writer writer", "writer 1 run run",
                                                     "sample_block 77 entry entry"));
}

TEST_F(SharedTables, damage_says_how_to_see_all_of_it) {
  PostgresServer::get()->sql(url_, "UPDATE halmark.entry SET checksum = 1");
  const auto store = open_store_read_only(url_);
  store->run_measurements(1);
  const Error error = error_of([&] { store->require_sound(); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), url_);
  EXPECT_THAT(error.line(), testing::HasSubstr("this database is damaged: entry "));
  EXPECT_THAT(error.remedy(), testing::HasSubstr("restore a backup (pg_restore)"));
}

TEST_F(SharedTables, rows_of_no_run_are_found_by_who_looks_for_one) {
  PostgresServer::get()->sql(
      url_,
      "SET session_replication_role = replica; UPDATE halmark.entry SET run = 9 WHERE id = 3");
  const auto store = open_store_read_only(url_);
  store->latest_run();
  EXPECT_THAT(store->damaged(),
              testing::Contains("run 9: has rows, and is not in the table of runs"));
}

TEST_F(SharedTables, a_writer_whose_row_another_changed_stops) {
  const auto store = open_store(url_);
  store->append(1, numbered_measurement(3));
  const std::string writer = one("SELECT max(id) FROM halmark.writer");
  PostgresServer::get()->sql(url_, "UPDATE halmark.writer SET chain = 'x' WHERE id = " + writer);
  const Error error = error_of([&] { store->append(1, numbered_measurement(4)); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), testing::HasSubstr("another program changed writer " + writer +
                                               ", which is this process"));
  EXPECT_EQ(one("SELECT count(*) FROM halmark.entry"), "3");
}

TEST_F(SharedTables, no_row_is_added_to_a_run_that_is_not_there) {
  const Error error = error_of([&] { open_store(url_)->append(99, numbered_measurement(3)); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_THAT(error.line(), testing::HasSubstr("there is no run 99 to add rows to"));
  EXPECT_EQ(one("SELECT count(*) FROM halmark.writer"), "1");
}

}  // namespace
}  // namespace halmark::journal
