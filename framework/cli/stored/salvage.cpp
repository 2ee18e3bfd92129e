// halmark salvage: what is sound of a database that does not verify, as a new one.
#include <fmt/format.h>

#include <memory>

#include "cli/console/command.hpp"
#include "study/storage/sqlite_salvage.hpp"
#include "verify/salvage_text.hpp"

namespace halmark::cli {
namespace {

struct SalvageOptions {
  std::string from, to;
};

CommandResult execute_on_studies(const SalvageOptions& options) {
  const SalvagedStudies done = salvage_studies(options.from, options.to);
  std::vector<LeftOut> left;
  for (const auto& l : done.left_out) left.push_back({l.table, l.row, l.reason});
  CommandResult out{.data = {{"from", options.from},
                             {"path", options.to},
                             {"studies", done.studies},
                             {"trials", done.trials},
                             {"left_out", left_out_json(left)}},
                    .text = left_out_text(left)};
  out.text += fmt::format("{}: {} studies, {} trials; {} left out of {}\n", options.to,
                          done.studies, done.trials, left.size(), options.from);
  if (names_rows(left)) out.exit_code = ExitCode::partial;
  return out;
}

CommandResult execute(const SalvageOptions& options) {
  require_files(options.from, options.to);
  if (may_hold_studies(options.from)) return execute_on_studies(options);
  const Salvage done = salvage_database(options.from, options.to);
  CommandResult out{.data = salvage_json(done, options.from, options.to),
                    .text = salvage_text(done, options.from, options.to)};
  if (misses_rows(done)) out.exit_code = ExitCode::partial;
  return out;
}

}  // namespace

Action add_salvage(OptionSet& app) {
  auto options = std::make_shared<SalvageOptions>();
  app.add_example(
      "halmark salvage results.db sound.db\n"
      "  copies every row of results.db that verifies into the new file sound.db and lists the\n"
      "  rest; exit 0: no row is missing, 4: some are, 2: nothing was made\n"
      "halmark tune SWEEP.toml --db sound.db\n"
      "  measures again what is missing");
  app.add_option("from", options->from,
                 "The results database, or the file of studies beside one; it is only read")
      .required();
  app.add_option("to", options->to, "The new file, which must not exist").required();
  return [options](const GlobalOptions&) { return execute(*options); };
}

}  // namespace halmark::cli
