#include "journal/sqlite/schema.hpp"

#include "core/lists.hpp"

namespace halmark::journal {

std::string run_table(int version) {
  return std::string(R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  command TEXT NOT NULL,
  plan_hash TEXT NOT NULL,
  plan_text TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  tool_build TEXT NOT NULL,
  started_utc TEXT NOT NULL,
)sql") + (version < blocks_version ? "" : "  checksum INTEGER NOT NULL,\n") +
         R"sql(  chain TEXT NOT NULL
) STRICT;
)sql";
}

std::string entry_table(int version) {
  const std::string kinds =
      version > 1 ? "" : " CHECK (kind IN ('measurement', 'evaluation', 'validation'))";
  return R"sql(
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  kind TEXT NOT NULL)sql" +
         kinds + R"sql(,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  samples BLOB,
  checksum INTEGER NOT NULL,
  chain TEXT NOT NULL
) STRICT;
CREATE INDEX entry_by_key ON entry(kind, key);
CREATE INDEX entry_by_run ON entry(run, kind);
)sql";
}

std::string tables_of(int version) {
  std::string out = run_table(version) + entry_table(version);
  if (version >= blocks_version) out += sample_block_table;
  return out;
}

Encoder& Encoder::add(char tag, std::string_view value) {
  bytes_ += tag;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes_ += static_cast<char>((as_uint64(value.size()) >> shift) & 0xff);
  }
  bytes_ += value;
  return *this;
}

Encoder& Encoder::integer(std::int64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>((as_uint64(value) >> shift) & 0xff);
  }
  return add('i', bytes);
}

std::string encode(const EntryColumns& columns) {
  Encoder encoder;
  encoder.integer(columns.run).text(columns.kind).text(columns.key).text(columns.body);
  columns.has_samples ? encoder.blob(columns.samples) : encoder.null();
  return encoder.bytes();
}

}  // namespace halmark::journal
