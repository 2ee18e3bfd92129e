// halmark verify, verify-front, salvage and retire: every row, chain and figure of a database that
// follows from others, or of a record of a machine; a proof of a front, recomputed; what is sound
// of a database that does not verify, as a new one; raw samples that a policy does not keep are
// deleted, and the chains say so.
#include <fmt/format.h>

#include "cli/console/command.hpp"
#include "core/input/file_kind.hpp"
#include "history/view/retention_view.hpp"
#include "plan/device/device_file.hpp"
#include "study/storage/sqlite_salvage.hpp"
#include "verify/database_text.hpp"
#include "verify/front_proof/front_proof_text.hpp"
#include "verify/machine_record.hpp"
#include "verify/salvage_text.hpp"

namespace halmark::cli {
namespace {

ExitCode exit_code_of(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::holds:
      return ExitCode::ok;
    case ProofVerdict::conditional:
      return ExitCode::partial;
    case ProofVerdict::broken:
      return ExitCode::gate_failed;
    case ProofVerdict::unreadable:
      return ExitCode::refused;
  }
  return ExitCode::error;
}

CommandResult salvage_of_studies(const std::string& from, const std::string& to) {
  const SalvagedStudies done = salvage_studies(from, to);
  std::vector<LeftOut> left;
  for (const auto& l : done.left_out) left.push_back({l.table, l.row, l.reason});
  return {
      {.data = {{"from", from},
                {"path", to},
                {"studies", done.studies},
                {"trials", done.trials},
                {"left_out", left_out_json(left)}},
       .text = left_out_text(left) + fmt::format("{}: {} studies, {} trials; {} left out of {}\n",
                                                 to, done.studies, done.trials, left.size(), from)},
      names_rows(left) ? ExitCode::partial : ExitCode::ok};
}

CommandResult salvage(const std::string& from, const std::string& to) {
  require_files(from, to);
  if (may_hold_studies(from)) return salvage_of_studies(from, to);
  const Salvage done = salvage_database(from, to);
  return {{salvage_json(done, from, to), salvage_text(done, from, to)},
          misses_rows(done) ? ExitCode::partial : ExitCode::ok};
}

}  // namespace

Action add_verify(OptionSet& app) {
  const auto database = app.add<std::string>(
      "database", "A results database, file or URL (default: --db), or a record");
  const auto chain = app.add<std::string>(
      "--chain",
      "The head of a run as a report printed it: the rows that it was printed of must still be the "
      "same");
  const auto run =
      app.add<std::optional<std::int64_t>>("--run", "The run that --chain is of (default: any)");
  return [=](const GlobalOptions& global) -> CommandResult {
    const std::string path = database->empty() ? database_path(global) : *database;
    const auto noted = noted_head(*chain, *run);
    if (is_kind(beginning_of(path), "record")) {
      const RecordCheck check = check_record(path);
      return {{record_check_json(check, path), record_check_text(check, path)},
              check.findings.empty() ? ExitCode::ok : ExitCode::refused};
    }
    const DatabaseCheck check = check_database(path, noted);
    return {{database_check_json(check, path, noted.has_value()), database_check_text(check, path)},
            check.findings.empty() ? ExitCode::ok : ExitCode::refused};
  };
}

Action add_verify_front(OptionSet& app) {
  const auto proof = app.add<std::string>("proof", "What halmark tune --proof wrote").required();
  const auto journal =
      app.add<std::string>("--journal", "Results database whose rows it must follow from");
  return [=](const GlobalOptions&) -> CommandResult {
    const FrontProofCheck check = check_front_proof(
        read_kind(*proof, proof_input, "proof"),
        {.journal = *journal,
         .read_device = [](std::string_view text) { return parse_device(text, "device record"); }});
    return {{front_proof_json(check, *proof), front_proof_text(check, *proof)},
            exit_code_of(check.verdict)};
  };
}

Action add_salvage(OptionSet& app) {
  const auto from =
      app.add<std::string>(
             "from", "The results database, or the file of studies beside one; it is only read")
          .required();
  const auto to = app.add<std::string>("to", "The new file, which must not exist").required();
  return [=](const GlobalOptions&) { return salvage(*from, *to); };
}

Action add_retire(OptionSet& app) {
  const auto keep_runs =
      app.add("--keep-runs", "The latest runs keep their samples", 0).check(within(1, 1'000'000));
  const auto keep_nights =
      app.add("--keep-nights", "Runs of the latest dates on which one began keep theirs", 0)
          .check(within(1, 1'000'000));
  const auto older_than =
      app.add<std::string>("--older-than", "Of runs that began before: 12h, 30d, 8w");
  const auto is_dry_run = app.add_flag("--dry-run", "Say what would go, and change nothing");
  return [=](const GlobalOptions& global) {
    return history::retention_view(history::apply_retention(
        database_path(global), retention_policy(*keep_runs, *keep_nights, *older_than),
        *is_dry_run));
  };
}

}  // namespace halmark::cli
