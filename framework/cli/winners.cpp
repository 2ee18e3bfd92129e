// halmark winners: which kernel variants `tune` would take, and what they were drawn from.
#include <fmt/format.h>

#include "cli/console/command.hpp"
#include "cli/console/session.hpp"
#include "cli/console/terminal.hpp"
#include "core/json/winner_json.hpp"
#include "journal/store.hpp"

namespace halmark::cli {
namespace {

struct StoredWinner {
  std::int64_t run = 0;
  Winner winner;
};

// Of each key and plugin build the latest, in order of keys.
std::map<std::string, StoredWinner> latest_winners(const Store& store,
                                                   const std::string& fingerprint) {
  std::map<std::string, StoredWinner> out;
  for (const std::int64_t run : store.runs_with_winners(fingerprint)) {
    for (Winner& winner : store.winners(run)) {
      const std::string key = winner_key(winner.question) + ' ' + winner.plugin_hash;
      out.insert_or_assign(key, StoredWinner{run, std::move(winner)});
    }
  }
  return out;
}

CommandResult execute(const GlobalOptions& global) {
  const std::unique_ptr<Store> store = open_store_read_only(database_path(global));
  const std::string fingerprint = this_machine().fingerprint();
  CommandResult out;
  Json list = Json::array();
  TextTable table({"problem on device, mode", "winner", "median", "interval", "tied", "plugin",
                   "run", "status"},
                  {false, false, true, true, true, false, true, false});
  for (const auto& [key, stored] : latest_winners(*store, fingerprint)) {
    const Winner& w = stored.winner;
    const VariantTime& fastest = w.variants.front();
    table.add(
        {winner_key(w.question), w.chosen.text() + (w.chosen.is_default ? " (the default)" : ""),
         duration_text(fastest.ns),
         duration_text(fastest.interval_ns.low) + " .. " + duration_text(fastest.interval_ns.high),
         fmt::format("{} of {}", w.tied(), w.variants.size()),
         w.plugin_name + ' ' + w.plugin_hash.substr(0, 8), std::to_string(stored.run),
         std::string(status_name(w.status))});
    list.push_back({{"key", winner_key(w.question)}, {"run", stored.run}, {"winner", w}});
  }
  out.data = {{"fingerprint", fingerprint}, {"winners", list}};
  out.text = list.empty() ? "no winners of this machine: halmark bench --variants all --store "
                            "finds some\n"
                          : table.text();
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
