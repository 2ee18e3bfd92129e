// What every command shares: global options, its result, the table of commands, and the facts that
// several of them look up without touching a device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"
#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "host/process/interrupt.hpp"
#include "options/shared_options.hpp"
#include "report/terminal/terminal.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/table.hpp"
#include "report/views/view.hpp"

namespace halmark::cli {

using report::stdout_columns, report::TextTable, report::write_stderr, report::write_stdout;
using tune::DeploymentOptions;

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
void add_global_options(OptionSet& app, GlobalOptions& options);

// What a command hands back. main prints `text` on stdout, or the envelope around `data`; where the
// command was interrupted, it ends with the exit code of that.
struct CommandResult : report::View {
  CommandResult() = default;
  CommandResult(report::View view, ExitCode code = ExitCode::ok)
      : report::View(std::move(view)), exit_code(code) {}
  // Adds a line for each file that `write` wrote.
  void write(const std::vector<std::string>& files,
             const std::function<void(const std::string&)>& write);

  ExitCode exit_code = ExitCode::ok;
  std::vector<Warning> warnings;
};

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

// A device of configs/devices by id or alias, or the path of a device file (*.toml). Throws Error
// (exit 2) with the nearest names.
Device known_device(const std::string& id);
tune::StepFolders step_folders();  // of configs

std::string database_path(const GlobalOptions& options);  // a writer creates its folder
// Where files lie that go with it: beside it, or of a server's beside the default one.
std::string files_beside(const GlobalOptions& options);

// The terminal as the global options want it: --color, else what stdout wants.
bool use_color(const GlobalOptions& options);

// A line on stderr that is no result: of the program, or nothing with --quiet.
void say(const GlobalOptions& global, const std::string& text);

class Progress : public report::Progress {
 public:
  Progress(const GlobalOptions& options, std::string title);
};

}  // namespace halmark::cli
