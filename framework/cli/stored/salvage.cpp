// halmark salvage: what is sound of a database that does not verify, as a new one.
#include <fmt/format.h>

#include "cli/console/command.hpp"
#include "study/storage/sqlite_salvage.hpp"
#include "verify/salvage_text.hpp"

namespace halmark::cli {
namespace {

CommandResult execute_on_studies(const std::string& from, const std::string& to) {
  const SalvagedStudies done = salvage_studies(from, to);
  std::vector<LeftOut> left;
  for (const auto& l : done.left_out) left.push_back({l.table, l.row, l.reason});
  CommandResult out{.data = {{"from", from},
                             {"path", to},
                             {"studies", done.studies},
                             {"trials", done.trials},
                             {"left_out", left_out_json(left)}},
                    .text = left_out_text(left)};
  out.text += fmt::format("{}: {} studies, {} trials; {} left out of {}\n", to, done.studies,
                          done.trials, left.size(), from);
  if (names_rows(left)) out.exit_code = ExitCode::partial;
  return out;
}

CommandResult execute(const std::string& from, const std::string& to) {
  require_files(from, to);
  if (may_hold_studies(from)) return execute_on_studies(from, to);
  const Salvage done = salvage_database(from, to);
  CommandResult out{.data = salvage_json(done, from, to), .text = salvage_text(done, from, to)};
  if (misses_rows(done)) out.exit_code = ExitCode::partial;
  return out;
}

}  // namespace

Action add_salvage(OptionSet& app) {
  const auto from =
      app.add<std::string>(
             "from", "The results database, or the file of studies beside one; it is only read")
          .required();
  const auto to = app.add<std::string>("to", "The new file, which must not exist").required();
  return [=](const GlobalOptions&) { return execute(*from, *to); };
}

}  // namespace halmark::cli
