#include "journal/schema.hpp"

namespace halmark::journal {

std::string tables_of(int version) {
  std::string out(tables);
  if (version > 1) return out;
  constexpr std::string_view now = "kind TEXT NOT NULL,";
  constexpr std::string_view before =
      "kind TEXT NOT NULL CHECK (kind IN ('measurement', 'evaluation', 'validation')),";
  return out.replace(out.find(now), now.size(), before);
}

Encoder& Encoder::add(char tag, std::string_view value) {
  bytes_ += tag;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes_ += static_cast<char>((static_cast<std::uint64_t>(value.size()) >> shift) & 0xff);
  }
  bytes_ += value;
  return *this;
}

Encoder& Encoder::integer(std::int64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) {
    bytes += static_cast<char>((static_cast<std::uint64_t>(value) >> shift) & 0xff);
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
