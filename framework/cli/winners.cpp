// halmark winners: which kernel variants `tune` would take, and what they were drawn from.
#include "cli/console/session.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::cli {
namespace {

CommandResult execute(const GlobalOptions& global) {
  const std::unique_ptr<Store> store = open_store_read_only(database_path(global));
  const std::string fingerprint = this_machine().fingerprint();
  const std::vector<report::StoredWinner> winners = tune::latest_winners(*store, fingerprint);
  report::View view = report::winners_view(winners);
  CommandResult out{.data = {{"fingerprint", fingerprint}}, .text = std::move(view.text)};
  out.data.update(view.data);
  if (winners.empty()) {
    out.text = "no winners of this machine: halmark bench --variants all --store finds some\n";
  }
  for (const std::string& line : store->damaged()) {
    out.warnings.push_back({"W-DB-01", "database", line, "halmark verify says more"});
  }
  return out;
}

}  // namespace

Action add_winners(OptionSet&) {
  return [](const GlobalOptions& global) { return execute(global); };
}

}  // namespace halmark::cli
