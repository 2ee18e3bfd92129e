// halmark verify: every row, every chain, nothing changed.
#include <fmt/format.h>

#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/paths.hpp"
#include "verify/database.hpp"

namespace halmark::cli {
namespace {

CommandResult execute(const GlobalOptions& options, const std::string& named) {
  const std::string path = named.empty() ? database_path(options) : named;
  const DatabaseCheck check = check_database(path);
  CommandResult out;
  Json findings = Json::array(), heads = Json::array();
  for (const DatabaseFinding& f : check.findings) {
    out.text += fmt::format("{}: table {} row {} column {}: {}\n", path, f.table, f.row,
                            f.column.empty() ? "-" : f.column, printable(f.text));
    findings.push_back(
        {{"table", f.table}, {"row", f.row}, {"column", f.column}, {"text", f.text}});
  }
  for (const auto& head : check.heads) {
    heads.push_back({{"run", head.run}, {"chain", head.chain}});
    if (check.findings.empty()) out.text += fmt::format("run {} chain {}\n", head.run, head.chain);
  }
  out.text +=
      fmt::format("{}: {} runs, {} rows, {}\n", path, check.runs, check.entries,
                  check.findings.empty() ? std::string("everything matches")
                                         : std::to_string(check.findings.size()) + " findings");
  out.data = {{"path", path},
              {"runs", check.runs},
              {"entries", check.entries},
              {"heads", heads},
              {"findings", findings}};
  if (!check.findings.empty()) out.exit_code = ExitCode::refused;
  return out;
}

}  // namespace

Action add_verify(OptionSet& app) {
  auto path = std::make_shared<std::string>();
  app.add_option("database", *path, "The file (default: --db)");
  return [path](const GlobalOptions& options) { return execute(options, *path); };
}

}  // namespace halmark::cli
