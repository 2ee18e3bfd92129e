#include "cli/stored_winners.hpp"

#include <filesystem>

namespace halmark::cli {

WinnerTable stored_winners(const Store& store, const std::string& fingerprint,
                           const std::string& plugin_hash) {
  WinnerTable out;
  for (const std::int64_t run : store.runs_with_winners(fingerprint)) {
    for (const Winner& winner : store.winners(run)) {
      if (winner.plugin_hash == plugin_hash) out.add(winner);
    }
  }
  return out;
}

WinnerTable stored_winners(const GlobalOptions& global, const std::string& fingerprint,
                           const std::string& backend) {
  const std::string path = database_path(global);
  std::error_code absent;
  if (!std::filesystem::exists(path, absent)) return {};
  const std::unique_ptr<Store> store = open_store_read_only(path);
  if (store->runs_with_winners(fingerprint).empty()) return {};
  for (const FoundPlugin& plugin : find_plugins(global)) {
    if (plugin.is_loaded() && plugin.description->name == backend) {
      return stored_winners(*store, fingerprint, plugin.hash);
    }
  }
  return {};
}

}  // namespace halmark::cli
