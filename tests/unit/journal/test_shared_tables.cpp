#include <gmock/gmock.h>

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
  PostgresServer::get()->sql(
      url,
      "CREATE ROLE writer LOGIN; CREATE SCHEMA halmark AUTHORIZATION writer; REVOKE CREATE ON "
      "SCHEMA public FROM public");
  const std::string as_writer = url.substr(0, 13) + "writer" + url.substr(url.find('@'));
  EXPECT_EQ(make_database(as_writer, 2), 1);
}

}  // namespace
}  // namespace halmark::journal
