// Validation: one configuration whose whole layer stack was run, and what had been said of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measured/execution.hpp"
#include "core/measured/measured_memory.hpp"
#include "core/measured/measurement.hpp"
#include "core/measured/state_interval.hpp"

namespace halmark {

// The run against the sum of its own kernels, measured in turns of a second by the same workers in
// the same memory: what the machine did to one it did to the other.
struct Composition {
  double composed_ns = 0;  // the step as the sum says it; median over pairs
  double error = 0;        // median over pairs of composed / run - 1
  Interval error_interval;
  int pairs = 0;                      // behind these figures
  int apart = 0;                      // left out: the machine's state moved within them
  bool in_one_state = true;           // false: it moved in so many pairs that all are counted
  double paired_share = 0;            // of composed_ns; the rest of the kernels is from their rows
  std::optional<double> bytes_per_s;  // the state of the memory, of all shards at once
  std::optional<double> flops_per_s;  // that of the cores: short probes of one
};
template <class V, Of<Composition> M>
void fields(V& v, M& m) {
  v("composed_ns", m.composed_ns);
  v("error", m.error);
  v("error_interval", m.error_interval);
  v("pairs", m.pairs);
  v("apart", m.apart);
  v("in_one_state", m.in_one_state);
  v("paired_share", m.paired_share);
  v("bytes_per_s", m.bytes_per_s);
  v.unless_default("flops_per_s", m.flops_per_s);
}

struct Validation {
  std::string deployment_key;
  // What was printed before the run. Absent in rows of earlier versions, which kept another figure.
  std::optional<double> predicted_ns;
  Interval predicted_interval_ns;
  std::optional<StateInterval> predicted_state;  // that interval, where it names a state
  double measured_ns = 0;
  Interval measured_interval_ns;
  std::vector<double> step_ns;  // every repetition of the run
  // Of all ranks' time in the run, what stages of a pipeline waited for their turn.
  std::optional<double> bubble_share;
  std::optional<Composition> composition;
  std::string composition_reason;  // why it is absent
  std::optional<MeasuredMemory> memory;
  std::string memory_reason;  // why it is absent; empty in rows of earlier versions
  Status status = Status::ok;
  std::string reason;
  // More ranks than cores: outputs were checked, and times are those of ranks in turns on a core.
  bool is_oversubscribed = false;
  struct Operator {
    std::string name;
    std::optional<double> composed_ns;  // beside the run; absent without a composition
    double measured_ns = 0;
  };
  std::vector<Operator> operators;
  std::vector<RankExecutions> executions;  // by rank; none in rows of earlier versions

  bool was_run() const { return has_latency(status) && measured_ns > 0; }
  bool has_time() const { return was_run() && !is_oversubscribed; }
  // What is shown of it, whatever its status says.
  std::optional<double> shown_ns() const {
    if (is_oversubscribed || !(measured_ns > 0)) return std::nullopt;
    return measured_ns;
  }
  // Of two different things, never one in the other's column: in one state of the machine, and of
  // what was printed. Nothing where it was not run.
  std::optional<double> composition_error() const {
    if (!has_time() || !composition) return std::nullopt;
    return composition->error;
  }
  // The machine during the run.
  std::optional<MachineState> state() const {
    if (!was_run() || !composition || !composition->bytes_per_s) return std::nullopt;
    return MachineState{*composition->bytes_per_s, composition->flops_per_s};
  }
  std::optional<double> prediction_error() const {
    if (!has_time() || !predicted_ns) return std::nullopt;
    return *predicted_ns / measured_ns - 1;
  }
  // The printed interval beside the run: as it is where the run met the state that it names, else
  // scaled for the state that it met. Nothing where one of the two states is not known.
  struct IntervalAtRun {
    Interval ns;
    bool is_scaled = false;
    bool is_inside = false;
  };
  std::optional<IntervalAtRun> interval_at_run() const {
    const auto there = state();
    if (!predicted_state || !there) return std::nullopt;
    IntervalAtRun out{.is_scaled = !predicted_state->holds_at(*there)};
    out.ns = out.is_scaled ? predicted_state->at(*there) : predicted_state->ns;
    out.is_inside = out.ns.low <= measured_ns && measured_ns <= out.ns.high;
    return out;
  }
};
template <class V, Of<Validation::Operator> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("composed_ns", m.composed_ns);
  v("measured_ns", m.measured_ns);
}
// As it is stored, without `executions`, which are kept by number. Absent in earlier rows: what is
// left out, and the memory.
template <class V, Of<Validation> M>
void fields(V& v, M& m) {
  v("deployment_key", m.deployment_key);
  v("predicted_ns", m.predicted_ns);
  v("predicted_interval_ns", m.predicted_interval_ns);
  v("measured_ns", m.measured_ns);
  v("measured_interval_ns", m.measured_interval_ns);
  v("step_ns", m.step_ns);
  v("composition", m.composition);
  v("composition_reason", m.composition_reason);
  v.later("memory", m.memory);
  v.later("memory_reason", m.memory_reason);
  v("status", m.status);
  v("reason", m.reason);
  v("operators", m.operators);
  v.unless_default("predicted_state", m.predicted_state);
  v.unless_default("bubble_share", m.bubble_share);
  v.unless_default("oversubscribed", m.is_oversubscribed);
}

}  // namespace halmark
