// What an engine adds to the kernels of a step: host work, scheduling, and the way of a request to
// its queue. The closed form (serving.hpp) and the events (simulate/serving) take the same terms.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "model/serving/serving.hpp"

namespace halmark {

// All zero and one: an engine that costs nothing. Fitted values:
// configs/engines/ENGINE/serving_terms.json.
struct EngineTerms {
  // Kernels of a step in the engine, over the same measured alone; what it makes of them is not
  // faster than their bound (LayoutTimes).
  double device_scale = 1;
  double step_ns = 0;      // host, per step: what the device waits for
  double sequence_ns = 0;  // per request in a step: sampling, bookkeeping
  double token_ns = 0;     // per prompt token in a step
  double arrival_ns = 0;   // network and admission: from the client to the queue and back
  auto operator<=>(const EngineTerms&) const = default;

  double whole_step_ns(double device_ns, double sequences, double prompt_tokens) const {
    return device_scale * device_ns + step_ns + sequence_ns * sequences + token_ns * prompt_tokens;
  }
};

// A measured figure lies between these times the predicted one in 90 % of cases, 5 % on each side:
// of models and devices that a fit was not given. All errors together: kernels, terms, releases.
struct Ratios {
  double low = 1, high = 1;
};

// The engine that the kernels of a step were measured in.
struct ServingEngine {
  std::string name;  // see engine_memory
  EngineTerms terms;
  double waves = 8;            // requests per client of the benchmarks that its ratios are of
  bool chunks_prompts = true;  // a prompt may pass in several steps
  Ratios ttft, tpot;
  // Where prompts have workers of their own; and what is more of their way to the queue and back.
  Ratios apart_ttft, apart_tpot;
  double apart_ns = 0;
  bool has_ratios = true;  // they are of times as these are: those that tables gave
};

// Times of the steps of a device, with the terms of an engine around them. Refers to `device`.
class EngineTimes : public StepTimes {
 public:
  EngineTimes(const StepTimes& device, const EngineTerms& terms) : device_(device), terms_(terms) {}
  std::optional<double> step_ns(const StepMix& mix) const override {
    const auto device = device_.step_ns(mix);
    if (!device) return std::nullopt;
    return terms_.whole_step_ns(*device, mix.prompts + mix.decodes,
                                mix.prompts * static_cast<double>(mix.piece_tokens));
  }

 private:
  const StepTimes& device_;
  EngineTerms terms_;
};

// What one engine may hold and compute.
struct EngineLimits {
  std::int64_t token_budget = 1;
  std::int64_t requests_max = 0;  // in its batch, by setting or by the KV cache; 0 = no limit
};

struct ClosedLoopFigures {
  double ttft_ns = 0, tpot_ns = 0, request_ns = 0;
  double in_engine = 0;  // requests in the batch, mean
  bool is_saturated = false;
  bool waits_for_room = false;  // requests queue because the batch is full
};

// `clients` of a closed loop against one engine. Of B clients some are on their way to the queue
// (a = arrival_ns), at most M = requests_max are in the batch, the rest waits: with b in the
// batch, R(b) of serve_together, X = b / R(b), the smallest b with b + X a = B, at most M. Below it
// a request that comes at any time waits for the rest of the step in progress. TTFT is what of B /
// X (Little's law) is not spent on later tokens. Nothing when a step has no time.
std::optional<ClosedLoopFigures> serve_closed_loop(const RequestShape& request,
                                                   std::int64_t clients, const EngineLimits& limits,
                                                   const StepTimes& device,
                                                   const EngineTerms& terms);

// The same as a benchmark has it, whose clients begin at once and send `waves` requests each. Of
// the first ones a prompt waits for half of the others. As many as pass in one step are answered
// together later on, and come back together: most of what one waits for. Against the events TTFT is
// 12 to 30 % off (median by engine), where that of clients who come evenly is half to a fifth of
// it. Nothing when a step has no time.
std::optional<ClosedLoopFigures> serve_benchmark(const RequestShape& request, std::int64_t clients,
                                                 const EngineLimits& limits,
                                                 const StepTimes& device, const EngineTerms& terms,
                                                 double waves);

}  // namespace halmark
