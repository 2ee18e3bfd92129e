// Utilisation of a measured step: model FLOPs, executed FLOPs and floors over peak and time.
#pragma once

#include <optional>
#include <string>

#include "core/device.hpp"
#include "model/graph/graph.hpp"
#include "model/training/training.hpp"
#include "model/utilisation/convention.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

struct MeasuredStep {
  double ns = 0;
  std::optional<Device> device;
  ShardShare share;
  Convention convention;
  std::optional<TrainingPlan> training;  // of phase training
};

// Fractions of 1. An absent figure has a reason.
struct StepUtilisation {
  // FLOPs of one step as the convention counts them, over all devices.
  double convention_flops = 0;
  // One device's peak: of the convention's dtype, or the mean over the step's products, each at the
  // peak of its own precision (total FLOPs over total time at peak).
  std::optional<double> peak_flops_per_s;
  std::optional<double> model;     // convention FLOPs / (devices x peak x time)
  std::optional<double> executed;  // time that the products of the busiest rank take at peak / time
  std::optional<double> hfu;       // as `model`, what is recomputed counted in
  std::string reason;              // of the three
  std::optional<double> roofline;  // floors of the busiest rank / time: an expectation of the best
  std::string roofline_reason;
  // What no execution of its kernels gets below / time; above 1 is impossible. Sums over the
  // busiest rank of each resource alone, because kernels that wait for different ones may overlap.
  // Upper ends of the device's figures; nothing where it states none that the step needs.
  std::optional<double> bound;
};

StepUtilisation utilisation(const OperatorGraph& graph, const MeasuredStep& step);

// The best that one execution of `op` may be expected to take; a collective over the device's own
// link where it states one. Nothing when it states no figure that the work needs.
std::optional<RooflineEstimate> best_estimate(const Operator& op, const Device& device,
                                              ShardShare share);

// FLOPs of the whole step, all sequences. `replication` counts what every rank executes.
double step_flops(const OperatorGraph& graph, const Convention& convention,
                  const std::optional<TrainingPlan>& training);

}  // namespace halmark
