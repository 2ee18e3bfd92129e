// Validation: one configuration whose whole layer stack was run, and what had been said of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measurement.hpp"

namespace halmark {

// The run against the sum of its own kernels, measured in turns of a second by the same workers in
// the same memory: what the machine did to one it did to the other.
struct Composition {
  double composed_ns = 0;  // the step as the sum says it; median over pairs
  double error = 0;        // median over pairs of composed / run - 1
  Interval error_interval;
  int pairs = 0;                      // behind these figures
  int apart = 0;                      // left out: the memory's speed moved within them
  bool in_one_state = true;           // false: it moved in so many pairs that all are counted
  double paired_share = 0;            // of composed_ns; the rest of the kernels is from their rows
  std::optional<double> bytes_per_s;  // the state of the memory, of all shards at once
};

struct Validation {
  std::string deployment_key;
  // What was printed before the run. Absent in rows of earlier versions, which kept another figure.
  std::optional<double> predicted_ns;
  Interval predicted_interval_ns;
  double measured_ns = 0;
  Interval measured_interval_ns;
  std::vector<double> step_ns;  // every repetition of the run
  std::optional<Composition> composition;
  std::string composition_reason;  // why it is absent
  Status status = Status::ok;
  std::string reason;
  struct Operator {
    std::string name;
    std::optional<double> composed_ns;  // beside the run; absent without a composition
    double measured_ns = 0;
  };
  std::vector<Operator> operators;

  bool was_run() const { return has_latency(status) && measured_ns > 0; }
  // Of two different things, never one in the other's column: in one state of the machine, and of
  // what was printed. Nothing where it was not run.
  std::optional<double> composition_error() const {
    if (!was_run() || !composition) return std::nullopt;
    return composition->error;
  }
  std::optional<double> prediction_error() const {
    if (!was_run() || !predicted_ns) return std::nullopt;
    return *predicted_ns / measured_ns - 1;
  }
};

}  // namespace halmark
