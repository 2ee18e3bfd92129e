// Serving: from the times of prefill and decode steps to what a stream of equal requests
// experiences. Steady state, closed form; every formula is beside its function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/serving.hpp"
#include "model/graph.hpp"

namespace halmark {

// One step of one engine (a replica with all its devices).
struct StepTime {
  double ns = 0;
  double ideal_ns = 0;  // of its matmul FLOPs at the peaks; 0 = unknown
};

// Step times of one engine; nothing when a kernel has no time.
struct StepTimes {
  // One new token for each of `sequences`, whose last query sees `context` keys.
  std::function<std::optional<StepTime>(std::int64_t sequences, std::int64_t context)> decode;
  // `new_tokens` of the prompts of each of `sequences`, after `cached` tokens of it.
  std::function<std::optional<StepTime>(std::int64_t sequences, std::int64_t new_tokens,
                                        std::int64_t cached)>
      prefill;
};

// A refusal says what is short: "token_budget", "saturated", "no_latency".
using Served = std::variant<ServingFigures, Refusal>;

// Continuous batching on one engine that holds `concurrency` requests all the time (a new one
// arrives as one leaves). A step computes at most `token_budget` tokens: one of every decoding
// request, the rest a chunk of prompt. `devices`: of the engine, for figures per device.
//
// With o = output_tokens - 1, chunk c = budget - d, p = ceil(input / c) own chunks per request:
// a turn of all B requests takes I = max(o + p, B input / c) steps, of which x = min(B p, I) carry
// prompt. Steps with prompt have d = B - B p / x decoding requests while nobody waits (I = o + p),
// else B o / I; the others have B. A mixed step takes decode + prefill less one pass over the
// weights, which both read once: T(1 token).
Served serve_together(const RequestShape& request, std::int64_t concurrency,
                      std::int64_t token_budget, const StepTimes& times, int devices);

// The least concurrency that serves `requests_per_s`, and its figures; "saturated" when not even
// `concurrency_max` does. Throughput grows with concurrency, so halving finds it.
Served serve_rate(const RequestShape& request, double requests_per_s, std::int64_t concurrency_max,
                  std::int64_t token_budget, const StepTimes& times, int devices);

// Disaggregated: prefill engines hand the KV cache over to decode engines.
struct WorkerPool {
  StepTimes times;
  std::int64_t batch = 1;  // sequences per step: prompts of a prefill, running ones of a decode
  int devices = 1;         // of one worker
};
struct Disaggregated {
  int prefill_workers = 0, decode_workers = 0;
  double prefill_requests_per_s = 0, decode_requests_per_s = 0;  // what each pool could do
  ServingFigures figures;
};
// The numbers of workers on at most `devices_max` devices with the most requests/s per device:
// the stream is that of the slower pool. `transfer_ns`: handing over one request's cache.
// TTFT = prefill step + transfer (no queue below saturation), TPOT = decode step.
std::variant<Disaggregated, Refusal> match_rates(const RequestShape& request,
                                                 const WorkerPool& prefill,
                                                 const WorkerPool& decode, int devices_max,
                                                 double transfer_ns);

}  // namespace halmark
