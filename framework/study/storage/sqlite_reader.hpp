// Reads studies from their tables in SQLite. Whoever calls holds one state of the file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/storage/sqlite_statements.hpp"

namespace halmark::journal {

class SqliteStudyReader {
 public:
  SqliteStudyReader(SqliteStatements& sql, DistributionTexts& texts, std::string path)
      : sql_(sql), texts_(texts), path_(std::move(path)) {}

  std::vector<StudySummary> list();
  StudyInfo info_of(std::int64_t study);
  std::vector<TrialRow> trials(std::int64_t study, TrialCursor& cursor);
  std::vector<TrialLease> leases(std::span<const std::int64_t> ids);
  // This connection changed the trial; what others change is seen by the version of the file.
  void changed(std::int64_t id) { log_.push_back(id); }

 private:
  Attributes attributes(const char* sql, std::int64_t id);
  TrialRow row_of(const SqliteStatements::Use& row);
  std::vector<TrialRow> changed_rows(TrialCursor& cursor);
  void load(std::span<TrialRow> rows, bool all);

  SqliteStatements& sql_;
  DistributionTexts& texts_;
  std::string path_;
  std::vector<std::int64_t> log_;  // trials that were changed, oldest first
};

}  // namespace halmark::journal
