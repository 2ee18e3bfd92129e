// What a journal asks of the database that holds its rows: SQLite's file or a PostgreSQL server.
// Nothing is judged here. Everything throws Error where the database cannot be read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "journal/rows/stored_row.hpp"
#include "journal/run_head.hpp"
#include "journal/store.hpp"
#include "sql/session.hpp"

namespace halmark::journal {

// All that is given holds of a row.
struct RowQuery {
  std::optional<std::int64_t> run = std::nullopt, writer = std::nullopt;
  std::string kind = {}, key = {};              // "" = any
  std::optional<std::string> fingerprint = {};  // of its run
  std::int64_t after = 0;                       // ids behind this one
  std::size_t latest = 0;    // the last ones alone, and the last one first; 0 = all, from the first
  bool with_blocks = false;  // with the samples beside a row
};

// All that is given holds of a run.
struct RunQuery {
  std::optional<std::string> plan_hash = {}, fingerprint = {};
  bool is_sweep = false;  // has a plan
  bool has_winners = false;
};

struct RunRow {
  std::int64_t id = 0;
  RunInfo info;
  std::optional<std::int64_t> checksum;  // of its columns; none in files of versions 1 and 2
  // In a file the head of its rows; on a server the end of the list of its writers.
  std::string chain;
};

class RowSource {
 public:
  // Refers to `session`.
  explicit RowSource(sql::Session& session) : session_(session) {}
  virtual ~RowSource() = default;
  // Damage that was found: exit 2, with what to do about it.
  virtual Error damage(const std::string& what) const = 0;
  // By their writers' ids.
  virtual std::vector<RowChain> chains(const RunRow& run) = 0;
  // "" where the columns of the run (and of its writers) are those that its chains start from;
  // what does not hold otherwise.
  virtual std::string fault_of_start(const RunRow& run) = 0;
  virtual DatabaseSize size() = 0;

  const std::string& location() const { return session_.location(); }
  // What `body` asks is answered out of one state of the database. Not within another one.
  void in_one_state(const std::function<void()>& body) { session_.read_one_state(body); }
  // By their ids.
  void each_row(const RowQuery& query, const std::function<void(const StoredRow&)>& visit);
  // In order.
  std::vector<std::int64_t> run_ids(const RunQuery& query);
  std::optional<std::int64_t> latest_run(const RunQuery& query);
  std::optional<RunRow> run(std::int64_t id);
  void each_run(const std::function<void(const RunRow&)>& visit) { each_run("", {}, visit); }
  // The greatest number of a run that a row names; 0 where there is none.
  std::int64_t last_run_of_rows();
  // Of all rows of measurements that begin with it, in order.
  std::vector<std::string> measured_cases(const std::string& prefix);
  std::vector<RunSamples> samples_by_run();

 protected:
  // In the dialect of the session, in a transaction of its own unless one is open.
  void each(std::string_view text, const std::vector<sql::Value>& values, const sql::Visit& visit);
  std::int64_t number(std::string_view text);
  // Files of earlier versions have neither blocks of samples nor checksums of runs.
  bool has_blocks();
  sql::Session& session() { return session_; }
  const sql::Session& session() const { return session_; }

 private:
  void each_run(const std::string& condition, const std::vector<sql::Value>& values,
                const std::function<void(const RunRow&)>& visit);

  sql::Session& session_;
};

}  // namespace halmark::journal
