// halmark simulate step: a step as events over a fabric.
#include "cli/console/terminal.hpp"
#include "cli/simulate/simulate.hpp"
#include "pages/simulate/simulation_page.hpp"
#include "report/report.hpp"
#include "simulate/schedule/one_time.hpp"
#include "simulate/timeline/telemetry.hpp"
#include "simulate/timeline/timeline_export.hpp"
#include "tune/evaluate/step_latencies.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::cli {
namespace {

// Alone it says how many; beside --tp and the like it is checked.
void take_shards(SimulateOptions& o) {
  if (!o.shards) return;
  DeploymentOptions& c = o.model.configuration;
  if (c.tp * c.pp * c.dp * o.model.cp == 1) (c.phase == "training" ? c.dp : c.tp) = *o.shards;
  o.model.devices = *o.shards;
}

}  // namespace

void add_simulate_options(OptionSet& app, SimulateOptions& o) {
  o.model.fabric = "lite";
  add_step_options(app, o.model);
  app.add_option("--shards", o.shards, "Devices: as tensor ranks, in training as replicas")
      ->check(within(1, 1 << 20));
  app.add_option("--latency", o.latency, "Sources of times as of tune; default roofline")
      ->delimiter(',');
  app.add_option("--runs", o.simulation.runs, "Runs with drawn times, for p50, p90 and p99")
      ->check(within(0, 100000));
  app.add_option("--seed", o.simulation.seed, "Of drawn times");
  app.add_flag("--messages", o.has_messages, "Collectives message by message over the links");
  app.add_flag("--by-layer", o.joins_kernels, "One event for the kernels of a layer together");
  app.add_option("--one-time", o.one_time, "boot=SECONDS,compile=SECONDS: apart from the step")
      ->delimiter(',');
  app.add_option("--events-max", o.simulation.lowering.events_max, "Limit of all runs together");
  app.add_option("--power-cap", o.power.cap_w, "Watts of a device: kernels take what that costs");
  app.add_option("--power-budget", o.power.budget_w, "Watts of all devices: an equal cap for each");
  app.add_option("--grid", o.power.carbon.g_per_kwh, "Grams of CO2e of a kWh (480: the world)");
  app.add_option("--perfetto", o.perfetto, "Writes a trace for ui.perfetto.dev");
  app.add_option("--events", o.events, "Writes every event: a JSON object a line, or .parquet");
  app.add_option("--otlp", o.otlp, "Writes spans and metrics for OpenTelemetry");
}

CommandResult simulated_step(const GlobalOptions& global, SimulateOptions o) {
  o.simulation.program.order = *schedule::parse_training_order(o.order);
  if (o.joins_kernels) o.simulation.program.grain = schedule::Grain::layer;
  o.simulation.program.overlaps_gradients = !o.waits_with_gradients;
  if (o.has_messages) o.simulation.lowering.carriage = schedule::Carriage::messages;
  take_shards(o);
  const PricedStep step = priced_step(o.model);
  const fabric::Topology topology =
      *tune::named_fabric(o.model.fabric, step.graph.configuration, config_dirs("fabrics"));
  const tune::StepLatencies times(step, o.latency, config_dirs("devices"), topology);
  const schedule::TimeSources sources{
      [&](std::size_t op) {
        return schedule::under_caps(times.of_operator(op), step.graph.operators[op], step, o.power);
      },
      [&](const Problem& p, const Work& w, std::int64_t s) {
        return times.of_collective(p, w, s);
      }};
  const schedule::Site site(topology);
  schedule::StepSimulator simulator(step, site, sources, o.simulation);
  if (!global.quiet) write_stderr(pages::simulation_begins(simulator.events(), simulator.runs()));
  schedule::StepSimulation simulation = simulator.run();
  simulation.one_time = schedule::one_time_phases(step, topology, o.one_time);
  const simulate::Timeline whole = preceded_by(simulation.timeline, simulation.one_time);
  if (!o.perfetto.empty()) write_whole_file(simulate::chrome_trace(whole), o.perfetto);
  if (!o.events.empty()) write_whole_file(simulate::events_of_file(whole, o.events), o.events);
  if (!o.otlp.empty())
    write_whole_file(simulate::otlp_lines(whole, schedule::telemetry_origin(step)), o.otlp);
  return shown(pages::simulation_view({step, topology, simulation,
                                       schedule::step_power(step, simulation, o.power),
                                       times.sources(), stdout_columns()}));
}

Action add_simulate_step(OptionSet& app) {
  auto options = std::make_shared<SimulateOptions>();
  add_simulate_options(app, *options);
  return [options](const GlobalOptions& global) { return simulated_step(global, *options); };
}

}  // namespace halmark::cli
