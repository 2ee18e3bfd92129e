// The rows of a results database in a SQLite file.
#pragma once

#include "journal/rows/row_source.hpp"

namespace halmark::journal {

class SqliteRows : public RowSource {
 public:
  using RowSource::RowSource;
  Error damage(const std::string& what) const override;
  std::vector<RowChain> chains(const RunRow& run) override;
  std::string fault_of_start(const RunRow& run) override;
  DatabaseSize size() override;
  // In order of (run, id) and by the table itself: an index may be what is damaged.
  void each_row_of_table(const std::function<void(const StoredRow&)>& visit);
};

}  // namespace halmark::journal
