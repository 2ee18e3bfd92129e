// What a served configuration costs and gives: the steps of StepPricer put together by the formulas
// of serving.hpp, with memory, energy, money and utilisation beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/chosen/configuration.hpp"
#include "core/result.hpp"
#include "model/pricing/step_pricer.hpp"
#include "model/serving/engine_terms.hpp"

namespace halmark {

// Bytes/s of one device, one direction, over what so many devices of a deployment span.
using FabricRate = std::function<double(std::int64_t devices)>;

// So many clients against one engine of a layout, request by request, as simulate_closed_loop has
// it. Nothing when a step has no time.
using ClosedLoop = std::function<std::optional<ClosedLoopFigures>(
    StepPricer&, StepPricer::Layout, const RequestShape&, std::int64_t clients,
    std::int64_t token_budget)>;

// What is known about the devices beyond times. What is absent leaves its figure absent.
struct ServingFacts {
  std::int64_t memory_bytes = 0;  // that a rank may use
  std::optional<double> power_w;  // of one device, all the time: its stated power is an upper end
  std::optional<double> usd_per_device_hour;
  // Rate at which one device hands its part of a KV cache to another worker.
  std::optional<double> transfer_bytes_per_s;
  FabricRate fabric_bytes_per_s = {};  // in its place where the deployment lies on a known fabric
  const Device* peaks = nullptr;       // what MFU is judged by
  bool has_interval = false;           // the times have ends that differ, and nothing else has
  std::optional<ServingEngine> engine = {};
  ClosedLoop events = {};  // of aggregated engines, in place of the formula of a benchmark
};

// Steps of one engine of a layout: with pp stages, of one of its pp micro-batches, each of which
// waits for the others. Operators that follow from the number of tokens alone see all tokens of the
// step at once; attention and what else belongs to sequences is added per kind; logits are made for
// one row of every request. Fractions of decoding requests lie between the two whole numbers.
// `scale`: what an engine makes of these times (EngineTerms); no step is so short that it lies
// below its bound then.
class LayoutTimes : public StepTimes {
 public:
  LayoutTimes(StepPricer& pricer, StepPricer::Layout layout, std::int64_t decode_context,
              double KernelTime::*end, double scale = 1)
      : pricer_(&pricer), layout_(layout), context_(decode_context), end_(end), scale_(scale) {}
  std::optional<double> step_ns(const StepMix& mix) const override;

 private:
  std::optional<double> whole_step_ns(const StepMix& mix, std::int64_t decodes) const;

  StepPricer* pricer_;
  StepPricer::Layout layout_;
  std::int64_t context_;
  double KernelTime::*end_;
  double scale_;
  mutable TypeTimes slots_;  // of the step being priced: keeps its memory from call to call
};

// Keys that a later token sees, in the middle of the output.
std::int64_t decode_context(const RequestShape& request);

// One request alone, every kernel at its bound: no engine gives it a shorter TTFT or TPOT, whatever
// else it serves. Nothing when a step has no time.
std::optional<EngineFigures> alone_at_bounds(StepPricer& steps, StepPricer::Layout layout,
                                             const RequestShape& request,
                                             std::int64_t token_budget);

// One thread. Keeps references to its arguments.
class ServingPricer {
 public:
  ServingPricer(const ModelSpec& spec, StepPricer& steps, const RequestShape& request,
                ServingFacts facts);

  using Answer = Result<ServedEstimate, Refusal>;
  // Refused: an impossible layout, a concurrency that replicas and stages do not divide, a cache
  // that does not fit, a kernel without a time, a hand-over without a rate. Its
  // `served` is there, with the request given above.
  Answer estimate(const Configuration& configuration);

 private:
  struct Memory {
    std::int64_t largest_rank = 0, total = 0;
  };
  double scale() const { return facts_.engine ? facts_.engine->terms.device_scale : 1; }
  Answer aggregated(const Configuration& configuration);
  Answer disaggregated(const Configuration& configuration);
  std::optional<Refusal> layout_refusal(const Configuration& configuration,
                                        StepPricer::Layout layout);
  Memory memory(StepPricer::Layout layout, std::int64_t sequences, std::int64_t tokens,
                std::int64_t context);
  std::optional<Refusal> memory_refusal(const Memory& memory) const;
  std::optional<ClosedLoopFigures> served(StepPricer::Layout layout, std::int64_t requests,
                                          std::int64_t token_budget, const StepTimes& times);
  // As much faster or slower as measured figures of the engine were, whatever its kernels' own
  // intervals say: those ratios hold their errors too. Never faster than alone_at_bounds.
  void widen(const Configuration& configuration, StepPricer::Layout prefill,
             StepPricer::Layout decode, ServedEstimate& estimate);
  void finish(const Configuration& configuration, ServingFigures& figures);
  std::optional<double> ideal_request_ns(const Precision& precision);
  double cache_bytes(const Configuration& configuration);

  const ModelSpec& spec_;
  StepPricer& steps_;
  RequestShape request_;
  ServingFacts facts_;
  std::map<Precision, std::optional<double>> ideal_request_ns_;  // on one device
  std::map<Precision, double> cache_bytes_;                      // of one prompt, whole model
};

}  // namespace halmark
