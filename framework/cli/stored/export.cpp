// halmark export: a point of a stored front as what a serving engine starts from.
#include <filesystem>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/paths.hpp"
#include "cli/stored/export.hpp"
#include "cli/study/study.hpp"
#include "export/engine/launch_text.hpp"
#include "export/front_list.hpp"
#include "export/write_files.hpp"
#include "report/choice/pick.hpp"
#include "tune/plan/deployment.hpp"
#include "tune/stored/stored_front.hpp"

namespace halmark::cli {
namespace {

struct Options {
  ExportOptions asked;
  std::string study;
  std::optional<std::int64_t> run;
  std::optional<std::int64_t> point;
  std::string pick;
};

CommandResult execute(const GlobalOptions& global, const Options& o) {
  const SearchedFront front = tune::find_front({.database = database_path(global),
                                                .studies = study_location(global),
                                                .study = o.study,
                                                .run = o.run});
  if (o.asked.as.empty()) return shown(exports::front_list(front));
  if (o.point && !o.pick.empty()) {
    throw refused("--point names a point and --pick another", {}, "give one of them");
  }
  Pick pick;
  if (o.point) {
    pick.index = static_cast<std::size_t>(*o.point - 1);
  } else {
    pick = pick_point(front.points, front.objectives, o.pick.empty() ? "knee" : o.pick);
  }
  return exported_point(front, pick, o.asked);
}

}  // namespace

void add_export_options(OptionSet& app, ExportOptions& o) {
  std::string engines;
  for (const std::string& name : exports::engine_names())
    engines += (engines.empty() ? "" : ", ") + name;
  app.add_option("--as", o.as, "What is written: " + engines);
  app.add_option("--server-version", o.server_version, "The engine's release, 0.20.1");
  app.add_option("--checkpoint", o.checkpoint,
                 "What the engine loads (default: the name of the model on its hub)");
}

CommandResult exported_point(const SearchedFront& front, const Pick& pick, const ExportOptions& o) {
  const exports::EngineTable table =
      exports::read_engine_table(o.as, o.server_version, config_dirs("engines"));
  Deployment deployment = tune::deployment_of(front, pick.index + 1, o.checkpoint,
                                              config_dirs("models"), config_dirs("devices"));
  deployment.chosen_because = pick.because;
  const exports::Launch launch = exports::launch_of(deployment, table);
  const auto files = exports::launch_files(deployment, launch);
  CommandResult result{.data = exports::launch_json(deployment, launch)};
  result.data["gives_up"] = pick.gives_up;
  result.text = o.out.empty() ? exports::files_text(files) : exports::write_files(files, o.out);
  return result;
}

Action add_export(OptionSet& app) {
  auto o = std::make_shared<Options>();
  add_export_options(app, o->asked);
  app.add_option("--point", o->point, "Number of the point; without --as all are listed")
      .check(within(1, 1'000'000));
  app.add_option("--pick", o->pick,
                 std::string("Which point, where --point names none: ") + pick_help);
  app.add_option("--study", o->study, "The search, by the name of its study (default: the latest)");
  app.add_option("--run", o->run, "A measured search, by the number of its run");
  app.add_option("--out,-o", o->asked.out, "File of the script, or a folder for all files");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
