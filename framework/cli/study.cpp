// halmark study: what is stored of searches, carried between storages, and served to any program.
#include "cli/shared.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "framework/study/serve.hpp"
#include "framework/study/study.hpp"
#include "journal/place.hpp"
#include "pages/study/studies_page.hpp"
#include "plan/space_file.hpp"
#include "study/storage/copy.hpp"
#include "study/storage/open.hpp"

namespace halmark::cli {
namespace {

struct AskTellOptions {
  std::string space;  // the TOML file
  std::string sampler = "auto";
  std::uint64_t seed = 1;
  std::string location, name;
  std::size_t trials = 0;
  double lease_s = 60;
};

struct StudyOptions {
  std::string location;  // --study
  std::string name;
  std::string other;  // --to of export, the source of import
  std::string as;
  pages::StudyPage page;
  AskTellOptions serve;
};

std::string location_of(const GlobalOptions& global, const std::string& named) {
  return named.empty() ? study_location(global) : named;
}

std::unique_ptr<StudyStore> open(const GlobalOptions& global, const StudyOptions& options,
                                 StudyAccess access) {
  return open_study_store(location_of(global, options.location), access);
}

void add_notes(StudyStore& store, CommandResult& to) {
  for (const std::string& note : store.take_notes()) {
    to.warnings.push_back({"W-STUDY-01", "study", note, ""});
  }
}

CommandResult list(const GlobalOptions& global, const StudyOptions& options) {
  const auto store = open(global, options, StudyAccess::existing);
  CommandResult out = pages::studies_page(store->location(), store->list());
  add_notes(*store, out);
  return out;
}

CommandResult show(const GlobalOptions& global, StudyOptions options) {
  if (options.location.empty() && is_study_location(options.name))
    options.location.swap(options.name);
  const auto store = open(global, options, StudyAccess::existing);
  const StudySummary study = find_study(*store, options.name);
  TrialCursor cursor;
  CommandResult out = pages::study_page(study, store->trials(study.info.id, cursor), options.page);
  add_notes(*store, out);
  return out;
}

CommandResult copy(StudyStore& from, StudyStore& to, const StudyOptions& options) {
  const StudySummary study = find_study(from, options.name);
  const std::string name = options.as.empty() ? study.info.name : options.as;
  const std::size_t trials = copy_study(from, study.info, to, name);
  CommandResult out;
  out.data = {
      {"study", name}, {"trials", trials}, {"from", from.location()}, {"to", to.location()}};
  out.text = fmt::format("study '{}': {} trials to {}\n", printable(name), trials, to.location());
  add_notes(from, out);
  add_notes(to, out);
  return out;
}

void add_serve_options(OptionSet& app, AskTellOptions& options) {
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

CommandResult serve_trials(const GlobalOptions& global, const AskTellOptions& options) {
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
  return {};
}

}  // namespace

std::string study_location(const GlobalOptions& global) {
  return studies_of(database_path(global));
}

void keep_in_studies(const GlobalOptions& global, const std::string& otherwise,
                     CommandResult& result, const std::function<void(StudyStore&)>& keep) {
  try {
    const auto store = open_study_store(study_location(global), StudyAccess::or_create);
    keep(*store);
    add_notes(*store, result);
  } catch (const Error& e) {
    result.warnings.push_back(
        {"W-STUDY-02", "study", "not written: " + std::string(e.what()), otherwise});
  }
}

Action add_study(OptionSet& app) {
  auto options = std::make_shared<StudyOptions>();
  const auto add = [&](const char* name, const char* summary) {
    OptionSet sub = app.add_subcommand(name, summary);
    sub.add_option("--study", options->location,
                   std::string(study_locations) + " (default: the file beside --db)");
    return sub;
  };
  OptionSet list_app = add("list", "List the studies of a storage");
  OptionSet show_app = add("show", "Show a study and its Pareto front");
  show_app.add_option("name", options->name, "The study, where there are several; or their file");
  show_app.add_option("--rows", options->page.rows, "Rows of the front to print");
  show_app.add_flag("--all", options->page.all, "All trials, not only the front");
  OptionSet export_app = add("export", "Copy a study to another storage");
  export_app.add_option("name", options->name, "The study; needed where there are several");
  export_app.add_option("--to", options->other, study_locations)->required();
  export_app.add_option("--as", options->as, "Its name there");
  OptionSet import_app = add("import", "Copy a study from another storage, Optuna's included");
  import_app.add_option("from", options->other, study_locations)->required();
  import_app.add_option("name", options->name, "The study; needed where there are several");
  import_app.add_option("--as", options->as, "Its name here");
  OptionSet serve_app = app.add_subcommand(
      "serve",
      "Ask and tell over stdin and stdout, one JSON line each, so that any program can be "
      "tuned");
  add_serve_options(serve_app, options->serve);
  return [=](const GlobalOptions& global) {
    if (list_app.is_chosen()) return list(global, *options);
    if (show_app.is_chosen()) return show(global, *options);
    if (serve_app.is_chosen()) return serve_trials(global, options->serve);
    if (export_app.is_chosen()) {
      const auto from = open(global, *options, StudyAccess::existing);
      return copy(*from, *open_study_store(options->other, StudyAccess::or_create), *options);
    }
    const auto from = open_study_store(options->other, StudyAccess::existing);
    return copy(*from, *open(global, *options, StudyAccess::or_create), *options);
  };
}

}  // namespace halmark::cli
