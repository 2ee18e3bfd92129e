#include "journal/shared_store.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "core/text/digest.hpp"
#include "journal_fixture.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/postgres_server.hpp"

namespace halmark {
namespace {

using namespace test;
using testing::HasSubstr;

class SharedJournal : public testing::Test {
 protected:
  void SetUp() override {
    server_ = PostgresServer::get();
    if (server_ == nullptr) GTEST_SKIP() << "no PostgreSQL server can be started";
    url_ = server_->database();
  }
  void sql(const std::string& text) const { server_->sql(url_, text); }
  std::vector<std::uint64_t> seeds_of(std::int64_t run) const {
    std::vector<std::uint64_t> out;
    for (const Measurement& m : open_store_read_only(url_)->run_measurements(run)) {
      out.push_back(m.seed);
    }
    return out;
  }
  // What a reader says of a database in which `edit` was done behind the writers' back.
  std::string fault_after(const std::string& edit) const {
    const std::int64_t run = make_database(url_, 3);
    open_store(url_)->append(run, numbered_measurement(4));
    sql(edit);
    const auto store = open_store_read_only(url_);
    store->latest_run();
    store->run_measurements(run);
    return error_of([&] { store->require_sound(); }).line();
  }

  PostgresServer* server_ = nullptr;
  std::string url_;
};

TEST_F(SharedJournal, writers_of_one_run_have_a_chain_each_and_see_each_other) {
  const auto first = open_shared_store(url_, "a pid 1"),
             second = open_shared_store(url_, "b pid 2");
  const std::int64_t run = first->find_or_begin_run(run_info());
  EXPECT_EQ(second->find_or_begin_run(run_info()), run);
  EXPECT_NE(second->find_or_begin_run(run_info("other")), run);
  for (std::uint64_t i = 1; i <= 6; ++i)
    (i % 2 ? first : second)->append(run, numbered_measurement(i));
  EXPECT_EQ(seeds_of(run), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(first->run_measurements(run).size(), 6U);
  EXPECT_TRUE(first->damaged().empty());
  EXPECT_EQ(first->chain_head(run), second->chain_head(run));
}

TEST_F(SharedJournal, a_writer_waits_for_no_other_ones_transaction) {
  const auto slow = open_shared_store(url_, "slow"), quick = open_shared_store(url_, "quick");
  const std::int64_t run = slow->find_or_begin_run(run_info());
  quick->append(run, numbered_measurement(1));
  const Measurement second = numbered_measurement(2);
  slow->append_with(run, std::span(&second, 1), [&](postgresql::Session&) {
    quick->append(run, numbered_measurement(3));
    const auto late = open_shared_store(url_, "late");
    late->append(run, numbered_measurement(4));
    EXPECT_EQ(seeds_of(run), (std::vector<std::uint64_t>{1, 3, 4}));
  });
  EXPECT_EQ(seeds_of(run), (std::vector<std::uint64_t>{1, 2, 3, 4}));
  const auto reader = open_store_read_only(url_);
  reader->run_measurements(run);
  reader->require_sound();
}

TEST_F(SharedJournal, what_belongs_to_a_row_and_fails_undoes_it) {
  const auto store = open_shared_store(url_, "a");
  const std::int64_t run = store->find_or_begin_run(run_info());
  store->append(run, numbered_measurement(1));
  const std::string head = store->chain_head(run);
  const Error error = error_of([&] {
    const Measurement row = numbered_measurement(2);
    store->append_with(run, std::span(&row, 1),
                       [](postgresql::Session&) { throw refused("the lease is another one's"); });
  });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(store->chain_head(run), head);
  store->append(run, numbered_measurement(3));
  EXPECT_EQ(seeds_of(run), (std::vector<std::uint64_t>{1, 3}));
  store->require_sound();
}

TEST_F(SharedJournal, processes_that_start_at_once_make_the_tables_and_the_run_once) {
  constexpr int starters = 8;
  std::vector<std::thread> threads;
  std::vector<std::int64_t> runs(starters);
  for (int i = 0; i < starters; ++i) {
    threads.emplace_back([&, i] {
      const auto store = open_shared_store(url_, "node " + std::to_string(i));
      runs[static_cast<std::size_t>(i)] = store->find_or_begin_run(run_info());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, std::vector<std::int64_t>(starters, runs.front()));
  EXPECT_EQ(open_store_read_only(url_)->latest_runs(100).size(), 1U);
}

TEST_F(SharedJournal, the_head_of_a_run_hashes_the_heads_of_its_writers_in_order) {
  const std::int64_t run = make_database(url_, 2);
  open_store(url_)->append(run, numbered_measurement(3));
  // Computed by the server, out of the columns as they are stored.
  EXPECT_EQ(open_store_read_only(url_)->chain_head(run),
            server_->value(url_,
                           "SELECT encode(sha256(string_agg(chain, '' ORDER BY id)::bytea), 'hex') "
                           "FROM halmark.writer"));
}

TEST_F(SharedJournal, an_edited_row_is_found_by_its_checksum) {
  EXPECT_THAT(
      fault_after("UPDATE halmark.entry SET body = replace(body, 'gemm', 'gemv') WHERE id = "
                  "(SELECT min(id) FROM halmark.entry)"),
      HasSubstr("checksum does not match"));
}

TEST_F(SharedJournal, a_deleted_row_is_found_by_its_chain) {
  EXPECT_THAT(fault_after("DELETE FROM halmark.sample_block WHERE entry = (SELECT min(id) FROM "
                          "halmark.entry); DELETE FROM halmark.entry WHERE id = (SELECT min(id) "
                          "FROM halmark.entry)"),
              HasSubstr("was changed, removed, inserted or moved"));
}

TEST_F(SharedJournal, deleted_last_rows_are_found_by_the_head_of_their_writer) {
  EXPECT_THAT(fault_after("DELETE FROM halmark.sample_block WHERE entry = (SELECT max(id) FROM "
                          "halmark.entry); DELETE FROM halmark.entry WHERE id = (SELECT max(id) "
                          "FROM halmark.entry)"),
              HasSubstr("the last rows of writer"));
}

TEST_F(SharedJournal, a_deleted_writer_is_found_by_the_end_of_their_list) {
  EXPECT_THAT(
      fault_after("DELETE FROM halmark.sample_block WHERE entry = (SELECT max(id) FROM "
                  "halmark.entry); DELETE FROM halmark.entry WHERE id = (SELECT max(id) FROM "
                  "halmark.entry); DELETE FROM halmark.writer WHERE id = (SELECT max(id) FROM "
                  "halmark.writer)"),
      HasSubstr("its last writers are missing"));
}

TEST_F(SharedJournal, changed_columns_of_a_run_or_a_writer_are_found) {
  EXPECT_THAT(fault_after("UPDATE halmark.run SET plan_text = 'x'"),
              HasSubstr("its own columns were changed"));
}

TEST_F(SharedJournal, another_node_in_the_table_of_writers_is_found) {
  EXPECT_THAT(fault_after("UPDATE halmark.writer SET node = 'x' WHERE id = (SELECT min(id) FROM "
                          "halmark.writer)"),
              HasSubstr("were changed, or a writer before it is missing"));
}

TEST_F(SharedJournal, changed_and_lost_samples_are_found) {
  EXPECT_THAT(fault_after("UPDATE halmark.sample_block SET bytes = bytes || '\\x00'"),
              HasSubstr("its samples are not those that it was stored with"));
}

TEST_F(SharedJournal, retired_samples_are_no_damage) {
  const auto store = open_store(url_);
  const std::int64_t run = store->begin_run(run_info());
  for (std::uint64_t i = 1; i <= 3; ++i) store->append(run, numbered_measurement(i));
  const std::vector<RunSamples> before = store->samples_by_run();
  ASSERT_EQ(before.size(), 1U);
  EXPECT_EQ(before[0].rows, 3);
  const RunSamples retired = store->retire_samples(run, "--keep-runs 1");
  EXPECT_EQ(retired.rows, 3);
  EXPECT_EQ(retired.bytes, before[0].bytes);
  EXPECT_TRUE(store->samples_by_run().empty());
  store->append(run, numbered_measurement(4));
  const auto reader = open_store_read_only(url_);
  const auto rows = reader->run_measurements(run);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].retired_samples, 3);
  EXPECT_EQ(rows[3].samples.size(), 3U);
  reader->require_sound();
}

TEST_F(SharedJournal, a_database_without_tables_is_refused_to_readers_and_left_alone) {
  const Error error = error_of([&] { open_store_read_only(url_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("holds no results"));
}

TEST_F(SharedJournal, newer_tables_are_refused) {
  make_database(url_, 1);
  sql("UPDATE halmark.meta SET schema_version = 99");
  for (const auto open : {+[](const std::string& url) { open_store(url); },
                          +[](const std::string& url) { open_store_read_only(url); }}) {
    const Error error = error_of([&] { open(url_); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("schema 99"));
  }
}

TEST_F(SharedJournal, a_trigger_on_its_tables_is_refused_to_writers) {
  make_database(url_, 1);
  sql("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$; "
      "CREATE TRIGGER t BEFORE INSERT ON halmark.entry FOR EACH ROW EXECUTE FUNCTION f()");
  const Error error = error_of([&] { open_store(url_); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("the trigger t on entry"));
}

TEST_F(SharedJournal, no_message_names_a_password) {
  const Error error =
      error_of([] { open_store("postgresql://u:secret@/d?host=/nonexistent&password=secret2"); });
  EXPECT_EQ(error.exit_code(), ExitCode::error);
  EXPECT_THAT(error.line(), testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace halmark
