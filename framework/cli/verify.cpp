// halmark verify: every row, every chain, every figure that follows from others; nothing changed.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/paths.hpp"
#include "verify/database.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string path, chain;
  std::optional<std::int64_t> run;
};

// What a person copied from a report: the digits may have become upper case.
std::optional<NotedHead> noted_head(const Options& options) {
  if (options.chain.empty()) {
    if (options.run) throw refused("--run says which run --chain is of", {}, "add --chain HASH");
    return std::nullopt;
  }
  NotedHead out{.run = options.run};
  for (const char c : options.chain) {
    out.chain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const bool is_head =
      out.chain.size() == 64 &&
      std::ranges::all_of(out.chain, [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!is_head) {
    throw refused("'" + options.chain + "' is no head of a chain", "--chain",
                  "reports print it: 64 hexadecimal digits");
  }
  return out;
}

std::string noted_text(const DatabaseCheck::Noted& noted) {
  if (noted.rows_behind == 0) return fmt::format("run {} has the noted head\n", noted.run);
  return fmt::format("run {} had the noted head; {} rows came behind it\n", noted.run,
                     noted.rows_behind);
}

void add_noted(const DatabaseCheck& check, CommandResult& out) {
  out.data["noted"] = nullptr;
  if (!check.noted) return;
  out.text += noted_text(*check.noted);
  out.data["noted"] = {{"run", check.noted->run}, {"rows_behind", check.noted->rows_behind}};
}

CommandResult execute(const GlobalOptions& global, const Options& options) {
  const std::string path = options.path.empty() ? database_path(global) : options.path;
  const std::optional<NotedHead> noted = noted_head(options);
  const DatabaseCheck check = check_database(path, noted);
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
  out.data = {{"path", path},
              {"runs", check.runs},
              {"entries", check.entries},
              {"heads", heads},
              {"findings", findings}};
  if (noted) add_noted(check, out);
  out.text +=
      fmt::format("{}: {} runs, {} rows, {}\n", path, check.runs, check.entries,
                  check.findings.empty() ? std::string("everything matches")
                                         : std::to_string(check.findings.size()) + " findings");
  if (!check.findings.empty()) out.exit_code = ExitCode::refused;
  return out;
}

}  // namespace

Action add_verify(OptionSet& app) {
  auto o = std::make_shared<Options>();
  app.add_option("database", o->path, "The file (default: --db)");
  app.add_option("--chain", o->chain,
                 "The head of a run as a report printed it: the rows that it was printed of must "
                 "still be the same");
  app.add_option("--run", o->run, "The run that --chain is of (default: any)");
  app.add_example(
      "halmark verify results.db --chain 1f0c...64 digits... --run 3\n"
      "  finds every change of run 3 since its report was printed, whoever made it");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
