// The statements on rows and runs that a file and a server are both asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/rows/stored_row.hpp"
#include "sql/session.hpp"

namespace halmark::journal {

// The text of a statement on these tables in a dialect.
std::string row_sql(std::string_view text, sql::Dialect dialect);

// As row_from reads them, of the table `e`; `blocks`: with the samples beside each. `by`: which way
// SQLite is to take.
std::string select_rows(bool blocks, const char* by = "");
StoredRow row_from(const sql::Row& row);

std::string run_columns();
// `first`: the column at which run_columns begin.
RunInfo run_from(const sql::Row& row, std::size_t first);

// Inserts one run and returns its id. In a file it may have one already.
std::string insert_run(sql::Dialect dialect);
std::vector<sql::Value> values_of(const RunInfo& run, const std::string& chain);
std::vector<sql::Value> values_of(std::optional<std::int64_t> id, const RunInfo& run,
                                  const std::string& chain);

// Inserts one row and returns its id; on a server it names its writer too.
inline constexpr std::string_view insert_row =
    "INSERT INTO {entry}(run, kind, key, body, checksum, chain{, writer}) VALUES (?, ?, ?, ?, ?, "
    "?{, ?}) RETURNING id";
std::vector<sql::Value> values_of(std::int64_t run, const Entry& entry, const std::string& chain);

// Those that lie beside rows of a run, within the transaction that says so in its chain.
RunSamples delete_samples(sql::Session& session, std::int64_t run);

}  // namespace halmark::journal
