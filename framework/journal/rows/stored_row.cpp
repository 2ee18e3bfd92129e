#include "journal/rows/stored_row.hpp"

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "journal/sqlite/schema.hpp"

namespace halmark::journal {

// Samples of new rows lie beside them.
std::string bytes_of(std::int64_t run, const Entry& entry) {
  return encode({.run = run, .kind = entry.kind, .key = entry.key, .body = entry.body});
}

std::string StoredRow::bytes() const {
  return encode({run, kind, key, body, samples, has_samples});
}

namespace {

std::string encode(const RunInfo& run) {
  Encoder encoder;
  const auto add = [&](const char*, const std::string& column) { encoder.text(column); };
  fields(add, run);
  return encoder.bytes();
}

}  // namespace

std::string chain_start(const RunInfo& run) { return sha256_of(encode(run)); }

std::int64_t run_checksum(const RunInfo& run) { return as_int64(xxh3_of(encode(run))); }

}  // namespace halmark::journal
