// The tables of the journal and what identifies a file as one. The only text of the schema.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halmark::journal {

inline constexpr int schema_version = 3;
inline constexpr int oldest_schema_version = 1;  // that a halmark has written
// From this one on raw samples lie beside their row, and a run has a checksum of its own.
inline constexpr int blocks_version = 3;

// Every entry carries xxh3_64 over its canonical encoding, and SHA-256(previous chain || encoding).
// A run's chain starts at SHA-256 of the run's own columns and ends in run.chain. The body of a
// measurement names its block of samples by SHA-256: a block can be deleted, the row stays as it
// is.
std::string run_table(int version);
std::string entry_table(int version);  // with its indexes
inline constexpr std::string_view sample_block_table = R"sql(
CREATE TABLE sample_block (
  entry INTEGER PRIMARY KEY REFERENCES entry(id),
  bytes BLOB NOT NULL
) STRICT;
)sql";
// All of them, as a file of that version has them. Version 1 listed the kinds of entries in a
// constraint; up to version 2 samples stood in their row.
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
