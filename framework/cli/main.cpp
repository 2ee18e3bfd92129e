// Parses, dispatches, prints. Errors are caught here and nowhere else.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iterator>
#include <new>
#include <string_view>

#include "cli/console/command.hpp"
#include "core/lists.hpp"
#include "core/version.hpp"
#include "options/usage_error.hpp"
#include "pages/help/first_help.hpp"
#include "tune/plan/plain_question.hpp"

namespace halmark::cli {
namespace {

int finish(const GlobalOptions& options, const Command& command, const CommandResult& result,
           const Error* error) {
  const HeldInterrupts until_printed;
  if (options.json || error == nullptr)
    write_stdout(options.json ? envelope(command, result, error) : result.text);
  if (!options.json && !options.quiet) {
    for (const Warning& w : result.warnings) write_stderr(warning_line(w));
  }
  if (error != nullptr && !options.json) write_stderr("halmark: " + error->line() + '\n');
  if (error == nullptr && report::says_lost_output()) return as_int(ExitCode::error);
  return as_int(error != nullptr ? error->exit_code() : result.exit_code);
}

int run_command(const GlobalOptions& options, const Command& command, const Action& action) {
  try {
    CommandResult result = action(options);
    if (interrupted()) result.exit_code = interrupt_exit_code();
    if (options.json)
      std::ranges::copy(*options.insecure_plugins, std::back_inserter(result.warnings));
    return finish(options, command, result, nullptr);
  } catch (const Error& error) {
    return finish(options, command, {}, &error);
  } catch (const std::bad_alloc&) {
    const Error error(ExitCode::error, "out of memory", {},
                      "free memory or choose a smaller sweep");
    return finish(options, command, {}, &error);
  } catch (const std::exception& e) {
    const Error error(ExitCode::error, std::string("internal error: ") + e.what(), {},
                      "this is a defect of halmark; please report the command line");
    return finish(options, command, {}, &error);
  }
}

// "halmark help tune" is "halmark tune --help"; halmark alone is "halmark --help". "--all" behind
// help is kept: no command has to know it.
std::vector<std::string> asked_words(int argc, char** argv, const CLI::App& app) {
  std::vector<std::string> out(argv + 1, argv + argc);
  if (out.empty()) return {"--help"};
  if (out.front() == "help") {
    out.erase(out.begin());
    // A word that is no command is refused as one.
    if (out.empty() || out.front() == "--all" ||
        std::ranges::count(commands(), out.front(), &Command::name) > 0)
      out.emplace_back("--help");
  }
  settle_question(app, out);
  std::ranges::reverse(out);  // as CLI::App::parse takes them
  return out;
}

int run(int argc, char** argv) {
  std::for_each(argv, argv + argc, report::hide_passwords_of);
  GlobalOptions options;
  CLI::App app{"Halmark measures, models and searches AI compute: kernels, MFU, Pareto fronts.",
               "halmark"};
  app.set_version_flag("--version", std::string("halmark ") + tool_version + " (" + tool_build +
                                        ", " + build_type + ")");
  OptionSet program(app);
  add_global_options(program, options);
  std::vector<std::pair<OptionSet, Action>> actions;
  for (const Command& command : commands()) {
    OptionSet sub = program.add_subcommand(std::string(command.name), std::string(command.summary));
    Action action = command.add(sub);
    actions.emplace_back(sub, std::move(action));
  }
  try {
    app.parse(asked_words(argc, argv, app));
  } catch (const CLI::ParseError& error) {
    const bool is_first_help =
        error.get_name() == "CallForHelp" && app.get_subcommands().empty() &&
        std::find(argv, argv + argc, std::string_view("--all")) == argv + argc;
    if (is_first_help) return write_stdout(first_help(program.help())), 0;
    if (error.get_exit_code() == 0) return app.exit(error);
    std::vector<std::string> names;
    for (const Command& command : commands()) names.emplace_back(command.name);
    const Error ours = usage_error(error, app, names, [](const std::string& words) {
      return tune::command_for(words, config_dirs("models"), config_dirs("devices"));
    });
    // Flags are only set by a parse that succeeds; whoever asked for JSON still gets it.
    options.json = std::any_of(argv, argv + argc,
                               [](const char* word) { return std::string_view(word) == "--json"; });
    const auto subs = app.get_subcommands();
    const Command* named = &commands().front();
    for (const Command& command : commands()) {
      if (!subs.empty() && subs.front()->get_name() == command.name) named = &command;
    }
    return finish(options, *named, {}, &ours);
  }
  options.command = program.command_line();
  for (const auto i : indices(actions)) {
    if (actions[i].first.is_chosen()) {
      return run_command(options, commands()[i], actions[i].second);
    }
  }
  return as_int(ExitCode::refused);
}

}  // namespace
}  // namespace halmark::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  halmark::watch_interrupts();
  return halmark::cli::run(argc, argv);
}
