// The tables of the journal and what identifies a file as one. The only text of the schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark::journal {

inline constexpr int schema_version = 2;
inline constexpr int oldest_schema_version = 1;  // that a halmark has written

// Every entry carries xxh3_64 over its canonical encoding, and SHA-256(previous chain || encoding).
// A run's chain starts at SHA-256 of the run's own columns and ends in run.chain.
inline constexpr std::string_view tables = R"sql(
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  command TEXT NOT NULL,
  plan_hash TEXT NOT NULL,
  plan_text TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  tool_build TEXT NOT NULL,
  started_utc TEXT NOT NULL,
  chain TEXT NOT NULL
) STRICT;
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run(id),
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  samples BLOB,
  checksum INTEGER NOT NULL,
  chain TEXT NOT NULL
) STRICT;
CREATE INDEX entry_by_key ON entry(kind, key);
CREATE INDEX entry_by_run ON entry(run, kind);
)sql";
// As a file of an earlier version has them. Version 1 listed the kinds of entries in a constraint.
std::string tables_of(int version);

// Canonical encoding: per column a type tag, the length as 8 little-endian bytes, the bytes.
class Encoder {
 public:
  Encoder& text(std::string_view value) { return add('t', value); }
  Encoder& blob(std::string_view value) { return add('b', value); }
  Encoder& null() { return add('n', {}); }
  Encoder& integer(std::int64_t value);
  const std::string& bytes() const { return bytes_; }

 private:
  Encoder& add(char tag, std::string_view value);
  std::string bytes_;
};

struct EntryColumns {
  std::int64_t run = 0;
  std::string_view kind, key, body, samples;
  bool has_samples = false;
};
std::string encode(const EntryColumns& columns);

}  // namespace halmark::journal
