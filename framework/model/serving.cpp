#include "model/serving.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halmark {

namespace {

constexpr double ns_per_s = 1e9;

Refusal no_latency(const std::string& step) {
  return {"no_latency", "a kernel of the " + step + " step has no time"};
}

// Context of the mean decode step: all later tokens see the prompt and half of what follows it.
std::int64_t mean_context(const RequestShape& request) {
  return request.input_tokens + std::max<std::int64_t>(1, request.output_tokens / 2);
}

// How the steps of one turn are filled; see serve_together.
struct StepMix {
  double chunk = 0;           // tokens of one request's prompt per step
  double own_chunks = 0;      // p
  double steps = 0;           // I
  double mixed = 0;           // x
  double decoding_mixed = 0;  // d
  bool is_waiting = false;    // requests wait for a free chunk
};

// d depends on c and c on d: both are monotone, and few rounds settle them.
StepMix step_mix(const RequestShape& request, double requests, double budget) {
  const auto input = static_cast<double>(request.input_tokens);
  const auto later = static_cast<double>(request.output_tokens - 1);
  StepMix mix;
  for (int round = 0; round < 50; ++round) {
    const double room = budget - mix.decoding_mixed;
    StepMix next;
    next.chunk = std::min(input, room);
    next.own_chunks = std::ceil(input / room);
    const double alone = later + next.own_chunks;
    next.steps = std::max(alone, requests * input / room);
    next.is_waiting = next.steps > alone;
    next.mixed = std::min(requests * next.own_chunks, next.steps);
    next.decoding_mixed = next.is_waiting ? requests * later / next.steps
                                          : requests - requests * next.own_chunks / next.mixed;
    const bool is_settled = std::abs(next.decoding_mixed - mix.decoding_mixed) < 1e-9;
    mix = next;
    if (is_settled) break;
  }
  return mix;
}

// Prompts of one step: whole ones of several requests, or the mean chunk of a long one.
std::optional<StepTime> prompt_step(const RequestShape& request, const StepMix& mix,
                                    double requests, const StepTimes& times) {
  if (mix.own_chunks > 1) {
    const auto chunks = static_cast<std::int64_t>(mix.own_chunks);
    StepTime sum;
    for (std::int64_t i = 0; i < chunks; ++i) {
      const std::int64_t begin = request.input_tokens * i / chunks;
      const std::int64_t end = request.input_tokens * (i + 1) / chunks;
      const auto step = times.prefill(1, end - begin, begin);
      if (!step) return std::nullopt;
      sum.ns += step->ns / mix.own_chunks;
      sum.ideal_ns += step->ideal_ns / mix.own_chunks;
    }
    return sum;
  }
  const double prompts = std::max(1.0, requests / mix.mixed);
  const auto whole = static_cast<std::int64_t>(std::ceil(prompts - 1e-9));
  auto step = times.prefill(whole, request.input_tokens, 0);
  if (!step) return std::nullopt;
  const double share = prompts / static_cast<double>(whole);
  return StepTime{step->ns * share, step->ideal_ns * share};
}

}  // namespace

Served serve_together(const RequestShape& request, std::int64_t concurrency,
                      std::int64_t token_budget, const StepTimes& times, int devices) {
  // The budget must hold every decoding request and one token of prompt.
  if (token_budget < concurrency) {
    return Refusal{"token_budget", "a step of " + std::to_string(token_budget) +
                                       " tokens does not hold " + std::to_string(concurrency) +
                                       " requests"};
  }
  const auto requests = static_cast<double>(concurrency);
  const auto later = static_cast<double>(request.output_tokens - 1);
  const StepMix mix = step_mix(request, requests, static_cast<double>(token_budget));
  const std::int64_t context = mean_context(request);

  const auto prompt = prompt_step(request, mix, requests, times);
  if (!prompt) return no_latency("prefill");
  StepTime mixed = *prompt, pure;
  if (const double decoding = mix.decoding_mixed; decoding > 1e-9) {
    const auto sequences = static_cast<std::int64_t>(std::ceil(decoding - 1e-9));
    const auto beside = times.decode(sequences, context);
    const auto weights = times.decode(1, 1);
    if (!beside || !weights) return no_latency("decode");
    // Negative only where measured times are not monotone: then the decodes ride for nothing.
    mixed.ns += std::max(0.0, beside->ns - weights->ns);
  }
  if (later > 0) {
    const auto step = times.decode(concurrency, context);
    if (!step) return no_latency("decode");
    pure = *step;
  }
  const double turn_ns = mix.mixed * mixed.ns + (mix.steps - mix.mixed) * pure.ns;
  ServingFigures out;
  // A request's own chunks, and its wait when all chunks are taken; the rest of the turn it
  // decodes.
  out.ttft_ns = mix.is_waiting ? (mix.steps - later) * mixed.ns : mix.own_chunks * mixed.ns;
  if (later > 0) out.tpot_ns = (turn_ns - out.ttft_ns) / later;
  out.request_ns = turn_ns;
  out.requests_per_s = requests / turn_ns * ns_per_s;
  out.tokens_per_s = out.requests_per_s * static_cast<double>(request.output_tokens);
  out.tokens_per_s_per_device = out.tokens_per_s / devices;
  out.concurrency = requests;
  if (prompt->ideal_ns > 0) {
    const double of_prompts = mix.mixed * prompt->ideal_ns;
    out.mfu = (of_prompts + later * pure.ideal_ns) / turn_ns;
  }
  return out;
}

Served serve_rate(const RequestShape& request, double requests_per_s, std::int64_t concurrency_max,
                  std::int64_t token_budget, const StepTimes& times, int devices) {
  Served best = serve_together(request, concurrency_max, token_budget, times, devices);
  if (std::holds_alternative<Refusal>(best)) return best;
  const double most = std::get<ServingFigures>(best).requests_per_s;
  if (most < requests_per_s) {
    return Refusal{"saturated", std::to_string(concurrency_max) + " requests at a time make " +
                                    std::to_string(most) + " requests/s, wanted " +
                                    std::to_string(requests_per_s)};
  }
  std::int64_t low = 0, high = concurrency_max;  // low is too few, high is enough
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    Served tried = serve_together(request, middle, token_budget, times, devices);
    if (std::holds_alternative<Refusal>(tried)) return tried;
    if (std::get<ServingFigures>(tried).requests_per_s < requests_per_s) {
      low = middle;
    } else {
      high = middle;
      best = std::move(tried);
    }
  }
  return best;
}

std::variant<Disaggregated, Refusal> match_rates(const RequestShape& request,
                                                 const WorkerPool& prefill,
                                                 const WorkerPool& decode, int devices_max,
                                                 double transfer_ns) {
  const auto prompt = prefill.times.prefill(prefill.batch, request.input_tokens, 0);
  if (!prompt) return no_latency("prefill");
  const auto later = static_cast<double>(request.output_tokens - 1);
  const auto step = later > 0 ? decode.times.decode(decode.batch, mean_context(request))
                              : std::optional(StepTime{});
  if (!step) return no_latency("decode");
  const double prefill_rate = static_cast<double>(prefill.batch) / prompt->ns * ns_per_s;
  const double decode_rate = later > 0
                                 ? static_cast<double>(decode.batch) / (later * step->ns) * ns_per_s
                                 : std::numeric_limits<double>::infinity();

  Disaggregated best;
  double best_per_device = 0;
  const int decode_min = later > 0 ? 1 : 0;
  for (int p = 1; p * prefill.devices + decode_min * decode.devices <= devices_max; ++p) {
    const int room = (devices_max - p * prefill.devices) / decode.devices;
    // More decode workers than the prompts need only cost devices.
    const int wanted =
        later > 0
            ? static_cast<int>(std::ceil(std::min(p * prefill_rate / decode_rate, room + 0.0)))
            : 0;
    for (int d = std::max(decode_min, wanted - 1); d <= std::min(room, wanted); ++d) {
      const double rate =
          std::min(p * prefill_rate, later > 0 ? d * decode_rate : p * prefill_rate);
      const double per_device = rate / (p * prefill.devices + d * decode.devices);
      if (per_device <= best_per_device * (1 + 1e-12)) continue;
      best_per_device = per_device;
      best = {.prefill_workers = p,
              .decode_workers = d,
              .prefill_requests_per_s = p * prefill_rate,
              .decode_requests_per_s = later > 0 ? d * decode_rate : 0};
      best.figures.requests_per_s = rate;
    }
  }
  if (best.prefill_workers == 0) {
    return Refusal{"too_few_devices",
                   "one prefill and one decode worker need " +
                       std::to_string(prefill.devices + decode_min * decode.devices) +
                       " devices, there are " + std::to_string(devices_max)};
  }
  ServingFigures& f = best.figures;
  const int devices = best.prefill_workers * prefill.devices + best.decode_workers * decode.devices;
  f.ttft_ns = prompt->ns + transfer_ns;
  f.tpot_ns = later > 0 ? step->ns : 0;
  f.request_ns = f.ttft_ns + later * f.tpot_ns;
  f.tokens_per_s = f.requests_per_s * static_cast<double>(request.output_tokens);
  f.tokens_per_s_per_device = f.tokens_per_s / devices;
  f.concurrency = f.requests_per_s * f.request_ns / ns_per_s;
  if (prompt->ideal_ns > 0 && (later == 0 || step->ideal_ns > 0)) {
    const double of_prompt =
        prompt->ideal_ns / static_cast<double>(prefill.batch) * prefill.devices;
    const double of_decode =
        later > 0 ? later * step->ideal_ns / static_cast<double>(decode.batch) * decode.devices : 0;
    f.mfu = f.requests_per_s / ns_per_s * (of_prompt + of_decode) / devices;
  }
  return best;
}

}  // namespace halmark
