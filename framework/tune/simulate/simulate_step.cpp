#include "tune/simulate/simulate_step.hpp"

#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/pricing/timed_step.hpp"
#include "report/report.hpp"
#include "serve/http_client.hpp"
#include "simulate/fabric/device_fabric.hpp"
#include "simulate/schedule/one_time.hpp"
#include "simulate/schedule/simulation_json.hpp"
#include "simulate/timeline/executed.hpp"
#include "simulate/timeline/telemetry.hpp"
#include "simulate/timeline/timeline_export.hpp"
#include "tune/plan/named_fabric.hpp"

namespace halmark::tune {
namespace {

schedule::SimulationOptions options_of(const StepSimulating& asked) {
  schedule::SimulationOptions out = asked.options;
  const auto order = schedule::parse_training_order(asked.order);
  if (!order) {
    throw refused("unknown schedule '" + printable(asked.order) + "'", "--schedule",
                  suggestion(asked.order, schedule::training_order_names()));
  }
  out.program.order = *order;
  if (asked.joins_kernels) out.program.grain = schedule::Grain::layer;
  out.program.overlaps_gradients = !asked.waits_with_gradients;
  if (asked.has_messages) out.lowering.carriage = schedule::Carriage::messages;
  return out;
}

constexpr const char* otlp_port = "4318";

// https://opentelemetry.io/docs/specs/otlp/#otlphttp-request
void post_otlp(const std::string& lines, const serve::HttpTarget& to) {
  const std::size_t cut = lines.find('\n');
  serve::post_json(to, "/v1/traces", lines.substr(0, cut));
  serve::post_json(to, "/v1/metrics", lines.substr(cut + 1));
}

void write_files(const PricedStep& step, const StepSimulating& asked, const SimulatedStep& made) {
  const schedule::StepSimulation& simulation = made.simulation;
  if (asked.perfetto.empty() && asked.events.empty() && asked.otlp.empty()) return;
  const auto executed = made.run ? made.run->executions : std::vector<RankExecutions>{};
  const simulate::Timeline whole =
      preceded_by(with_executed(simulation.timeline, executed), simulation.one_time);
  if (!asked.perfetto.empty()) write_whole_file(simulate::chrome_trace(whole), asked.perfetto);
  if (!asked.events.empty()) {
    write_whole_file(simulate::events_of_file(whole, asked.events), asked.events);
  }
  if (asked.otlp.empty()) return;
  const std::string lines = simulate::otlp_lines(whole, schedule::telemetry_origin(step));
  if (serve::is_http_url(asked.otlp)) {
    post_otlp(lines, serve::http_target(asked.otlp, otlp_port));
  } else {
    write_whole_file(lines, asked.otlp);
  }
}

KernelTime stream_of(const OperatorGraph& graph, const schedule::TimeSources& times) {
  std::vector<KernelTime> each = mapped(
      indices(graph.operators), [&](const auto op) { return kernel_time(times.of_operator(op)); });
  return TimedStep(graph, std::move(each)).stream().time;
}

void scale_times(Latency& latency, double factor) {
  for (double* ns : {&latency.low_ns, &latency.ns, &latency.high_ns}) *ns *= factor;
}

}  // namespace

StepOutcome simulate_timed(const PricedStep& step, const schedule::Site& site,
                           const schedule::TimeSources& times, const StepSimulating& asked,
                           const std::function<void(double events, int runs)>& begins,
                           const StepEngine* engine) {
  schedule::SimulationOptions options = options_of(asked);
  EngineShare share;
  if (engine != nullptr) {
    share = engine_share(*engine, step.graph, stream_of(step.graph, times));
    options.host_ns = share.host_ns;
  }
  const auto scaled = [&](std::optional<Latency> latency) {
    if (latency) scale_times(*latency, share.device_factor);
    return latency;
  };
  const schedule::TimeSources capped{[&](std::size_t op) {
                                       return schedule::under_caps(scaled(times.of_operator(op)),
                                                                   step.graph.operators[op], step,
                                                                   asked.power);
                                     },
                                     times.of_collective};
  schedule::StepSimulator simulator(step, site, capped, options);
  begins(simulator.events(), simulator.runs());
  StepOutcome out{.simulation = simulator.run()};
  out.power = schedule::step_power(step, out.simulation, asked.power);
  return out;
}

SimulatedStep simulate_step(const PricedStep& step, const StepSimulating& asked,
                            const Folders& devices, const Folders& fabrics,
                            const std::function<void(double events, int runs)>& begins) {
  if (serve::is_http_url(asked.otlp)) serve::http_target(asked.otlp, otlp_port);
  const Configuration& c = step.graph.configuration;
  const auto named = named_fabric(asked.fabric, c, fabrics);
  const StepLatencies times(step, asked.latency, devices, named ? &*named : nullptr);
  SimulatedStep out{.topology = named ? *named : fabric::device_fabric(*step.device, c.devices())};
  const auto once = schedule::one_time_phases(step, out.topology, asked.one_time);
  StepOutcome outcome =
      simulate_timed(step, schedule::Site(out.topology),
                     {[&](std::size_t op) { return times.of_operator(op); },
                      [&](const Problem& problem, const Work& work, std::int64_t stride) {
                        return times.of_collective(problem, work, stride);
                      }},
                     asked, begins, times.engine() ? &*times.engine() : nullptr);
  out.engine = times.engine();
  out.simulation = std::move(outcome.simulation);
  out.simulation.one_time = once;
  out.sources = times.sources();
  out.run = times.run();
  out.power = std::move(outcome.power);
  write_files(step, asked, out);
  return out;
}

}  // namespace halmark::tune
