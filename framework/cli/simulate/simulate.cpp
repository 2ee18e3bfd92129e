// halmark simulate: its subcommands by name, each with a line below; step and training: a step as
// events over a fabric, also what it does without a name.
#include <array>

#include "cli/shared.hpp"
#include "pages/serve/state/composed_step.hpp"
#include "pages/simulate/simulation_page.hpp"
#include "tune/simulate/simulate_step.hpp"

namespace halmark::cli {

AddCommand add_simulate_serving, add_simulate_plan;

namespace {

struct StepOptions {
  tune::StepRequest model;
  tune::StepSimulating asked;
  std::optional<int> shards;
  std::string html;
};

// Alone it says how many; beside --tp and the like it is checked.
void take_shards(StepOptions& o) {
  if (!o.shards) return;
  DeploymentOptions& c = o.model.configuration;
  if (c.tp * c.pp * c.dp * o.model.cp == 1) (c.phase == "training" ? c.dp : c.tp) = *o.shards;
  o.model.devices = *o.shards;
}

CommandResult execute(const GlobalOptions& global, StepOptions o) {
  take_shards(o);
  const PricedStep step = tune::priced_step(o.model, step_folders());
  o.asked.latency = tune::sources_or_default(o.asked.latency, step.is_training());
  o.asked.fabric = o.model.fabric;
  tune::SimulatedStep s = tune::simulate_step(
      step, o.asked, config_dirs("devices"), config_dirs("fabrics"), [&](double events, int runs) {
        if (!global.quiet) write_stderr(pages::simulation_begins(events, runs));
      });
  pages::SimulationPage page{step, s.topology, s.simulation, s.power, s.sources, stdout_columns()};
  if (s.engine) page.engine = &*s.engine;
  if (s.run) page.executed = {s.run->measured_ns, s.run->measured_each_ns, s.run->executions};
  CommandResult out = pages::simulation_view(page);
  if (!o.html.empty()) {
    write_page(global, pages::stepped_page(step, o.model, o.asked.order), o.html, out,
               o.asked.latency);
  }
  return out;
}

Action add(OptionSet& app, const char* phase) {
  auto o = std::make_shared<StepOptions>();
  o->model.configuration.phase = phase;
  add_step_options(app, o->model);
  app.add_option("--shards", o->shards, "Devices: as tensor ranks, in training as replicas")
      ->check(within(1, 1 << 20));
  add_latency_option(app, o->asked.latency);
  app.add_option("--schedule", o->asked.order, "Training: order of passes in a pipeline")
      ->check(one_of({"1f1b", "interleaved", "zero-bubble"}));
  app.add_option("--virtual-stages", o->asked.options.program.chunks,
                 "With interleaved: chunks of layers of each stage (default 2)")
      ->check(within(0, 1024));
  app.add_flag("--no-overlap", o->asked.waits_with_gradients,
               "Training: gradients are reduced after the last pass, not layer by layer");
  app.add_option("--runs", o->asked.options.runs, "Runs with drawn times, for p50, p90 and p99")
      ->check(within(0, 100000));
  app.add_option("--seed", o->asked.options.seed, "Of drawn times");
  app.add_flag("--messages", o->asked.has_messages, "Collectives message by message over links");
  app.add_flag("--by-layer", o->asked.joins_kernels, "One event for a layer's kernels together");
  app.add_option("--one-time", o->asked.one_time, "boot=SECONDS,compile=SECONDS: before the step")
      ->delimiter(',');
  app.add_option("--events-max", o->asked.options.lowering.events_max, "Limit of all runs");
  app.add_option("--power-cap", o->asked.power.cap_w, "Watts of a device; slows its kernels");
  app.add_option("--power-budget", o->asked.power.budget_w, "Watts of all: an equal cap for each");
  app.add_option("--grid", o->asked.power.carbon.g_per_kwh, "Grams of CO2e a kWh (480: the world)");
  app.add_option("--otlp", o->asked.otlp,
                 "Spans and metrics of OpenTelemetry: a file, or http://HOST:PORT of a collector");
  app.add_option("--html", o->html, "Writes the page of halmark serve around this step");
  app.add_option("--perfetto", o->asked.perfetto, "Writes a trace for ui.perfetto.dev");
  app.add_option("--events", o->asked.events,
                 "Writes every event: a JSON object a line, or .parquet");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

Action add_step(OptionSet& app) { return add(app, "decode"); }
Action add_training(OptionSet& app) { return add(app, "training"); }

}  // namespace

Action add_simulate(OptionSet& app) {
  static constexpr std::array table = {
      Command{"step", "A step of prefill or decode", add_step},
      Command{"training", "A training step: 1F1B, interleaved or zero-bubble", add_training},
      Command{"serving", "A stream of requests on a server's engines", add_simulate_serving},
      Command{"plan", "Shards of a model: layouts, tensors, stages, what they exchange",
              add_simulate_plan},
  };
  std::vector<std::pair<OptionSet, Action>> actions;
  for (const Command& command : table) {
    OptionSet sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    actions.emplace_back(sub, command.add(sub));
  }
  const Action bare = add_step(app);
  app.allow_no_subcommand();
  return [actions, bare](const GlobalOptions& global) {
    for (const auto& [sub, action] : actions) {
      if (sub.is_chosen()) return action(global);
    }
    return bare(global);
  };
}

}  // namespace halmark::cli
