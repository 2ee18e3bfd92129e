// A step simulated event by event: once as its times are stated, and again with times drawn from
// their intervals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulate/schedule/link_traffic.hpp"
#include "simulate/schedule/step_lowering.hpp"
#include "simulate/timeline/timeline_folds.hpp"
#include "simulate/timeline/timeline_of.hpp"

namespace halmark::schedule {

struct SimulationOptions {
  ProgramOptions program;
  LoweringOptions lowering;
  std::optional<int> runs;  // with drawn times; absent: 100, or as many as stay within the limit
  std::uint64_t seed = 1;
  double host_ns = 0;  // of an engine, before the step's first kernel, in every step
};

// Steps with drawn times. Quantiles are interpolated between the runs.
struct StepRuns {
  std::vector<double> ns;     // by run
  bool has_intervals = true;  // false: no kernel's source states any, so that all runs are alike
  double quantile_ns(double q) const;
};

// FLOPs of the step and its makespan, and nothing else.
struct StepWork {
  double flops = 0, tokens = 0;
  double flops_per_s = 0, tokens_per_s = 0;
  std::optional<double> mfu, hfu;
  std::string reason;  // why there is no mfu
};

struct StepSimulation {
  simulate::Timeline timeline;  // of the step alone
  std::vector<simulate::OneTimePhase> one_time;
  StepRuns runs;
  StepWork work;
  std::size_t devices = 1, kernels = 0;  // kernels: events of that kind
  Order order = Order::forward;
  Pipeline pipeline;
  Carriage carriage = Carriage::closed_form;
  Provenance provenance = Provenance::measured;  // the weakest of its times
  bool has_links = true;                         // false: bytes of links are not known
  double host_ns = 0;                            // of the step: an engine's
  double step_ns() const;
};

class StepSimulator {
 public:
  // Refers to step and site. Throws Error (exit 2) where a time is missing or the schedule does not
  // go with the step.
  StepSimulator(const PricedStep& step, const Site& site, const TimeSources& sources,
                const SimulationOptions& options);

  double events() const { return events_; }  // of one run, known before it begins
  int runs() const { return runs_; }
  // Throws Error (exit 2) where one run, or all of them, exceed events_max.
  StepSimulation run();

 private:
  LoweredStep lowered() const;
  simulate::Timeline timeline_of_stated(StepSimulation& out) const;
  StepRuns drawn();

  const PricedStep& step_;
  const Site& site_;
  SimulationOptions options_;
  DeviceGrid grid_;
  Programs programs_;
  KernelTimes times_;
  double events_ = 0;
  int runs_ = 0;
};

StepWork work_of(const PricedStep& step, double step_ns);

}  // namespace halmark::schedule
