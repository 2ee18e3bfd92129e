// halmark deploy-check: runs an exported command on this machine with random weights, the engine's
// own step beside the predicted one.
#include "deploy/deploy_check.hpp"

#include <memory>

#include "cli/console/facts.hpp"
#include "cli/console/session.hpp"
#include "cli/study/study.hpp"
#include "deploy/engine/benchmark_app.hpp"
#include "deploy/engine_store.hpp"
#include "host/process/interrupt.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "tune/plan/deployment.hpp"
#include "tune/stored/stored_front.hpp"

namespace halmark::cli {
namespace {

struct DeployCheckOptions {
  std::string engine, server_version, as = "llamacpp";
  tune::FrontPlace place;
  std::optional<std::int64_t> point;
};

CommandResult check_layer(const DeployCheckOptions& o, const SearchedFront& front,
                          const std::string& app) {
  const HeldInterrupts until_app_ended;
  const auto number = static_cast<std::size_t>(o.point.value_or(1));
  return shown(deploy::layer_view(deploy::check_layer(
      load_model(front.model, config_dirs("models")),
      tune::deployment_of(front, number, {}, config_dirs("models"), config_dirs("devices")), app,
      interrupts())));
}

CommandResult execute(const GlobalOptions& global, DeployCheckOptions o) {
  const bool is_layer = o.as == "openvino";
  const std::string program =
      is_layer ? deploy::benchmark_app(o.engine) : deploy::server_program(o.engine);
  o.place.database = database_path(global);
  o.place.studies = study_location(global);
  const SearchedFront front = tune::find_front(o.place);
  if (is_layer) return check_layer(o, front, program);
  const exports::EngineTable table =
      exports::read_engine_table("llamacpp", o.server_version, config_dirs("engines"));
  const auto planned = deploy::plan_checks(front, o.point, table, [&](std::size_t i) {
    return tune::deployment_of(front, i + 1, {}, config_dirs("models"), config_dirs("devices"));
  });
  const LocalMachine machine = local_machine();
  Progress progress(global, "deploy-check");
  const HeldInterrupts until_server_ended;
  const std::vector<deploy::CheckedPoint> checked = deploy::check_points(
      load_model(front.model, config_dirs("models")), planned,
      {.program = program,
       .device = machine.machine.cpu_model + ", " + std::to_string(machine.cores) + " cores",
       .stop = interrupts(),
       .progress = [&](const std::string& what) { progress.step(0, 1, 0, what, -1); }});
  progress.finish();
  CommandResult out = shown(deploy::check_view(checked));
  const std::string path =
      deploy::keep_import(files_beside(global), deploy::import_of(checked, journal::utc_now()));
  out.data["stored"] = path;
  out.text += "stored: " + path + "; halmark export shows it beside the point\n";
  return out;
}

}  // namespace

Action add_deploy_check(OptionSet& app) {
  auto o = std::make_shared<DeployCheckOptions>();
  app.add_option("--engine", o->engine,
                 "Folder of the engine's programs: llama-server, benchmark_app");
  app.add_option("--as", o->as, "llamacpp, or openvino: one layer, by benchmark_app")
      .check(one_of({"llamacpp", "openvino"}));
  app.add_option("--server-version", o->server_version,
                 "Release whose flags the command is written with (default: the latest known)");
  app.add_option("--point", o->point,
                 "Number of the point (default: the first of each kind of step that it can run)")
      .check(within(1, 1'000'000));
  app.add_option("--study", o->place.study, "The search, by its study (default: the latest)");
  app.add_option("--run", o->place.run, "A run of the database, by its number");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
