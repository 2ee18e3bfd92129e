#include "model/serving/serving.hpp"

#include <algorithm>
#include <cmath>

namespace halmark {

namespace {

// How the life of a request falls into steps; see serve_together.
struct StepPlan {
  std::int64_t room = 0;  // for prompt beside the other decoding requests; 0 = none
  double own = 0;         // p
  double steps = 0;       // S
  bool is_saturated = false;
  bool prompts_meet = false;
};

std::int64_t pieces_of(std::int64_t tokens, std::int64_t room) {
  return (tokens + room - 1) / room;
}

StepPlan step_plan(const RequestShape& request, std::int64_t concurrency, std::int64_t budget) {
  const auto requests = static_cast<double>(concurrency);
  const auto input = static_cast<double>(request.input_tokens);
  const auto later = static_cast<double>(request.output_tokens - 1);
  const double full = requests * (input + later) / static_cast<double>(budget);
  StepPlan out;
  out.room = std::max<std::int64_t>(0, budget - (later > 0 ? concurrency - 1 : 0));
  if (out.room > 0) {
    out.own = static_cast<double>(pieces_of(request.input_tokens, out.room));
    if (const double alone = later + out.own; requests * out.own <= alone && full <= alone) {
      out.steps = alone;
      return out;
    }
  }
  out.prompts_meet = true;
  // With fewer decoding requests beside it a prompt passes sooner; that many follow from S. Both
  // change in one direction only, and few rounds settle them.
  out.steps = std::max(full, later + 1);
  for (int round = 0; round < 32; ++round) {
    const double room = static_cast<double>(budget) - requests * later / out.steps;
    const double own = room > 0 ? std::ceil(input / room - 1e-9) : input;
    const double steps = std::max(full, later + std::max(1.0, own));
    if (steps == out.steps || steps > 1e15) break;
    out.steps = room > 0 ? steps : full;
    if (room <= 0) break;
  }
  out.is_saturated = out.steps <= full * (1 + 1e-12);
  return out;
}

// Whole prompts pass in single steps, so that a step has one more or one less of them.
std::optional<double> whole_prompt_step(double prompts, std::int64_t tokens, double decodes,
                                        const StepTimes& times) {
  const double low = std::floor(prompts + 1e-12), above = std::max(0.0, prompts - low);
  const auto fewer = times.step_ns({low, tokens, 0, decodes});
  if (!fewer || above < 1e-9) return fewer;
  const auto more = times.step_ns({low + 1, tokens, 0, decodes});
  if (!more) return std::nullopt;
  return (1 - above) * *fewer + above * *more;
}

std::optional<double> meeting_step(const RequestShape& request, double requests, double budget,
                                   const StepPlan& plan, const StepTimes& times) {
  const auto input = static_cast<double>(request.input_tokens);
  const auto later = static_cast<double>(request.output_tokens - 1);
  const double tokens = requests * input / plan.steps;
  const double decodes = requests * later / plan.steps;
  const double prompts = tokens / input;
  const bool are_whole =
      !plan.is_saturated && prompts >= 1 && (std::floor(prompts) + 1) * input + decodes <= budget;
  if (are_whole) return whole_prompt_step(prompts, request.input_tokens, decodes, times);
  const auto piece = std::clamp<std::int64_t>(std::llround(tokens), 1, request.input_tokens);
  return times.step_ns(
      {tokens / static_cast<double>(piece), piece, (request.input_tokens - piece) / 2, decodes});
}

}  // namespace

std::optional<double> prompt_ns(std::int64_t input_tokens, std::int64_t room, double decodes,
                                const StepTimes& times) {
  const std::int64_t full = input_tokens / room, rest = input_tokens % room;
  double ns = 0;
  if (full > 0) {
    // Attention of a piece grows evenly with what is before it: the mean piece stands for all.
    const auto step = times.step_ns({1, room, (full - 1) * room / 2, decodes});
    if (!step) return std::nullopt;
    ns += static_cast<double>(full) * *step;
  }
  if (rest > 0) {
    const auto step = times.step_ns({1, rest, full * room, decodes});
    if (!step) return std::nullopt;
    ns += *step;
  }
  return ns;
}

std::optional<EngineFigures> serve_together(const RequestShape& request, std::int64_t concurrency,
                                            std::int64_t token_budget, const StepTimes& times) {
  const auto requests = static_cast<double>(concurrency);
  const auto later = static_cast<double>(request.output_tokens - 1);
  const StepPlan plan = step_plan(request, concurrency, token_budget);
  EngineFigures out{.steps = plan.steps, .is_saturated = plan.is_saturated};
  if (plan.prompts_meet) {
    const auto step =
        meeting_step(request, requests, static_cast<double>(token_budget), plan, times);
    if (!step) return std::nullopt;
    out.request_ns = plan.steps * *step;
    out.ttft_ns = (plan.steps - later) * *step;
    out.rest_ns = concurrency > 1 ? *step / 2 : 0;
  } else {
    const auto own =
        prompt_ns(request.input_tokens, plan.room, later > 0 ? requests - 1 : 0, times);
    if (!own) return std::nullopt;
    out.ttft_ns = *own;
    out.request_ns = requests * *own;
    // Steps with prompts of the others, and those without any.
    double sum = (requests - 1) * *own, squares = sum * *own / plan.own;
    if (const double others = plan.steps - requests * plan.own; others > 0) {
      const auto step = times.step_ns({0, 0, 0, requests});
      if (!step) return std::nullopt;
      out.request_ns += others * *step;
      sum += others * *step;
      squares += others * *step * *step;
    }
    if (concurrency > 1 && sum > 0) out.rest_ns = squares / (2 * sum);
  }
  if (later > 0) out.tpot_ns = (out.request_ns - out.ttft_ns) / later;
  return out;
}

namespace {

// A stream through the pools while nobody waits for a prefill worker, with b decoding requests in
// each decode worker.
struct Stream {
  double per_ns = 0;     // X
  double in_system = 0;  // requests
  double step_ns = 0;    // T_d(b)
};

// Requests that pass through both pools, as many as decode workers hold of them.
class Streams {
 public:
  Streams(const WorkerPool& decode, double later, double before_ns, double requests,
          double most_per_ns)
      : decode_(decode),
        later_(later),
        before_ns_(before_ns),
        requests_(requests),
        most_per_ns_(most_per_ns) {}

  struct Settled {
    Stream stream;
    double decoding = 0;  // requests in each decode worker
  };
  // The thinnest stream that has all requests in it or keeps the prefill workers busy.
  std::optional<Settled> settle(std::int64_t concurrency) const;

 private:
  std::optional<double> step_ns(double decoding) const {
    return decode_.times->step_ns({0, 0, 0, decoding});
  }
  Stream of(double decoding, double step_ns) const {
    const double all = decoding * decode_.workers;
    const double per_ns = all / (later_ * step_ns);
    return {per_ns, per_ns * before_ns_ + all, step_ns};
  }
  // Below one request in a worker its steps cannot get shorter: the stream is thinner.
  Stream thinned(double share, double step_ns) const {
    const Stream alone = of(1, step_ns);
    return {share * alone.per_ns, share * alone.in_system, step_ns};
  }
  bool is_enough(const Stream& s) const {
    return s.in_system >= requests_ || s.per_ns >= most_per_ns_;
  }

  const WorkerPool& decode_;
  double later_, before_ns_, requests_, most_per_ns_;
};

// Whole numbers first, because times are known there; between two of them a step's time is the line
// through both.
std::optional<Streams::Settled> Streams::settle(std::int64_t concurrency) const {
  const auto alone = step_ns(1);
  if (!alone) return std::nullopt;
  std::int64_t few = is_enough(of(1, *alone)) ? 0 : 1;
  std::int64_t many = few == 0 ? 1 : concurrency;
  while (many - few > 1) {
    const std::int64_t middle = few + (many - few) / 2;
    const auto decoding = static_cast<double>(middle);
    const auto step = step_ns(decoding);
    if (!step) return std::nullopt;
    (is_enough(of(decoding, *step)) ? many : few) = middle;
  }
  const auto first = static_cast<double>(few), last = static_cast<double>(many);
  const auto at_first = few == 0 ? alone : step_ns(first), at_last = step_ns(last);
  if (!at_first || !at_last) return std::nullopt;
  Settled out;
  double low = first, high = last;
  for (int round = 0; round < 40; ++round) {
    const double middle = (low + high) / 2;
    const double share = middle - first;
    out.stream =
        few == 0 ? thinned(middle, *alone) : of(middle, (1 - share) * *at_first + share * *at_last);
    (is_enough(out.stream) ? high : low) = middle;
  }
  out.decoding = (low + high) / 2;
  return out;
}

}  // namespace

std::optional<PoolFigures> serve_apart(const RequestShape& request, std::int64_t concurrency,
                                       std::int64_t token_budget, const WorkerPool& prefill,
                                       const WorkerPool& decode, double transfer_ns) {
  const auto later = static_cast<double>(request.output_tokens - 1);
  const auto requests = static_cast<double>(concurrency);
  const auto prompt = prompt_ns(request.input_tokens, token_budget, 0, *prefill.times);
  if (!prompt) return std::nullopt;
  const double most_per_ns = prefill.workers / *prompt;
  PoolFigures out;
  if (later <= 0) {
    const double per_ns = std::min(most_per_ns, requests / *prompt);
    out.is_prefill_bound = requests > prefill.workers;
    out.ttft_ns = out.request_ns = requests / per_ns;
    return out;
  }
  const Streams streams(decode, later, *prompt + transfer_ns, requests, most_per_ns);
  const auto settled = streams.settle(concurrency);
  if (!settled) return std::nullopt;
  const Stream& stream = settled->stream;
  out.decoding = settled->decoding;
  out.tpot_ns = stream.step_ns;
  out.is_prefill_bound = stream.in_system < requests * (1 - 1e-6);
  const double per_ns = std::min(stream.per_ns, most_per_ns);
  out.request_ns = requests / per_ns;
  out.ttft_ns = out.request_ns - later * out.tpot_ns;
  return out;
}

}  // namespace halmark
