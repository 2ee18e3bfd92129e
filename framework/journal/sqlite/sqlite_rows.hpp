// The rows of a results database in a SQLite file.
#pragma once

#include <SQLiteCpp/Database.h>

#include <string>

#include "journal/rows/row_source.hpp"

namespace halmark::journal {

class SqliteRows : public RowSource {
 public:
  // Refers to `db`.
  SqliteRows(SQLite::Database& db, std::string path) : db_(db), path_(std::move(path)) {}

  const std::string& location() const override { return path_; }
  Error damage(const std::string& what) const override;
  void in_one_state(const std::function<void()>& body) override;
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

 private:
  template <class Body>
  auto reading(Body body) const -> decltype(body());
  void each_run_where(const std::string& condition,
                      const std::function<void(const RunRow&)>& visit);

  SQLite::Database& db_;
  std::string path_;
};

}  // namespace halmark::journal
