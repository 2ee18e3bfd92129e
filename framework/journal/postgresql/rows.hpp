// The rows of a results database in a PostgreSQL server.
#pragma once

#include <string>

#include "journal/rows/row_source.hpp"
#include "sql/postgresql.hpp"

namespace halmark::journal {

// Of who writes: what a run's chain takes in when one begins.
struct WriterRow {
  std::int64_t id = 0;
  std::string node, started_utc, start_chain, chain;
};
// Where a writer's rows start: SHA-256 of the end of the list before and of its columns.
std::string writer_start(const std::string& list_end, const WriterRow& writer);

class PostgresqlRows : public RowSource {
 public:
  // Refers to `session`.
  explicit PostgresqlRows(postgresql::Session& session) : session_(session) {}

  const std::string& location() const override { return session_.location(); }
  Error damage(const std::string& what) const override;
  void in_one_state(const std::function<void()>& body) override { session_.read_one_state(body); }
  void each_row(const RowQuery& query, const std::function<void(const StoredRow&)>& visit) override;
  std::vector<std::int64_t> run_ids(const RunQuery& query) override;
  std::optional<std::int64_t> latest_run(const RunQuery& query) override;
  std::optional<RunRow> run(std::int64_t id) override;
  void each_run(const std::function<void(const RunRow&)>& visit) override;
  std::int64_t last_run_of_rows() override;
  std::vector<RowChain> chains(const RunRow& run) override;
  std::string fault_of_start(const RunRow& run) override;
  std::vector<std::string> measured_cases(const std::string& prefix) override;
  std::vector<RunSamples> samples_by_run() override;
  DatabaseSize size() override;

  // By their ids.
  std::vector<WriterRow> writers(std::int64_t run);

 private:
  void each_run_where(const std::string& condition,
                      const std::function<void(const RunRow&)>& visit);

  postgresql::Session& session_;
};

}  // namespace halmark::journal
