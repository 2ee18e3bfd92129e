// What `halmark run` kept of one configuration: the times of its operators as they were measured,
// and the step that was then executed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/device.hpp"
#include "core/latency.hpp"
#include "core/measured/execution.hpp"
#include "model/graph/graph.hpp"

namespace halmark::tune {

struct StepRun {
  // By layer type and operator, of one execution on the slowest shard.
  std::map<std::pair<std::string, std::string>, Latency> operators;
  // By problem, the rows of that run: what other stages than the slowest execute, a head behind a
  // short stage.
  std::map<std::string, Latency> kernels;
  std::optional<double> measured_ns;               // the step; absent: not executed, or not timed
  std::map<std::string, double> measured_each_ns;  // by operator, one execution within it
  std::vector<RankExecutions> executions;          // by rank, where the journal has them
  std::string source;                              // one line

  std::optional<Latency> latency(const Operator& op) const;
};

// The newest in `database` of this configuration; nothing where none has been run. Throws Error
// (exit 2) for a foreign or damaged database, and where it was measured on another machine than
// `device`.
std::optional<StepRun> step_run(const std::string& database, const Configuration& configuration,
                                const Device& device);

}  // namespace halmark::tune
