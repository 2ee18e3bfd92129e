// halmark winners: which kernel variants `tune` would take, and what they were drawn from.
#include <algorithm>
#include <iterator>

#include "cli/console/session.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::cli {
namespace {

CommandResult execute(const GlobalOptions& global) {
  const std::unique_ptr<Store> store = open_store_read_only(database_path(global));
  const LocalMachine machine = local_machine();
  std::vector<report::StoredWinner> winners;
  for (const MachineIdentity& identity : identities_of(global, machine)) {
    std::ranges::move(tune::latest_winners(*store, identity), std::back_inserter(winners));
  }
  report::View view = report::winners_view(winners);
  CommandResult out{.data = {{"fingerprint", machine.fingerprint}}, .text = std::move(view.text)};
  out.data.update(view.data);
  if (winners.empty()) {
    out.text = "no winners of this machine: halmark bench --variants all --store finds some\n";
  }
  say_what_is_damaged(*store, database_path(global), out);
  return out;
}

}  // namespace

Action add_winners(OptionSet&) {
  return [](const GlobalOptions& global) { return execute(global); };
}

}  // namespace halmark::cli
