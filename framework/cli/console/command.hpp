// What every command shares: global options, its result, and the table of commands.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "options/option_set.hpp"
#include "report/views/view.hpp"

namespace halmark::cli {

struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  std::string color = "auto";        // auto, always, never
  std::string progress = "auto";     // auto, json, never
  std::string db;                    // empty = under the XDG state folder
  std::vector<std::string> plugins;  // --plugin FILE|DIR, searched first
  bool allows_insecure_plugins = false;
  // Those that find_plugins accepted only for that: loud, and recorded with the run.
  std::shared_ptr<std::vector<Warning>> insecure_plugins = std::make_shared<std::vector<Warning>>();
  std::string worker_memory;              // 8GiB, none; empty = by the machine
  std::vector<std::string> phase_limits;  // create=30
  std::string command;                    // that reproduces the request; runs record it
};

// What a command hands back. main prints `text` on stdout, or the envelope around `data`.
struct CommandResult {
  ExitCode exit_code = ExitCode::ok;
  Json data = Json::object();
  std::string text;
  std::vector<Warning> warnings;
};

CommandResult shown(report::View view, ExitCode exit_code = ExitCode::ok);

using Action = std::function<CommandResult(const GlobalOptions&)>;
using AddCommand = Action(OptionSet& app);

// One line per command in commands.cpp. `add` declares the options and returns what to do.
struct Command {
  std::string_view name;
  std::string_view summary;
  AddCommand* add;
  int schema_version = 1;
};
std::span<const Command> commands();

// One envelope with a trailing newline, keys in a fixed order.
std::string envelope(const Command& command, const CommandResult& result, const Error* error);

}  // namespace halmark::cli
