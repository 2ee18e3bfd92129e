// Finds plugins and asks each in a throw-away worker what it is: dlopen itself runs constructors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/protocol.hpp"
#include "host/worker_client.hpp"

namespace halmark {

struct DiscoveryOptions {
  std::vector<std::string> paths;  // --plugin FILE|DIR, searched first
  bool allow_insecure = false;     // --allow-insecure-plugin: loud and recorded
  bool search_installed = true;    // HALMARK_PLUGIN_PATH and ../lib/halmark/plugins
  std::string worker_program;      // "" = halmark-worker beside the running program
  WorkerLimits limits;             // of the worker that asks; one load per plugin
};

struct FoundPlugin {
  std::string path;            // resolved
  std::string hash;            // SHA-256 of the file; "" when it was not loaded
  std::string refusal;         // why it is not usable; "" = loaded
  Status status = Status::ok;  // refused, crashed, timed_out, worker_lost, ... when not
  std::optional<protocol::PluginDescription> description;
  bool is_insecure = false;  // accepted only because allow_insecure was given
  std::string insecurity;    // then: what it is accepted in spite of
  bool is_loaded() const { return description.has_value(); }
};

// Candidates in search order: given paths, HALMARK_PLUGIN_PATH (colon-separated files and folders),
// the plugins folder beside the program. Of a folder, every hm_*.so in name order; each file once.
// A given path or HALMARK_PLUGIN_PATH entry that is of no use is listed as well, with its refusal.
struct Candidate {
  std::string path;
  std::string refusal;
};
std::vector<Candidate> plugin_candidates(const DiscoveryOptions& options);

// One entry per candidate; one bad plugin never hides the others. Of two loaded plugins with one
// name the first wins and the second is refused, naming the first.
std::vector<FoundPlugin> discover(const DiscoveryOptions& options);

// Why a file must not be loaded, or nothing: it and each folder above it must belong to root or the
// user and must not be writable by others, nor by a group other than the user's own primary group;
// a sticky folder is accepted as a parent. Judges the resolved path.
std::optional<std::string> insecurity_of(const std::string& resolved_path);

}  // namespace halmark
