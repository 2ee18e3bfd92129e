// halmark report: the report of a stored run again. No device needed.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/session.hpp"
#include "cli/console/terminal.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::cli {
namespace {

struct ReportOptions {
  std::int64_t run = 0;  // 0 = the latest
  std::vector<std::string> out;
};

CommandResult execute(const GlobalOptions& global, const ReportOptions& options) {
  const std::unique_ptr<Store> store = open_store_read_only(database_path(global));
  const auto run = options.run > 0 ? std::optional(options.run) : store->latest_sweep();
  if (!run) {
    const auto other = store->latest_run();
    throw refused(other ? "the database has no sweep" : "the database has no run",
                  database_path(global),
                  other ? "--run " + std::to_string(*other) + " shows what was stored last"
                        : "run halmark tune first");
  }
  const RunReport report = tune::stored_report(*store, *run, reporting_machine(local_machine()));
  CommandResult result{.data = report_json(report), .text = report_text(report, use_color(global))};
  for (const std::string& path : options.out) {
    write_report(report, path);
    result.text += "written: " + path + '\n';
  }
  // What is left is shown, and nobody takes it for the whole.
  say_what_is_damaged(*store, database_path(global), result);
  return result;
}

}  // namespace

Action add_report(OptionSet& app) {
  auto o = std::make_shared<ReportOptions>();
  app.add_option("--run", o->run, "Run number (default: the latest)");
  app.add_option("--out,-o", o->out, "Report file, format by suffix: .html .json .csv .md");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
