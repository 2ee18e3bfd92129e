// halmark study: what is stored of searches, carried between storages, and served to any program.
#include "cli/study/study.hpp"

#include <fmt/format.h>

#include "cli/console/paths.hpp"
#include "cli/console/terminal.hpp"
#include "framework/study/front.hpp"
#include "study/storage/copy.hpp"
#include "study/storage/open.hpp"
#include "study/values_json.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string location;  // --study
  std::string name;
  std::string other;  // --to of export, the source of import
  std::string as;
  std::size_t rows = 20;
  bool all = false;
  ServeOptions serve;
};

std::string location_of(const GlobalOptions& global, const std::string& named) {
  return named.empty() ? study_location(global) : named;
}

std::unique_ptr<StudyStore> open(const GlobalOptions& global, const Options& options,
                                 StudyAccess access) {
  return open_study_store(location_of(global, options.location), access);
}

void add_notes(StudyStore& store, CommandResult& to) {
  for (const std::string& note : store.take_notes()) {
    to.warnings.push_back({"W-STUDY-01", "study", note, ""});
  }
}

std::string value_text(double value) { return fmt::format("{:.6g}", value); }

std::string objectives_text(const StudyInfo& study) {
  std::string out;
  const std::vector<std::string> names = metric_names(study);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_max = study.directions[i] == StudyDirection::maximize;
    out += (i == 0 ? "" : ", ") + names[i] + (is_max ? " max" : " min");
  }
  return out;
}

CommandResult list(const GlobalOptions& global, const Options& options) {
  const auto store = open(global, options, StudyAccess::existing);
  CommandResult out;
  TextTable table({"study", "objectives", "trials", "complete", "running", "failed", "pruned"},
                  {false, false, true, true, true, true, true});
  Json studies = Json::array();
  for (const StudySummary& study : store->list()) {
    const auto count = [&](TrialState state) {
      return std::to_string(study.counts[static_cast<std::size_t>(state)]);
    };
    table.add({printable(study.info.name), printable(objectives_text(study.info)),
               std::to_string(study.trials()), count(TrialState::complete),
               count(TrialState::running), count(TrialState::fail), count(TrialState::pruned)});
    studies.push_back(study_summary_json(study));
  }
  out.data = {{"location", store->location()}, {"studies", studies}};
  out.text = studies.empty() ? "no studies\n" : table.text();
  add_notes(*store, out);
  return out;
}

std::string trials_table(const StudyInfo& study, const std::vector<const TrialRow*>& rows) {
  std::vector<std::string> header = {"trial"};
  for (const std::string& name : metric_names(study)) header.push_back(printable(name));
  header.emplace_back("parameters");
  TextTable table(header);
  for (const TrialRow* row : rows) {
    std::vector<std::string> cells = {std::to_string(row->number)};
    for (std::size_t i = 0; i < study.directions.size(); ++i) {
      cells.push_back(i < row->values.size() ? value_text(row->values[i]) : "-");
    }
    std::string params;
    for (const TrialParam& param : row->params) {
      params += (params.empty() ? "" : " ") + param.name + '=' +
                text_of(param.distribution->value(param.internal));
    }
    cells.push_back(printable(params));
    table.add(cells);
  }
  return table.text();
}

CommandResult show(const GlobalOptions& global, const Options& options) {
  const auto store = open(global, options, StudyAccess::existing);
  const StudySummary study = find_study(*store, options.name);
  TrialCursor cursor;
  const std::vector<TrialRow> rows = store->trials(study.info.id, cursor);
  const std::vector<std::size_t> front = study_front(study.info, rows);
  CommandResult out;
  out.data = study_summary_json(study);
  Json front_json = Json::array();
  std::vector<const TrialRow*> shown;
  for (const std::size_t i : front) {
    front_json.push_back(trial_json(rows[i]));
    if (shown.size() < options.rows) shown.push_back(&rows[i]);
  }
  out.data["front"] = front_json;
  if (options.all) {
    Json trials = Json::array();
    for (const TrialRow& row : rows) trials.push_back(trial_json(row));
    out.data["trials_all"] = trials;
    shown.clear();
    for (const TrialRow& row : rows) shown.push_back(&row);
  }
  out.text = fmt::format(
      "study '{}': {}; {} trials, {} complete, {} on the front\n", printable(study.info.name),
      printable(objectives_text(study.info)), study.trials(),
      study.counts[static_cast<std::size_t>(TrialState::complete)], front.size());
  if (!shown.empty()) out.text += trials_table(study.info, shown);
  add_notes(*store, out);
  return out;
}

CommandResult copy(StudyStore& from, StudyStore& to, const Options& options) {
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

}  // namespace

std::string study_location(const GlobalOptions& global) {
  return "sqlite:" + database_path(global) + ".study";
}

Action add_study(OptionSet& app) {
  auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* summary) {
    OptionSet sub = app.add_subcommand(name, summary);
    sub.add_option("--study", options->location,
                   std::string(study_locations) + " (default: the file beside --db)");
    return sub;
  };
  OptionSet list_app = add("list", "List the studies of a storage");
  OptionSet show_app = add("show", "Show a study and its Pareto front");
  show_app.add_option("name", options->name, "The study; needed where there are several");
  show_app.add_option("--rows", options->rows, "Rows of the front to print");
  show_app.add_flag("--all", options->all, "All trials, not only the front");
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
    if (serve_app.is_chosen()) return serve(global, options->serve);
    if (export_app.is_chosen()) {
      const auto from = open(global, *options, StudyAccess::existing);
      return copy(*from, *open_study_store(options->other, StudyAccess::or_create), *options);
    }
    const auto from = open_study_store(options->other, StudyAccess::existing);
    return copy(*from, *open(global, *options, StudyAccess::or_create), *options);
  };
}

}  // namespace halmark::cli
