// halmark verify: every row, every chain, every figure that follows from others; nothing changed.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "verify/database_text.hpp"

namespace halmark::cli {
namespace {

struct VerifyOptions {
  std::string path, chain;
  std::optional<std::int64_t> run;
};

CommandResult execute(const GlobalOptions& global, const VerifyOptions& options) {
  const std::string path = options.path.empty() ? database_path(global) : options.path;
  const auto noted = noted_head(options.chain, options.run);
  const DatabaseCheck check = check_database(path, noted);
  CommandResult out{.data = database_check_json(check, path, noted.has_value()),
                    .text = database_check_text(check, path)};
  if (!check.findings.empty()) out.exit_code = ExitCode::refused;
  return out;
}

}  // namespace

Action add_verify(OptionSet& app) {
  auto o = std::make_shared<VerifyOptions>();
  app.add_option("database", o->path, "A file or a URL (default: --db)");
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
