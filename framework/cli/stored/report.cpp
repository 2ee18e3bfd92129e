// halmark report: the report of a stored run again, no device needed; winners: which kernel
// variants `tune` would take, and what they were drawn from.
#include <algorithm>
#include <iterator>
#include <memory>

#include "cli/shared.hpp"
#include "pages/front/chosen_point.hpp"
#include "report/page/runs_page.hpp"
#include "report/text/report_text.hpp"
#include "report/views/kernel_views.hpp"
#include "tune/stored/stored_front.hpp"
#include "tune/stored/stored_report.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::cli {
namespace {

using Runs = std::vector<std::int64_t>;  // none = the latest
using Files = std::vector<std::string>;

CommandResult side_by_side(const Store& store, const GlobalOptions& global, const Runs& runs_of,
                           const Files& out) {
  const auto runs = tune::stored_reports(store, runs_of, reporting_machine(local_machine()));
  CommandResult result = report::View{runs_json(runs), runs_text(runs, stdout_columns())};
  result.write(out, [&](const std::string& path) { write_runs(runs, path); });
  say_what_is_damaged(store, database_path(global), result);
  return result;
}

CommandResult execute(const GlobalOptions& global, const Runs& runs, const Files& out) {
  const tune::FrontPlace place{.database = database_path(global),
                               .studies = study_location(global)};
  if (const auto latest = runs.empty() ? tune::latest_origin(place) : std::nullopt;
      latest && !latest->study.empty()) {
    return pages::front_report(tune::find_front(place), global.db, out, use_color(global),
                               stdout_columns());
  }
  const std::unique_ptr<Store> store = open_store_read_only(database_path(global));
  if (runs.size() > 1) return side_by_side(*store, global, runs, out);
  auto run = runs.empty() ? store->latest_sweep() : std::optional(runs[0]);
  if (!run) run = store->latest_run();
  if (!run)
    throw refused("the database has no run", database_path(global), "run halmark tune first");
  const RunReport report = tune::stored_report(*store, *run, reporting_machine(local_machine()));
  CommandResult result =
      report::View{report_json(report), report_text(report, use_color(global), stdout_columns(),
                                                    report::rows_text(report, stdout_columns()))};
  result.write(out, [&](const std::string& path) { write_report(report, path); });
  // What is left is shown, and nobody takes it for the whole.
  say_what_is_damaged(*store, database_path(global), result);
  return result;
}

CommandResult winners_here(const GlobalOptions& global) {
  const std::unique_ptr<Store> store = open_store_read_only(database_path(global));
  const LocalMachine machine = local_machine();
  std::vector<report::StoredWinner> winners;
  for (const MachineIdentity& identity : identities_of(global, machine)) {
    std::ranges::move(tune::latest_winners(*store, identity), std::back_inserter(winners));
  }
  const report::View view = report::winners_view(winners);
  CommandResult out = report::View{
      {{"fingerprint", machine.fingerprint}},
      winners.empty()
          ? "no winners of this machine: halmark bench --variants all --store finds some\n"
          : view.text};
  out.data.update(view.data);
  say_what_is_damaged(*store, database_path(global), out);
  return out;
}

}  // namespace

Action add_report(OptionSet& app) {
  const auto runs = app.add<Runs>(
      "--run",
      "Run number (default: the latest sweep, else the latest run); several stand side by side");
  Option(runs).allow_extra_args(false);
  const auto out =
      app.add<Files>("--out,-o", "Report file, format by suffix: .html .json .csv .md");
  return [=](const GlobalOptions& global) { return execute(global, *runs, *out); };
}

Action add_winners(OptionSet&) { return winners_here; }

}  // namespace halmark::cli
