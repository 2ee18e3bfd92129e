// Configuration: what the deployment-level search chooses and the model prices. Values only.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/precision.hpp"
#include "core/chosen/serving.hpp"
#include "core/fields/fields.hpp"
#include "core/kernel_case.hpp"
#include "core/latency.hpp"
#include "core/measured/state_interval.hpp"

namespace halmark {

// training: a forward pass over whole sequences and the backward pass behind it.
enum class Phase { prefill, decode, training };
std::string_view phase_name(Phase phase);
std::optional<Phase> parse_phase(std::string_view text);
template <>
inline constexpr ClosedSet<Phase> closed_set<Phase>{"a phase", phase_name, parse_phase};

// context = keys that the last query sees. decode: new_tokens = 1, cached = context - 1.
// prefill: cached = context - new_tokens. training: nothing is cached, context = new_tokens.
struct Workload {
  Phase phase = Phase::decode;
  std::int64_t batch = 1;       // sequences in flight over the whole deployment
  std::int64_t new_tokens = 1;  // per sequence
  std::int64_t context = 1;
  // How unevenly tokens are routed to experts: 100 x exponent of the power law over the experts'
  // loads. Nothing but even_routing for dense models.
  static constexpr std::int64_t even_routing = 0;
  std::int64_t routing_skew = even_routing;
  // Sequences that a replica takes at a time. 0 = those of an inference step: one part per stage.
  std::int64_t micro_batch = 0;
  // What figures per rank suppose of the slowest expert-parallel rank when no skew is stated: its
  // rows over the mean, in millionths. balanced_ppm: all ranks alike; uniform_ppm, no ratio but a
  // mark: the expectation under uniform routing of the step's tokens.
  static constexpr std::int64_t balanced_ppm = 1'000'000, uniform_ppm = 0;
  std::int64_t expert_imbalance_ppm = balanced_ppm;
  std::int64_t cached() const { return context - new_tokens; }
  auto operator<=>(const Workload&) const = default;
};
// Rows of earlier versions lack what was added later: it had its default.
template <class V, Of<Workload> M>
void fields(V& v, M& m) {
  v("phase", m.phase);
  v("batch", m.batch);
  v("new_tokens", m.new_tokens);
  v("context", m.context);
  v.unless_default("routing_skew", m.routing_skew);
  v.unless_default("micro_batch", m.micro_batch);
  v.unless_default("expert_imbalance_ppm", m.expert_imbalance_ppm, Workload::balanced_ppm);
}

struct Parallel {
  int dp = 1;
  int tp = 1;
  int pp = 1;
  int ep = 1;  // within the ranks of tp and dp
  // Context parallelism: ranks that the tokens of every sequence are split over. Weights are the
  // same on all of them.
  int cp = 1;
  // Layers of each of the pp stages, first to last. Empty = as equal as they go, with a remainder
  // on the first stages: the last also has the head.
  std::vector<int> stages = {};
  int devices() const { return dp * tp * pp * cp; }
  auto operator<=>(const Parallel&) const = default;
  // "dp1 tp2 pp1 ep1"; " cp4" follows where there is any, and " stages10+18" where they are stated.
  std::string text() const;
};
template <class V, Of<Parallel> M>
void fields(V& v, M& m) {
  v("tp", m.tp);
  v("pp", m.pp);
  v("dp", m.dp);
  v("ep", m.ep);
  v.unless_default("cp", m.cp, 1);
  v.unless_default("stages", m.stages);
}

// A run of layers that is split otherwise than the configuration's `parallel`, over the same
// devices of a stage: dp x tp x cp is the same for all groups.
struct LayerGroup {
  int layers = 1;  // that follow those of the group before
  int dp = 1, tp = 1, ep = 1, cp = 1;
  auto operator<=>(const LayerGroup&) const = default;
  std::string text() const;  // "12:dp1.tp4.ep1"; ".cp2" follows where there is any
};
template <class V, Of<LayerGroup> M>
void fields(V& v, M& m) {
  v("layers", m.layers);
  v("dp", m.dp);
  v("tp", m.tp);
  v("ep", m.ep);
  v.unless_default("cp", m.cp, 1);
}

// aggregated: every replica computes prompts and tokens, mixed in its steps. disaggregated: workers
// for prompts hand their KV cache over to workers for tokens.
enum class ServingMode { aggregated, disaggregated };
std::string_view serving_mode_name(ServingMode mode);
std::optional<ServingMode> parse_serving_mode(std::string_view text);
template <>
inline constexpr ClosedSet<ServingMode> closed_set<ServingMode>{"a serving mode", serving_mode_name,
                                                                parse_serving_mode};

// A stream of equal requests, of which `concurrency` are served at a time: as one is answered, the
// next arrives.
struct ServedLoad {
  RequestShape request;
  std::int64_t concurrency = 1;   // of the whole deployment
  std::int64_t token_budget = 1;  // most tokens that one step of a replica computes
  ServingMode mode = ServingMode::aggregated;
  // Disaggregated only: the layout of one prefill worker, and how many workers of each kind there
  // are. One decode worker has the layout of the configuration.
  Parallel prefill = {};
  int prefill_workers = 0, decode_workers = 0;
  auto operator<=>(const ServedLoad&) const = default;
};
template <class V, Of<ServedLoad> M>
void fields(V& v, M& m) {
  v("request", m.request);
  v("concurrency", m.concurrency);
  v("token_budget", m.token_budget);
  v("mode", m.mode);
  if (m.mode == ServingMode::aggregated) return;
  v("prefill_parallel", m.prefill);
  v("prefill_workers", m.prefill_workers);
  v("decode_workers", m.decode_workers);
}

// What is chosen: one step of a workload, or with `served` a stream of requests, whose steps follow
// from the load. Of `workload` the routing alone is then meant.
struct Configuration {
  std::string model;
  Parallel parallel;  // served apart: one decode worker
  Precision precision;
  Workload workload;
  std::optional<ServedLoad> served = {};
  // All layers in groups, each with a strategy of its own; empty = all as `parallel` says. Priced
  // by the planner of shards, not executable.
  std::vector<LayerGroup> groups = {};
  // Where each rank lies, by rank (see build_stacks); empty = on equal parts of the one device that
  // the sweep names.
  std::vector<ShardPlace> places = {};
  auto operator<=>(const Configuration&) const = default;
  int devices() const;  // of all workers together
  // "qwen3-0.6b decode b4 n1 c1024 bf16 dp1 tp2 pp1 ep1"; a routing skew follows the context:
  // "s50", a stated micro-batch the skew: "m2", and a stated imbalance: "i1500000".
  // Served: "qwen3-0.6b i1024 o128 x16 t2048 bf16 dp1 tp2 pp1 ep1", disaggregated "... prefill 2x
  // dp1 tp4 pp1 ep1 decode 3x dp1 tp8 pp1 ep1"; a routing skew follows the budget. Groups of layers
  // follow: "groups 12:dp1.tp4.ep1 16:dp2.tp2.ep1"; places come last: "on cpu:0/2.0 opencl:0".
  std::string key() const;
};
template <class V, Of<Configuration> M>
void fields(V& v, M& m) {
  v("model", m.model);
  v("workload", m.workload);
  v("parallel", m.parallel);
  v("precision", m.precision);
  v.unless_default("served", m.served);
  v.unless_default("groups", m.groups);
  v.unless_default("places", m.places);
}

// One step of a shard's stack: which kernel (index into Stack::kernels) on which of its instances.
struct StackStep {
  std::int32_t kernel = 0;
  std::int32_t instance = 0;  // argument set; layer l uses instance l
  std::string operator_name;  // "q_proj"
  std::string layer_type;     // "decoder", "embedding", "head"
};
template <class V, Of<StackStep> M>
void fields(V& v, M& m) {
  v("kernel", m.kernel);
  v("instance", m.instance);
  v("operator", m.operator_name);
  v("layer_type", m.layer_type);
}

// Everything one shard executes for one step, in order. Collectives are steps like the others.
struct Stack {
  std::vector<KernelCase> kernels;      // unique
  std::vector<std::int64_t> instances;  // per kernel: argument sets that the whole stack needs
  std::vector<StackStep> steps;
  // By kernel, of a collective that leaves ranks out: those that meet in it, this one among them.
  std::map<std::int32_t, std::vector<int>> members = {};
  // Where its rank lies, if that is named; else on a part of the device that its kernels name.
  std::optional<ShardPlace> place = {};
};
template <class V, Of<Stack> M>
void fields(V& v, M& m) {
  v("kernels", m.kernels);
  v("instances", m.instances);
  v("steps", m.steps);
  v.unless_default("members", m.members);
  v.unless_default("place", m.place);
}

// Time of one operator over the step, on the slowest shard.
struct OperatorShare {
  std::string name;
  std::string layer_type;
  std::int64_t count = 0;
  double ns = 0, low_ns = 0, high_ns = 0;  // all `count` executions
  double lower_bound_ns = 0;
  double flops = 0, bytes = 0;  // one rank's share, all `count` executions
  std::string bound;            // "compute", "memory", "communication", "launch", "unknown"
  Provenance provenance = Provenance::roofline;
  Status status = Status::ok;
  std::string strategy;  // "replicate", "tensor", "pipeline", "expert"
  std::string dtype;
  std::string implementation;
  std::string origin, quarantined;  // of its Latency
  bool is_in_stack = false;         // measured between its neighbours; not stored by itself
};
template <class V, Of<OperatorShare> M>
void fields(V& v, M& m) {
  v("name", m.name);
  v("layer_type", m.layer_type);
  v("count", m.count);
  v("ns", m.ns);
  v("low_ns", m.low_ns);
  v("high_ns", m.high_ns);
  v("lower_bound_ns", m.lower_bound_ns);
  v("flops", m.flops);
  v("bytes", m.bytes);
  v("bound", m.bound);
  v("provenance", m.provenance);
  v("status", m.status);
  v("strategy", m.strategy);
  v("dtype", m.dtype);
  v("implementation", m.implementation);
  v.unless_default("origin", m.origin);
  v.unless_default("quarantined", m.quarantined);
}

// A pipeline's step from the first stage's begin to the last one's end, its filling and draining
// included.
struct StepAlone {
  double ns = 0, low_ns = 0, high_ns = 0;
};
template <class V, Of<StepAlone> M>
void fields(V& v, M& m) {
  v("step_ns", m.ns);
  v("low_ns", m.low_ns);
  v("high_ns", m.high_ns);
}

// Energy of one step, of all ranks together, while they execute: waits are no part of it.
struct StepEnergy {
  double joules = 0;
  bool is_measured = false;  // false: what the device's power makes of the time
  std::string origin;        // "measured: rapl", "assumed: power_w x time of h200"
  bool operator==(const StepEnergy&) const = default;
};
template <class V, Of<StepEnergy> M>
void fields(V& v, M& m) {
  v("joules", m.joules);
  v("measured", m.is_measured);
  v("origin", m.origin);
}

// What the Composer says about a configuration. Every figure has an interval and a provenance.
struct Estimate {
  double step_ns = 0;
  double low_ns = 0, high_ns = 0;  // what the processes behind its kernels say, all low or all high
  // Where a run should lie; absent where a kernel is not measured or no state of the memory is
  // known.
  std::optional<StateInterval> run_interval;
  double lower_bound_ns = 0;
  // Of a pipeline: `step_ns` is one of a stream of steps, this one stands alone: what `run`
  // executes. Absent where there is one stage.
  std::optional<StepAlone> alone;
  double tokens_per_s = 0;
  double matmul_flops = 0;  // whole model, one step
  std::int64_t memory_bytes_per_rank = 0;
  std::int64_t memory_bytes_total = 0;
  std::optional<double> mfu;  // model FLOPs / (devices x measured peak x time)
  std::string mfu_reason;     // why mfu is absent
  std::optional<double> mfu_datasheet;
  double in_stack_share = 0;  // of step_ns: kernels measured between their neighbours
  std::optional<StepEnergy> energy;
  std::string energy_reason;                     // why energy is absent
  std::string bottleneck;                        // operator with the largest share and its bound
  Provenance provenance = Provenance::measured;  // the weakest of its parts
  Status status = Status::ok;                    // suspect when any part is
  std::string reason;
  std::vector<OperatorShare> operators;
};
template <class V, Of<Estimate> M>
void fields(V& v, M& m) {
  v("step_ns", m.step_ns);
  v("low_ns", m.low_ns);
  v("high_ns", m.high_ns);
  v("lower_bound_ns", m.lower_bound_ns);
  v("tokens_per_s", m.tokens_per_s);
  v("matmul_flops", m.matmul_flops);
  v("memory_bytes_per_rank", m.memory_bytes_per_rank);
  v("memory_bytes_total", m.memory_bytes_total);
  v.later("mfu", m.mfu);
  v("mfu_reason", m.mfu_reason);
  v.later("mfu_datasheet", m.mfu_datasheet);
  v("bottleneck", m.bottleneck);
  v("provenance", m.provenance);
  v("status", m.status);
  v("reason", m.reason);
  v("operators", m.operators);
  v.unless_default("in_stack_share", m.in_stack_share);
  v.unless_default("run_interval", m.run_interval);
  v.unless_default("alone", m.alone);
  v.unless_default("energy", m.energy);
  if (!m.energy) v.unless_default("energy_reason", m.energy_reason);
}

// Whether a configuration is on the front of its phase, given the intervals of all: certain = no
// other reaches its worst case in every objective, out = another is certainly better, possible =
// neither.
enum class FrontClass { certain, possible, out };
std::string_view front_class_name(FrontClass value);
std::optional<FrontClass> parse_front_class(std::string_view text);
template <>
inline constexpr ClosedSet<FrontClass> closed_set<FrontClass>{"a class of the front",
                                                              front_class_name, parse_front_class};

struct FrontStanding {
  FrontClass front_class = FrontClass::possible;
  double probability = 0;  // of being there: share of joint redraws of the measured processes
};
template <class V, Of<FrontStanding> M>
void fields(V& v, M& m) {
  v("class", m.front_class);
  v("probability", m.probability);
}

// One evaluated configuration of a study or sweep.
struct Evaluation {
  Configuration configuration;
  Status status = Status::ok;  // refused for an impossible split, with the reason
  std::string reason;
  std::string refusal = {};           // id of why it is refused: "out_of_memory"
  std::optional<Estimate> estimate;   // of a step
  std::optional<double> measured_ns;  // from `run`; absent = never confronted with a run
  std::optional<Interval> measured_interval_ns;
  std::optional<FrontStanding> standing = {};  // absent: not judged, or nothing to judge
  std::optional<ServedEstimate> served = {};   // of a served load
};
template <class V, Of<Evaluation> M>
void fields(V& v, M& m) {
  v("deployment", m.configuration);
  v("status", m.status);
  v("reason", m.reason);
  v("estimate", m.estimate);
  v.later("measured_ns", m.measured_ns);
  v("measured_interval_ns", m.measured_interval_ns);
  v.later("standing", m.standing);
  v.unless_default("served", m.served);
}

}  // namespace halmark
