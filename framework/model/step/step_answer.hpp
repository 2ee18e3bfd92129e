// What a priced step comes to: one time and where it is from, what it means for the device, and how
// it is shared out over operators and layers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/limiter.hpp"
#include "core/result.hpp"
#include "model/step/priced_step.hpp"

namespace halmark {

// floor: the best that is possible on the device; expected: what sources of times say. Nothing was
// measured for either.
enum class TimeSource { none, floor, expected, measured };
std::string_view time_source_name(TimeSource source);

// A step of a stream of steps, summed over one rank of the busiest stage; `is_way`: over the way of
// one micro-batch through all stages, where fewer are in flight and it is longer.
struct SummedStep {
  double ns = 0, low_ns = 0, high_ns = 0;  // the ends hold 90 % each; of a floor all are the same
  std::size_t stage = 0;
  bool is_way = false;
  double host_ns = 0;  // of `ns`: the engine's, while the device waits
  // Per operator of the graph: of all its executions in that sum, passes of training included, and
  // how many these are. Zero for what another stage executes.
  std::vector<double> operator_ns, executions;
};
struct NoFloor {
  std::string reason;
};
// What is expected, in its engine where the step has one. Nothing where bounds are all.
std::optional<SummedStep> step_expectation(const PricedStep& step);
// "forecast vllm 0.24.0: gemm bf16 ...": the series, else the source.
std::string expected_from(const Latency& latency);
// Of the expected time, by source without its series: "forecast vllm 0.24.0" -> 0.93.
std::map<std::string, double> expected_shares(const PricedStep& step, const SummedStep& of);
// NoFloor: no device is named, or it lacks a figure that an operator needs.
Result<SummedStep, NoFloor> step_floor(const PricedStep& step);

// One row of a step: an operator, or a layer type with all its operators. Fractions of 1.
struct StepShare {
  double flops = 0;               // of the step's, whole model
  std::optional<double> time;     // of what is expected, else of the floor; a measured step time is
                                  // shared out by it
  std::optional<double> ns;       // of the step on the rank
  std::optional<double> ns_each;  // of one execution of the operator, or of one layer
  std::optional<double> executions;
  std::optional<double> floor_ns;  // beside an expected time
};

struct LayerShare {
  std::string layer_type;
  std::int64_t layers = 0;  // of the model
  StepShare share;
  std::vector<std::size_t> operators;  // into graph.operators, in order
};

struct Bottleneck {
  std::size_t op = 0;                  // the operator that takes most of the time
  double op_share = 0;                 // its part of the time
  Limiter limiter = Limiter::unknown;  // what most of the time waits for, as bounds have it
  double limiter_share = 0;
};

// Tokens of a second, by tokens_of, one step after the other.
struct TokenRate {
  double per_s = 0, low = 0, high = 0;  // equal ends: no interval is known
};

struct StepAnswer {
  TimeSource source = TimeSource::none;
  std::optional<double> ns;
  std::optional<SummedStep> expected;
  std::string reason;  // why there is no time
  std::optional<double> floor_ns;
  std::string floor_reason;
  std::optional<TokenRate> rate;           // at `ns`
  std::optional<TokenRate> expected_rate;  // what sources of times say of it
  std::optional<double> best_rate;         // at the floor
  // Of a measured step, in tokens of a second: 1 is the best that is possible, or what is expected.
  std::optional<double> share_of_best, share_of_expected;
  std::size_t stage = 0;      // whose times the shares are, with pipelines
  bool is_way = false;        // that of all stages, see SummedStep
  std::optional<double> mfu;  // at `ns` where it is measured, else at the floor: the most to expect
  std::string mfu_reason;
  bool is_quarantined = false;  // the measured time is impossible
  std::optional<Bottleneck> bottleneck;
  std::optional<Fit> fit;
  std::vector<StepShare> operators;  // parallel to graph.operators
  std::vector<LayerShare> layers;    // in the order of the graph
};
StepAnswer answer_of(const PricedStep& step);

}  // namespace halmark
