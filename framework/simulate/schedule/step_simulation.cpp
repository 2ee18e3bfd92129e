#include "simulate/schedule/step_simulation.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::schedule {
namespace {

constexpr int runs_max = 100;  // where nobody asks for more: enough for the 99th percentile

std::vector<double> figures(const std::vector<PieceLabel>& labels, double PieceLabel::*of) {
  return mapped(labels, [&](const PieceLabel& label) { return label.*of; });
}

}  // namespace

double StepRuns::quantile_ns(double q) const { return quantile(ns, q); }

double StepSimulation::step_ns() const { return events::seconds_of(timeline.makespan_ps) * 1e9; }

StepWork work_of(const PricedStep& step, double step_ns) {
  const Workload& load = step.graph.configuration.workload;
  const std::int64_t tokens = load.phase == Phase::decode ? 1 : load.new_tokens;
  const StepUtilisation use = utilisation(step.graph, {.ns = step_ns,
                                                       .device = step.device,
                                                       .share = step.share,
                                                       .convention = step.convention,
                                                       .training = step.training});
  StepWork out{.flops = use.convention_flops,
               .tokens = as_double(load.batch) * as_double(tokens),
               .mfu = use.model,
               .hfu = use.hfu,
               .reason = use.reason};
  if (step_ns <= 0) return out;
  out.flops_per_s = out.flops / step_ns * 1e9;
  out.tokens_per_s = out.tokens / step_ns * 1e9;
  return out;
}

StepSimulator::StepSimulator(const PricedStep& step, const Site& site, const TimeSources& sources,
                             const SimulationOptions& options)
    : step_(step),
      site_(site),
      options_(options),
      grid_(step.graph.configuration.parallel),
      programs_(stage_programs(step, options.program)),
      times_(step, programs_, sources),
      events_(events_of(programs_, grid_, site, options.lowering.carriage)) {
  const double limit = options.lowering.events_max;
  require_within(events_, limit);
  const double fits = std::floor(limit / std::max(1.0, events_)) - 1;
  runs_ = options.runs.value_or(as_int(std::clamp(fits, 0.0, double{runs_max})));
  if (events_ * (1.0 + runs_) > limit) {
    throw refused(std::to_string(runs_) + " runs of " + number_text(events_) +
                      " events exceed the limit of " + number_text(limit),
                  "--runs", "use fewer, or raise --events-max");
  }
}

LoweredStep StepSimulator::lowered() const {
  return lower_step(programs_, grid_, site_, times_, options_.lowering);
}

StepSimulation StepSimulator::run() {
  StepSimulation out{.devices = as_size(grid_.devices()),
                     .order = programs_.order,
                     .pipeline = programs_.pipeline,
                     .carriage = options_.lowering.carriage,
                     .provenance = times_.provenance(),
                     .host_ns = options_.host_ns};
  times_.begin_run(options_.seed, 0);
  out.timeline = timeline_of_stated(out);
  if (options_.host_ns > 0) {
    const simulate::OneTimePhase host{events::EventKind::dispatch, options_.host_ns / 1e9, {}};
    out.timeline = preceded_by(out.timeline, std::span(&host, 1), simulate::TimelinePhase::step);
  }
  out.work = work_of(step_, out.step_ns());
  out.runs = drawn();
  return out;
}

simulate::Timeline StepSimulator::timeline_of_stated(StepSimulation& out) const {
  const LoweredStep lowered = this->lowered();
  simulate::TimelineNames names{.actors = actor_names(site_, grid_.devices()),
                                .links = lowered.links,
                                .label_of = lowered.labels,
                                .flops = figures(programs_.labels, &PieceLabel::flops),
                                .bytes = figures(programs_.labels, &PieceLabel::bytes)};
  for (const int actor : lowered.actors) {
    const std::string& device = names.actors[as_size(actor)];
    names.streams.push_back(device + " compute");
    names.streams.push_back(device + " communication");
    names.streams.push_back(device + " communication with copies");
  }
  for (const PieceLabel& label : programs_.labels) names.labels.push_back(label.text);
  const events::EventList events = timed(lowered.graph);
  simulate::Timeline timeline = timeline_of(lowered.graph, events, names);
  out.kernels = as_size(std::ranges::count(timeline.events, events::EventKind::kernel,
                                           &simulate::TimelineEvent::kind));
  if (options_.lowering.carriage == Carriage::closed_form && grid_.devices() > 1) {
    auto links = link_traffic(programs_, grid_, site_, options_.lowering.seed);
    out.has_links = links.has_value();
    if (links) {
      timeline.resources.insert(timeline.resources.end(), links->begin(), links->end());
    }
  }
  return timeline;
}

StepRuns StepSimulator::drawn() {
  StepRuns out{.has_intervals = times_.has_intervals()};
  for (int run = 1; run <= runs_; ++run) {
    times_.begin_run(options_.seed, as_uint64(run));
    out.ns.push_back(events::seconds_of(timed(lowered().graph).makespan_ps) * 1e9 +
                     options_.host_ns);
  }
  times_.begin_run(options_.seed, 0);
  return out;
}

}  // namespace halmark::schedule
