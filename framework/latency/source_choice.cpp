// One row per source: what a new one is called and whether it names a file is written here alone.
#include "latency/source_choice.hpp"

#include <array>
#include <vector>

#include "core/text/error.hpp"

namespace halmark {
namespace {

struct Row {
  std::string_view name;
  SourceKind kind;
  bool takes_file;
};

constexpr auto rows = std::to_array<Row>({{"journal", SourceKind::journal, true},
                                          {"imported", SourceKind::imported, true},
                                          {"interpolated", SourceKind::interpolated, false},
                                          {"transferred", SourceKind::transferred, false},
                                          {"fabric", SourceKind::fabric, false},
                                          {"roofline", SourceKind::roofline, false},
                                          {"measured", SourceKind::measured, false}});

std::string spelled(const Row& row) {
  return std::string(row.name) + (row.takes_file ? ":FILE" : "");
}

}  // namespace

SourceChoice parse_source(std::string_view text, const std::string& where) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view file = colon == text.npos ? "" : text.substr(colon + 1);
  std::vector<std::string> known;
  for (const Row& row : rows) {
    known.push_back(spelled(row));
    if (row.name != name) continue;
    if (row.takes_file && file.empty()) {
      throw refused("source '" + std::string(name) + "' names no file", where,
                    "write " + spelled(row));
    }
    if (!row.takes_file && colon != text.npos) {
      throw refused("source '" + std::string(name) + "' takes no file", where,
                    "write " + spelled(row));
    }
    return {row.kind, std::string(file)};
  }
  throw refused("unknown source of latencies '" + std::string(text) + "'", where,
                suggestion(std::string(text), known));
}

}  // namespace halmark
