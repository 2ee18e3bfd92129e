// One row per source: what a new one is called and what it names is written here alone.
#include "latency/source_choice.hpp"

#include <vector>

#include "core/text/error.hpp"

namespace halmark {
namespace {

struct Row {
  std::string_view name;
  SourceKind kind;
  std::string_view names = {};  // behind a colon
  bool has_to_name = false;
};

constexpr auto rows = std::to_array<Row>({{"journal", SourceKind::journal, "FILE", true},
                                          {"imported", SourceKind::imported, "FILE", true},
                                          {"forecast", SourceKind::forecast, "ENGINE"},
                                          {"interpolated", SourceKind::interpolated},
                                          {"transferred", SourceKind::transferred},
                                          {"fabric", SourceKind::fabric},
                                          {"roofline", SourceKind::roofline},
                                          {"measured", SourceKind::measured}});

std::string spelled(const Row& row) {
  return std::string(row.name) + (row.has_to_name ? ':' + std::string(row.names) : "");
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
    if (file.empty() && (row.has_to_name || (colon != text.npos && !row.names.empty()))) {
      throw refused(
          "source '" + std::string(name) + "' names no " + (row.has_to_name ? "file" : "engine"),
          where, "write " + spelled(row));
    }
    if (row.names.empty() && colon != text.npos) {
      throw refused("source '" + std::string(name) + "' takes no file", where,
                    "write " + spelled(row));
    }
    return {row.kind, std::string(file)};
  }
  throw refused("unknown source of latencies '" + std::string(text) + "'", where,
                suggestion(std::string(text), known));
}

}  // namespace halmark
