// One step of one deployment on paper: the graph with everything that is asked about it. Figures
// are folded from it when they are wanted.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/named_engine.hpp"
#include "core/device.hpp"
#include "core/latency.hpp"
#include "model/graph/graph.hpp"
#include "model/pricing/memory.hpp"
#include "model/serving/engine_step.hpp"
#include "model/training/training.hpp"
#include "model/utilisation/convention.hpp"
#include "model/utilisation/utilisation.hpp"
#include "model/weights/weights_check.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

struct LongestContext {
  std::int64_t tokens = 0;  // of each sequence; 0 = not even one fits
  bool is_memory = true;    // what limits it; else the model's own longest context
};

// What is asked of a step besides its configuration.
struct StepQuestion {
  StepForm form;
  std::int64_t drafted = 0;  // tokens of each decode step; training: predicted beyond the next
  std::optional<double> acceptance;      // of a drafted token
  std::optional<TrainingPlan> training;  // of phase training, which has a plan even without one
  std::string convention;                // "" = the one that counts what the model does
  std::vector<std::string> switches;     // of it: "attention=full"
  std::string peak = "datasheet";        // what the device's peaks are: datasheet or measured
  NamedEngine engine;                    // whose terms stand around the step; none = its kernels
  std::optional<double> measured_ms;     // time of the step
  std::optional<double> tokens_per_s;    // what was measured, in its place; see tokens_of
  bool wants_longest_context = false;
  std::optional<LongestContext> longest_context;  // which the step has then
};

struct PricedStep {
  StepQuestion question;
  OperatorGraph graph;
  MemoryUse memory;
  Convention convention;
  std::optional<TrainingPlan> training;
  std::optional<TrainingCost> cost;             // with `training`
  std::vector<TrainingMemory> training_stages;  // likewise
  std::optional<Device> device;
  ShardShare share;
  // What collectives take over the fabric that was named, by operator of the graph.
  std::map<std::size_t, Latency> over_fabric;
  std::string fabric;  // its id; "" = none
  // What sources of times expect of one execution of each operator, none below its bound; empty =
  // bounds alone. And where it is from, a line each.
  std::vector<Latency> expected;
  std::vector<std::string> basis;
  std::optional<StepEngine> engine;  // around what is expected
  // Of a step that does not fit: the same in the widest type that does, where one is known.
  std::shared_ptr<const PricedStep> narrower;
  // Of a step with other ceilings of its device, as `changes` say: what it was without them.
  std::shared_ptr<const PricedStep> before;
  std::vector<std::string> changes;
  // What the header of the model's weights says, where they were named.
  std::optional<WeightsReport> weights;

  bool is_training() const { return training.has_value(); }
  const GraphTotals& totals() const { return cost ? cost->totals : graph.totals; }
  std::int64_t memory_bytes() const;  // of the fullest rank
};

// Throws Error (exit 2) for a step that the model refuses and an unknown convention or switch.
PricedStep price_step(const ModelSpec& spec, const Configuration& configuration,
                      const std::optional<Device>& device, const StepQuestion& question);

// One operator over the step. Training: whole = forward and backward; per rank = what is executed,
// recomputation included.
struct OperatorFigures {
  double flops = 0, flops_per_rank = 0, bytes = 0, bytes_per_rank = 0;
  std::optional<RooflineEstimate> floor;  // of one execution
  std::optional<double> lower_bound_us;
};
OperatorFigures operator_figures(const PricedStep& step, std::size_t index);

// The type whose peak bounds `op` on the step's device; its own where none is named.
Dtype peak_dtype_of(const PricedStep& step, const Operator& op);
// The fastest possible time of one execution of `op` on the step's device, if it names one; of a
// collective what it takes over the fabric, if that is named too and nothing else is expected.
std::optional<RooflineEstimate> operator_floor(const PricedStep& step, const Operator& op);

// A rank's memory against the device's, and against what an engine takes of it.
struct EngineFit {
  std::string_view engine;
  std::int64_t needed_bytes = 0;   // weights, cache, and what it keeps
  std::int64_t may_use_bytes = 0;  // its default share of the device
  bool fits() const { return needed_bytes <= may_use_bytes; }
};
struct Fit {
  std::int64_t needed_bytes = 0;
  std::optional<std::int64_t> device_bytes;  // absent: the device does not state it
  std::optional<EngineFit> engine;           // of a served model on a GPU
  std::int64_t short_by_bytes() const;
  bool is_usable() const { return short_by_bytes() == 0 && (!engine || engine->fits()); }
};
std::optional<Fit> fit_of(const PricedStep& step);  // nothing without a device
// Of a step that serves.
Fit fit_of(const OperatorGraph& graph, const MemoryUse& memory, const Device& device);

// Tokens that a step gives: generated ones of decode, else those that it reads. Drafted ones as
// they are expected to be accepted, none without an acceptance.
double tokens_of(const PricedStep& step);

// What a decode step drafts and verifies, and how many tokens come of it.
struct SpeculationFigures {
  double draft_flops = 0, verify_flops = 0;
  std::optional<double> tokens_per_step;        // expected, of a sequence; with an acceptance
  std::optional<double> accepted_over_drafted;  // what engines report of the same acceptance
  std::optional<double> tokens_per_s, tokens_per_s_none_accepted;  // with a measured time too
};
std::optional<SpeculationFigures> speculation_of(const PricedStep& step);

// Training: matmul FLOPs of the prediction modules, forward and backward; 0 without them.
double prediction_flops(const PricedStep& step);

// Of the measured time, which must be given.
StepUtilisation utilisation_of(const PricedStep& step);

// What one rank sends and receives for a ring all-reduce of its gradients.
double gradient_ring_bytes(const PricedStep& step);
int weight_copies(const PricedStep& step);

// What engines call acceptance rate: accepted over drafted tokens, (a + ... + a^N) / N. Drafts
// behind a rejected one count as drafted.
double accepted_over_drafted(std::int64_t drafted, double acceptance);

}  // namespace halmark
