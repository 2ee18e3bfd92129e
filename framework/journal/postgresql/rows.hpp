// The rows of a results database in a PostgreSQL server.
#pragma once

#include <string>

#include "journal/rows/row_source.hpp"

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
  using RowSource::RowSource;
  Error damage(const std::string& what) const override;
  std::vector<RowChain> chains(const RunRow& run) override;
  std::string fault_of_start(const RunRow& run) override;
  DatabaseSize size() override;

 private:
  std::vector<WriterRow> writers(std::int64_t run);  // by their ids
};

}  // namespace halmark::journal
