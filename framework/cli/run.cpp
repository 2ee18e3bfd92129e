// halmark run: the whole layer stack of a configuration on the device, against its estimate.
#include <fmt/format.h>

#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/peaks.hpp"
#include "cli/stored_winners.hpp"
#include "tune/search/run_configuration.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string model;
  DeploymentOptions configuration;
  std::string backend = "cpu", device = "0";
  int rounds = 3;
  double seconds = 5;
  bool takes_defaults = false;
};

Json validation_json(const Validation& v) {
  Json operators = Json::array();
  for (const auto& op : v.operators) {
    operators.push_back(
        {{"name", op.name}, {"predicted_ns", op.predicted_ns}, {"measured_ns", op.measured_ns}});
  }
  const bool has = has_latency(v.status) && v.measured_ns > 0;
  return {{"predicted_ns", v.predicted_ns},
          {"predicted_interval_ns", v.predicted_interval_ns},
          {"measured_ns", has ? Json(v.measured_ns) : Json(nullptr)},
          {"measured_interval_ns", has ? Json(v.measured_interval_ns) : Json(nullptr)},
          {"relative_error", has ? Json(v.relative_error()) : Json(nullptr)},
          {"status", std::string(status_name(v.status))},
          {"reason", v.reason},
          {"operators", operators}};
}

std::string error_text(double predicted, double measured) {
  return measured > 0 ? fmt::format("{:+.1f} %", 100 * (predicted / measured - 1)) : "-";
}

std::string validation_text(const Validation& v) {
  TextTable table({"operator", "predicted", "measured", "error", "of the step"},
                  {false, true, true, true, true});
  for (const auto& op : v.operators) {
    table.add({op.name, duration_text(op.predicted_ns), duration_text(op.measured_ns),
               error_text(op.predicted_ns, op.measured_ns),
               v.measured_ns > 0 ? percent_text(op.measured_ns / v.measured_ns) : "-"});
  }
  std::string out = v.deployment_key + '\n' + '\n' + table.text();
  if (!has_latency(v.status)) {
    return out + "\nno measured step: " + std::string(status_name(v.status)) + ": " + v.reason +
           '\n';
  }
  return out +
         fmt::format("\nstep: predicted {} ({} .. {}), measured {} ({} .. {}), error {}  [{}{}]\n",
                     duration_text(v.predicted_ns), duration_text(v.predicted_interval_ns.low),
                     duration_text(v.predicted_interval_ns.high), duration_text(v.measured_ns),
                     duration_text(v.measured_interval_ns.low),
                     duration_text(v.measured_interval_ns.high),
                     error_text(v.predicted_ns, v.measured_ns), status_name(v.status),
                     v.reason.empty() ? "" : ": " + v.reason);
}

ExitCode exit_code_of(Status status) {
  if (interrupted()) return interrupt_exit_code();
  if (status == Status::wrong_result || status == Status::nan_result) return ExitCode::incorrect;
  return counts_as_failure(status) ? ExitCode::partial : ExitCode::ok;
}

CommandResult execute(const GlobalOptions& global, const Options& options) {
  const ModelSpec spec = load_model(options.model, config_dirs("models"));
  const LocalMachine machine = local_machine();
  const Configuration configuration =
      deployment_from(options.configuration, spec, machine.has_bf16);
  if (configuration.workload.phase == Phase::training) {
    throw refused("phase 'training' is modelled, but not measured", {},
                  "run prefill or decode; halmark model --phase training prices a training step");
  }
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, options.backend);
  check_device(plugin, options.device);
  const tune::Target target = target_of(
      machine, options.backend, options.device,
      options.takes_defaults ? WinnerTable{}
                             : stored_winners(global, machine.fingerprint, options.backend));
  Progress progress(global, "run");
  std::optional<RunPeaks> peaks = run_peaks(machine);
  tune::KernelMeasuring measuring = measuring_with(plugin, peaks);
  measuring.rounds = options.rounds;
  measuring.progress = campaign_progress(progress);
  const tune::RunOutcome outcome =
      tune::run_configuration(spec, configuration, target, measuring, options.seconds);
  progress.finish();
  keep_seen_peaks(machine, peaks ? &*peaks : nullptr);
  if (!outcome.validation) {
    if (interrupted()) return {.exit_code = interrupt_exit_code()};
    throw Error(ExitCode::partial, "no estimate: " + outcome.evaluation.reason);
  }
  return {.exit_code = exit_code_of(outcome.validation->status),
          .data = {{"deployment", configuration},
                   {"estimate", *outcome.evaluation.estimate},
                   {"run", validation_json(*outcome.validation)}},
          .text = validation_text(*outcome.validation)};
}

}  // namespace

Action add_run(OptionSet& app) {
  auto o = std::make_shared<Options>();
  app.add_option("model", o->model, "Shipped id, alias, or path of a config.json")->required();
  add_deployment_options(app, o->configuration);
  app.add_option("--backend", o->backend, "Backend, for example cpu");
  app.add_option("--device", o->device, "Device of the backend");
  app.add_option("--rounds", o->rounds, "Fresh processes per kernel")->check(within(1, 99));
  app.add_option("--seconds", o->seconds, "Time for the repetitions of the whole stack")
      ->check(within(0.1, 3600.0));
  app.add_flag("--no-winners", o->takes_defaults,
               "Kernels as the plugin chooses them, not as halmark winners lists them");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
