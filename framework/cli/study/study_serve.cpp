// halmark study serve: wires a space file, a storage and two streams.
#include "framework/study/serve.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "cli/console/terminal.hpp"
#include "cli/study/study.hpp"
#include "framework/study/study.hpp"
#include "host/process/interrupt.hpp"
#include "plan/space_file.hpp"
#include "study/storage/open.hpp"

namespace halmark::cli {
namespace {

void say(const GlobalOptions& global, const std::string& text) {
  if (!global.quiet) write_stderr("halmark: " + message_text(text) + '\n');
}

}  // namespace

void add_serve_options(OptionSet& app, ServeOptions& options) {
  app.add_option("space", options.space, "The space: parameters, constraints, objectives (TOML)")
      ->required();
  app.add_option("--sampler", options.sampler, "Who proposes (default auto):\n" + sampler_list());
  app.add_option("--seed", options.seed, "Equal seeds propose equal trials");
  app.add_option("--study", options.location,
                 std::string(study_locations) + "; without it nothing is kept");
  app.add_option("--name", options.name, "Name of the study (default: of the space's file)");
  app.add_option("--trials", options.trials, "Budget of the study, of all its workers (0: none)");
  app.add_option("--lease", options.lease_s,
                 "Seconds without a sign of life after which a worker's trial is taken back")
      ->check(within(1.0, 86400.0));
}

CommandResult serve(const GlobalOptions& global, const ServeOptions& options) {
  if (global.json) {
    throw refused("serve speaks JSON lines by itself", {}, "leave --json away");
  }
  std::vector<std::string> read_notes;
  const SpaceDescription space = read_space(options.space, &read_notes);
  for (const std::string& note : read_notes) say(global, note);
  const HeldInterrupts until_stored;
  const std::string location = options.location.empty() ? "memory:" : options.location;
  const auto store = open_study_store(location, StudyAccess::or_create);
  const std::string stem = std::filesystem::path(options.space).stem().string();
  const StudySettings settings{.name = options.name.empty() ? stem : options.name,
                               .sampler = options.sampler,
                               .seed = options.seed,
                               .trials = options.trials,
                               .lease_s = options.lease_s,
                               .should_stop = interrupted};
  Study study(*store, space, settings);
  const auto notes = [&] {
    for (const std::string& note : store->take_notes()) say(global, note);
  };
  notes();
  say(global, fmt::format("study '{}' at {}: {} trials, sampler {}, seed {}", settings.name,
                          store->location(), study.size(), options.sampler, options.seed));
  if (study.foreign_trials() > 0) {
    say(global, fmt::format("{} trials are outside of this space or repeat one; the sampler does "
                            "not learn from them",
                            study.foreign_trials()));
  }
  serve_study(study, {.requests = STDIN_FILENO,
                      .answer = [](std::string_view text) { write_stdout(text); },
                      .should_stop = interrupted,
                      .after_each = notes});
  return {.exit_code = interrupted() ? interrupt_exit_code() : ExitCode::ok};
}

}  // namespace halmark::cli
