#include "journal/postgresql/rows.hpp"

#include "core/text/digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {

std::string writer_start(const std::string& list_end, const WriterRow& writer) {
  Encoder encoder;
  encoder.text(list_end).text(writer.node).text(writer.started_utc);
  return sha256_of(encoder.bytes());
}

Error PostgresqlRows::damage(const std::string& what) const {
  return refused("this database is damaged: " + what, location(),
                 "'halmark verify --db URL' names every row of it; restore a backup (pg_restore)");
}

std::vector<WriterRow> PostgresqlRows::writers(std::int64_t run) {
  std::vector<WriterRow> out;
  each(
      "SELECT id, node, started_utc, start_chain, chain FROM halmark.writer WHERE run = ? ORDER BY "
      "id",
      {run}, [&](const sql::Row& row) {
        out.push_back(
            {row[0].integer(), row[1].text(), row[2].text(), row[3].text(), row[4].text()});
      });
  return out;
}

std::vector<RowChain> PostgresqlRows::chains(const RunRow& run) {
  std::vector<RowChain> out;
  std::string end = chain_start(run.info);
  for (const WriterRow& writer : writers(run.id)) {
    end = writer_start(end, writer);
    out.push_back({.writer = writer.id, .start = end, .head = writer.chain});
  }
  return out;
}

std::string PostgresqlRows::fault_of_start(const RunRow& run) {
  std::string end = chain_start(run.info);
  for (const WriterRow& writer : writers(run.id)) {
    end = writer_start(end, writer);
    if (end == writer.start_chain) continue;
    return "its own columns or those of writer " + std::to_string(writer.id) +
           " were changed, or a writer before it is missing";
  }
  return end == run.chain ? "" : "its own columns were changed, or its last writers are missing";
}

// The server keeps what is free for later rows, and does not say how much it is.
DatabaseSize PostgresqlRows::size() {
  DatabaseSize out{.rows = number("SELECT count(*) FROM {entry}")};
  for (const char* table : {"run", "writer", "entry", "sample_block"}) {
    out.bytes += number(std::string("SELECT pg_total_relation_size('halmark.") + table + "')");
  }
  return out;
}

}  // namespace halmark::journal
