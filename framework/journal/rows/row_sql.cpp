#include "journal/rows/row_sql.hpp"

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/text.hpp"

namespace halmark::journal {
namespace {

constexpr sql::Word row_words[] = {
    {"{run}", "run", "halmark.run"},
    {"{entry}", "entry", "halmark.entry"},
    {"{sample_block}", "sample_block", "halmark.sample_block"},
    // Keys in the order of their bytes, as chains of indexes have them.
    {"{bytewise}", "", "COLLATE \"C\""},
    // Up to version 2 of a file samples stood in their row; on a server they never did.
    {"{e.samples}", "e.samples", "NULL"},
    {"{e.writer}", "0", "e.writer"},
    {"{, writer}", "", ", writer"},
    {"{, ?}", "", ", ?"},
    {"{id, }", "id, ", ""},
    {"{?, }", "?, ", ""},
};

}  // namespace

std::string row_sql(std::string_view text, sql::Dialect dialect) {
  return sql::in_dialect(text, row_words, dialect);
}

std::string select_rows(bool blocks, const char* by) {
  return std::string(
             "SELECT e.id, e.run, e.kind, e.key, e.body, {e.samples}, e.checksum, e.chain, "
             "{e.writer}") +
         (blocks ? ", b.bytes" : "") + " FROM {entry} e" + by +
         (blocks ? " LEFT JOIN {sample_block} b ON b.entry = e.id" : "");
}

StoredRow row_from(const sql::Row& row) {
  StoredRow out{.id = row[0].integer(),
                .run = row[1].integer(),
                .checksum = row[6].integer(),
                .kind = row[2].text(),
                .key = row[3].text(),
                .body = row[4].text(),
                .samples = row[5].text(),
                .chain = row[7].text()};
  out.has_samples = !row[5].is_null();
  out.writer = row[8].integer();
  if (row.size() > 9 && !row[9].is_null()) out.block = row[9].text();
  return out;
}

std::string run_columns() {
  std::string out;
  const auto add = [&](const char* name, const std::string&) { append_item(out, ", ", name); };
  const RunInfo any;
  fields(add, any);
  return out;
}

RunInfo run_from(const sql::Row& row, std::size_t first) {
  RunInfo out;
  const auto take = [&](const char*, std::string& column) { column = row[first++].text(); };
  fields(take, out);
  return out;
}

std::string insert_run(sql::Dialect dialect) {
  return row_sql(std::string("INSERT INTO {run}({id, }chain, checksum, ") + run_columns() +
                     ") VALUES ({?, }?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
                 dialect);
}

std::vector<sql::Value> values_of(const RunInfo& run, const std::string& chain) {
  std::vector<sql::Value> out = {chain, run_checksum(run)};
  const auto add = [&](const char*, const std::string& column) { out.emplace_back(column); };
  fields(add, run);
  return out;
}

std::vector<sql::Value> values_of(std::optional<std::int64_t> id, const RunInfo& run,
                                  const std::string& chain) {
  std::vector<sql::Value> out = values_of(run, chain);
  out.insert(out.begin(), id ? sql::Value(*id) : sql::Value());
  return out;
}

std::vector<sql::Value> values_of(std::int64_t run, const Entry& entry, const std::string& chain) {
  const auto checksum = as_int64(xxh3_of(bytes_of(run, entry)));
  return {run, entry.kind, entry.key, entry.body, checksum, chain};
}

RunSamples delete_samples(sql::Session& session, std::int64_t run) {
  const sql::Value of = run;
  RunSamples out{.run = run};
  session.each(
      row_sql("DELETE FROM {sample_block} WHERE entry IN (SELECT id FROM {entry} WHERE run "
              "= ?) RETURNING length(bytes)",
              session.dialect()),
      {&of, 1}, [&](const sql::Row& row) {
        ++out.rows;
        out.bytes += row[0].integer();
      });
  return out;
}

}  // namespace halmark::journal
