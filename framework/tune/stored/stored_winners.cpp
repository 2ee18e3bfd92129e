// Runs are read oldest first, so that a later winner replaces an earlier one of its key.
#include "tune/stored/stored_winners.hpp"

#include <map>
#include <utility>

namespace halmark::tune {

std::vector<report::StoredWinner> latest_winners(const Store& store,
                                                 const MachineIdentity& machine) {
  std::map<std::string, report::StoredWinner> latest;
  for (const std::int64_t run : runs_with_winners(store, machine)) {
    for (Winner& winner : store.rows<Winner>(run)) {
      const std::string key = winner_key(winner.question) + ' ' + winner.plugin_hash;
      latest.insert_or_assign(key, report::StoredWinner{run, std::move(winner)});
    }
  }
  std::vector<report::StoredWinner> out;
  for (auto& [key, winner] : latest) out.push_back(std::move(winner));
  return out;
}

WinnerTable winner_table(const Store& store, const MachineIdentity& machine,
                         const std::string& plugin_hash) {
  WinnerTable out;
  for (const report::StoredWinner& stored : latest_winners(store, machine)) {
    if (stored.winner.plugin_hash == plugin_hash) out.add(stored.winner);
  }
  return out;
}

}  // namespace halmark::tune
