// halmark verify: every row, every chain, every figure that follows from others; nothing changed.

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "verify/database_text.hpp"

namespace halmark::cli {
Action add_verify(OptionSet& app) {
  const auto database = app.add<std::string>("database", "A file or a URL (default: --db)");
  const auto chain = app.add<std::string>(
      "--chain",
      "The head of a run as a report printed it: the rows that it was printed of must still be the "
      "same");
  const auto run =
      app.add<std::optional<std::int64_t>>("--run", "The run that --chain is of (default: any)");
  return [=](const GlobalOptions& global) {
    const std::string path = database->empty() ? database_path(global) : *database;
    const auto noted = noted_head(*chain, *run);
    const DatabaseCheck check = check_database(path, noted);
    CommandResult out{.data = database_check_json(check, path, noted.has_value()),
                      .text = database_check_text(check, path)};
    if (!check.findings.empty()) out.exit_code = ExitCode::refused;
    return out;
  };
}

}  // namespace halmark::cli
