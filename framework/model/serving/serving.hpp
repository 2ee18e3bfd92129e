// Serving: from the times of steps to what a stream of equal requests experiences. Steady state,
// closed form; every formula is beside its function. A test steps the queue one step at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "core/chosen/serving.hpp"

namespace halmark {

// What one step of an engine computes: tokens of prompts, and one token of every decoding request.
// Numbers of requests are means over steps of one kind, so they may be fractions.
struct StepMix {
  double prompts = 0;             // pieces of prompts
  std::int64_t piece_tokens = 0;  // of one piece
  std::int64_t cached = 0;        // tokens of its prompt before a piece, on average
  double decodes = 0;             // decoding requests
  double tokens() const { return prompts * static_cast<double>(piece_tokens) + decodes; }
};

// Times of the steps of one engine. Decoding requests have the context of the middle of their
// output.
class StepTimes {
 public:
  virtual ~StepTimes() = default;
  // Nothing when a kernel of the step has no time.
  virtual std::optional<double> step_ns(const StepMix& mix) const = 0;
};

// One engine of an aggregated deployment: with pipeline stages, one of its micro-batches.
struct EngineFigures {
  double ttft_ns = 0, tpot_ns = 0, request_ns = 0;
  double steps = 0;           // that a request lasts
  bool is_saturated = false;  // the token budget is full in every step
  // Of the step in progress, to a request that comes at any time: with lengths s of the steps of
  // the others, sum of s^2 over twice their sum.
  double rest_ns = 0;
};

// Continuous batching on an engine that holds B = `concurrency` requests all the time (as one is
// answered the next arrives), evenly spread over their lives. A step computes at most C =
// `token_budget` tokens: one of every decoding request, and with the rest pieces of prompts in
// order of arrival. With I input tokens and o = output_tokens - 1 later ones:
//   alone a prompt takes p = ceil(I / (C - (B - 1))) steps, and a request lasts S = o + p steps;
//   no step computes more than C tokens, so S >= B (I + o) / C (saturated where this is larger).
// Where prompts do not meet (B p <= S) each passes in its p steps, beside B - 1 decoding requests,
// and the other S - B p steps decode B. Else every step carries B I / S tokens of prompts beside
// B o / S decoding requests. A request lasts S mean steps, of which the last o give later tokens:
// TTFT = the others. Throughput B / request_ns follows by Little's law.
// Requests whose lengths differ meet more often: their TTFT is longer (see the test).
// Nothing when a step has no time. Needs concurrency >= 1, token_budget >= 1.
std::optional<EngineFigures> serve_together(const RequestShape& request, std::int64_t concurrency,
                                            std::int64_t token_budget, const StepTimes& times);

// Disaggregated: prefill workers hand the KV cache over to decode workers.
struct WorkerPool {
  const StepTimes* times = nullptr;
  int workers = 1;
};
struct PoolFigures {
  double ttft_ns = 0, tpot_ns = 0, request_ns = 0;
  double decoding = 0;            // requests in one decode worker, mean
  bool is_prefill_bound = false;  // requests queue for a prefill worker
};
// B requests at a time go round: wait for one of P prefill workers, which takes one prompt at a
// time (T_p, in pieces of at most C = `token_budget` tokens), hand-over (`transfer_ns`, beside the
// workers' own steps), then o steps in one of D decode workers, T_d(b) each with b requests in it.
// Requests per time: X = min(P / T_p, B / (T_p + transfer + o T_d(b))), b = X o T_d(b) / D. Below
// the first bound nobody waits; at it, the rest of the B requests waits for a prefill worker.
std::optional<PoolFigures> serve_apart(const RequestShape& request, std::int64_t concurrency,
                                       std::int64_t token_budget, const WorkerPool& prefill,
                                       const WorkerPool& decode, double transfer_ns);

// Time of one prompt in pieces of at most `room` tokens, each in a step with `decodes` others.
std::optional<double> prompt_ns(std::int64_t input_tokens, std::int64_t room, double decodes,
                                const StepTimes& times);

}  // namespace halmark
