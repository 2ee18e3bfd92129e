// halmark run: the whole layer stack of a configuration on the device, against its estimate.
#include <memory>

#include "cli/console/session.hpp"
#include "plan/shard_places.hpp"
#include "report/views/validation_view.hpp"
#include "tune/devices/node_job.hpp"
#include "tune/plan/named_fabric.hpp"
#include "tune/search/outcome.hpp"
#include "tune/validate/run_configuration.hpp"

namespace halmark::cli {
namespace {

struct RunOptions {
  std::string model;
  DeploymentOptions configuration;
  tune::AskedNodes nodes;
  std::string backend = "cpu", device = "0", fabric, shards_on;
  std::optional<int> rounds;  // absent: as many as this machine needs
  double seconds = 11;
  bool takes_defaults = false, is_isolated = false, keeps_nothing = false;
};

CommandResult shown_run(const Configuration& configuration, const tune::RunOutcome& outcome) {
  const Evaluation& evaluation = outcome.evaluation;
  report::View run = report::validation_view(*outcome.validation);
  CommandResult result = {
      {.data = {{"deployment", configuration},
                {"estimate", evaluation.estimate ? Json(*evaluation.estimate) : Json(nullptr)},
                {"run", std::move(run.data)}},
       .text = run.text + report::kernel_energy_text(evaluation)},
      tune::exit_code_of(outcome.validation->status)};
  if (!evaluation.estimate) result.data["estimate_reason"] = evaluation.reason;
  return result;
}

CommandResult execute(const GlobalOptions& global, const RunOptions& options) {
  const ModelSpec spec = load_model(options.model, config_dirs("models"));
  LocalMachine machine = local_machine();
  Configuration configuration = deployment_from(options.configuration, spec, machine.has_bf16);
  if (configuration.workload.phase == Phase::training) {
    throw refused("phase 'training' is modelled, but not measured", {},
                  "run prefill or decode; halmark model --phase training prices a training step");
  }
  const std::vector<FoundPlugin> found = find_plugins(global);
  assign_placement(options.shards_on, "--shards-on", configuration);
  std::optional<tune::NamedDevices> named =
      tune::named_devices(configuration.places, found, machine);
  const ShardPlace first =
      named ? named->devices().front().place : ShardPlace{options.backend, options.device};
  const FoundPlugin& plugin = plugin_of(found, first.backend);
  check_device(plugin, first.device);
  if (!named) rows_are_of(machine, plugin, first.device);
  const bool takes_defaults = options.takes_defaults || named;
  tune::Target target =
      target_of(machine, first.backend, first.device,
                takes_defaults ? WinnerTable{}
                               : stored_winners(global, machine, first.backend, first.device));
  spread_over(options.nodes, target);
  if (named) named->name_in(target);
  target.in_stack = !options.is_isolated;
  target.fabric = tune::named_fabric(options.fabric, configuration, config_dirs("fabrics"));
  tune::require_runnable(spec, configuration, target);  // before anything is written
  MeasuringSession session(global, "run", &plugin, machine, named ? &*named : nullptr);
  session.measuring.job = tune::require_nodes(options.nodes, plugin);
  if (options.rounds) session.measuring.rounds = *options.rounds;
  session.keep({.is_off = options.keeps_nothing});
  const tune::RunOutcome outcome =
      tune::run_configuration(spec, configuration, target, session.measuring, options.seconds);
  session.finish();
  if (!outcome.validation) {
    if (interrupted()) return {};
    throw Error(ExitCode::partial, "no estimate: " + outcome.evaluation.reason);
  }
  if (!interrupted()) {
    session.kept->append(outcome.evaluation);
    session.kept->append(*outcome.validation);
  }
  CommandResult result = shown_run(configuration, outcome);
  session.say_what_is_kept(result);
  return result;
}

}  // namespace

Action add_run(OptionSet& app) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("model", o->model, "Shipped id, alias, or path of a config.json")->required();
  add_deployment_options(app, o->configuration);
  app.add_option("--backend", o->backend, "Backend, for example cpu");
  app.add_option("--device", o->device, "Device of the backend");
  add_node_options(app, o->nodes, "Ranks on");
  app.add_option("--shards-on", o->shards_on,
                 "The device of every shard: 'cpu:0/2 + opencl:0', '2 x cuda:0/2'; replicas unless "
                 "--tp, --pp or --dp say otherwise")
      ->excludes("--mpi-hosts");
  app.add_option("--fabric", o->fabric, "Prices collectives that cannot be measured (fabric show)");
  app.add_option("--rounds", o->rounds, "Fresh processes per kernel (default: halmark aa's, 3)")
      ->check(within(1, 99));
  app.add_option("--seconds", o->seconds,
                 "Time for the stack and its kernels, interleaved; at least a step of each")
      ->check(within(0.1, 3600.0));
  app.add_flag("--isolated", o->is_isolated,
               "Measure each kernel in a loop of its own, not in-stack");
  app.add_flag("--no-store", o->keeps_nothing, "Keep nothing in the results database");
  app.add_flag("--no-winners", o->takes_defaults,
               "Kernels as the plugin chooses them, not as halmark winners lists them");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
