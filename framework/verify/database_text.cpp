#include "verify/database_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

std::string noted_text(const DatabaseCheck::Noted& noted) {
  if (noted.rows_behind == 0) return fmt::format("run {} has the noted head\n", noted.run);
  return fmt::format("run {} had the noted head; {} rows came behind it\n", noted.run,
                     noted.rows_behind);
}

}  // namespace

std::optional<NotedHead> noted_head(const std::string& chain, std::optional<std::int64_t> run) {
  if (chain.empty()) {
    if (run) throw refused("--run says which run --chain is of", {}, "add --chain HASH");
    return std::nullopt;
  }
  NotedHead out{.chain = {}, .run = run};
  for (const char c : chain) {
    out.chain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const bool is_head =
      out.chain.size() == 64 &&
      std::ranges::all_of(out.chain, [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!is_head) {
    throw refused("'" + chain + "' is no head of a chain", "--chain",
                  "reports print it: 64 hexadecimal digits");
  }
  return out;
}

std::string database_check_text(const DatabaseCheck& check, const std::string& path) {
  std::string out;
  for (const DatabaseFinding& f : check.findings) {
    out += fmt::format("{}: table {} row {} column {}: {}\n", path, f.table, f.row,
                       f.column.empty() ? "-" : f.column, printable(f.text));
  }
  if (check.findings.empty()) {
    for (const auto& head : check.heads) {
      out += fmt::format("run {} chain {}\n", head.run, head.chain);
    }
  }
  for (const auto& [run, rows] : check.retired) {
    out += fmt::format("run {}: samples retired of {} rows\n", run, rows);
  }
  if (check.noted) out += noted_text(*check.noted);
  return out + fmt::format("{}: {} runs, {} rows, {}\n", path, check.runs, check.entries,
                           check.findings.empty()
                               ? std::string("everything matches")
                               : std::to_string(check.findings.size()) + " findings");
}

Json database_check_json(const DatabaseCheck& check, const std::string& path, bool is_noted) {
  Json retired = Json::array();
  const Json findings = json_list(check.findings, [](const DatabaseFinding& f) -> Json {
    return {{"table", f.table}, {"row", f.row}, {"column", f.column}, {"text", f.text}};
  });
  const Json heads = json_list(check.heads, [](const auto& head) -> Json {
    return {{"run", head.run}, {"chain", head.chain}};
  });
  for (const auto& [run, rows] : check.retired) retired.push_back({{"run", run}, {"rows", rows}});
  Json out = {{"path", path},   {"runs", check.runs},         {"entries", check.entries},
              {"heads", heads}, {"samples_retired", retired}, {"findings", findings}};
  if (is_noted) out["noted"] = nullptr;
  if (is_noted && check.noted) {
    out["noted"] = {{"run", check.noted->run}, {"rows_behind", check.noted->rows_behind}};
  }
  return out;
}

void require_sound_database(const std::string& path) {
  const DatabaseCheck check = check_database(path);
  if (check.findings.empty()) return;
  const DatabaseFinding& first = check.findings.front();
  throw refused("the database does not verify: " + first.table + ' ' + std::to_string(first.row) +
                    ", " + first.text,
                path, "halmark verify lists what it finds; halmark salvage copies the rest");
}

}  // namespace halmark
