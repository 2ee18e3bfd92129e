// A served load is a mix of steps; each is the StepSum of its layout over times of layer types.
#include "model/serving/serving_pricer.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "model/pricing/engine_memory.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/memory_text.hpp"

namespace halmark {

namespace {

constexpr double seconds_per_hour = 3600;

struct End {
  double KernelTime::*of_kernel;
  ServingFigures ServedEstimate::*figures;
};
constexpr End ends[] = {{&KernelTime::ns, &ServedEstimate::figures},
                        {&KernelTime::low_ns, &ServedEstimate::fast},
                        {&KernelTime::high_ns, &ServedEstimate::slow}};

Refusal no_time() { return {"no_latency", "a kernel of a step has no time in any source"}; }

}  // namespace

// Slots by layer type: what follows from tokens alone sees those of the whole step, the rest is
// added per kind; the head sees one row of every request.
std::optional<double> LayoutTimes::whole_step_ns(const StepMix& mix, std::int64_t decodes) const {
  const double of_prompts = mix.prompts * as_double(mix.piece_tokens);
  const auto tokens = std::max<std::int64_t>(1, std::llround(of_prompts + as_double(decodes)));
  const auto rows = std::max<std::int64_t>(1, decodes + as_int64(std::ceil(mix.prompts - 1e-9)));
  TypeTimes& slots = slots_;
  slots = pricer_->of_tokens(layout_, tokens);
  const auto add_all = [&](double count, const TypeTimes& times) {
    for (const auto t : indices(slots)) add(slots[t], count * times[t]);
  };
  if (decodes > 0) {
    add_all(1, pricer_->of_sequences(layout_, Phase::decode, decodes, 1));
    add_all(1, pricer_->of_context(layout_, Phase::decode, {decodes, 1, context_}));
  }
  if (mix.prompts > 0) {
    const std::int64_t piece = mix.piece_tokens;
    add_all(mix.prompts, pricer_->of_sequences(layout_, Phase::prefill, 1, piece));
    add_all(mix.prompts,
            pricer_->of_context(layout_, Phase::prefill, {1, piece, mix.cached + piece}));
  }
  slots[as_size(pricer_->head_type())] = pricer_->of_head(layout_, rows, context_);
  if (pricer_->parallel(layout_).pp > 1) {
    slots[as_size(pricer_->pipeline_type())] = pricer_->hand_over(layout_, tokens);
  }
  const KernelTime time = evaluate(pricer_->step(layout_), slots).time;
  if (!time.is_known) return std::nullopt;
  return scale_ < 1 ? std::max(time.*end_, time.lower_bound_ns / scale_) : time.*end_;
}

std::optional<double> LayoutTimes::step_ns(const StepMix& mix) const {
  const double floor = std::floor(mix.decodes + 1e-9);
  const auto fewer = as_int64(floor);
  const double share = std::max(0.0, mix.decodes - floor);
  const auto low = whole_step_ns(mix, fewer);
  if (!low || share < 1e-9) return low;
  const auto high = whole_step_ns(mix, fewer + 1);
  if (!high) return std::nullopt;
  return (1 - share) * *low + share * *high;
}

ServingPricer::ServingPricer(const ModelSpec& spec, StepPricer& steps, const RequestShape& request,
                             ServingFacts facts)
    : spec_(spec), steps_(steps), request_(request), facts_(facts) {}

std::int64_t decode_context(const RequestShape& request) {
  return request.input_tokens + std::max<std::int64_t>(1, request.output_tokens / 2);
}

std::optional<EngineFigures> alone_at_bounds(StepPricer& steps, StepPricer::Layout layout,
                                             const RequestShape& request,
                                             std::int64_t token_budget) {
  const LayoutTimes times(steps, layout, decode_context(request), &KernelTime::lower_bound_ns);
  return serve_together(request, 1, token_budget, times);
}

std::optional<Refusal> ServingPricer::layout_refusal(const Configuration& configuration,
                                                     StepPricer::Layout layout) {
  if (const auto& refusal = steps_.refusal(layout)) return refusal;
  if (auto refusal = check_context(spec_, request_.input_tokens + request_.output_tokens)) {
    return refusal;
  }
  const Parallel& parallel = steps_.parallel(layout);
  if (configuration.served->mode == ServingMode::aggregated &&
      configuration.served->concurrency % (std::int64_t{parallel.dp} * parallel.pp) != 0) {
    return Refusal{"parts_do_not_divide_concurrency",
                   "dp " + std::to_string(parallel.dp) + " x pp " + std::to_string(parallel.pp) +
                       " does not divide concurrency " +
                       std::to_string(configuration.served->concurrency)};
  }
  return std::nullopt;
}

// Weights, the cache of whole requests at their end, and the activations of a full step.
ServingPricer::Memory ServingPricer::memory(StepPricer::Layout layout, std::int64_t sequences,
                                            std::int64_t tokens, std::int64_t context) {
  const Parallel& parallel = steps_.parallel(layout);
  const std::int64_t step = steps_.activation_bytes(layout, tokens);
  EngineMemory kept;
  if (facts_.engine && facts_.peaks != nullptr) {
    kept = engine_memory(facts_.engine->name, *facts_.peaks, parallel.tp, spec_.vocab, sequences)
               .value_or(kept);
  }
  Memory out;
  for (const StageMemory& stage : steps_.stage_memory(layout, context)) {
    const std::int64_t rows = stage.has_head ? sequences : 0;  // a step's activations have one
    const std::int64_t more_logits = (rows - 1) * spec_.vocab * 4 / parallel.tp;
    const std::int64_t rank = stage.weight_bytes + kept.kept_bytes(step + more_logits) +
                              stage.kv_bytes_per_sequence * sequences * parallel.pp;
    out.largest_rank = std::max(out.largest_rank, rank);
    out.total += rank * stage.stages * parallel.dp * parallel.tp;
  }
  return out;
}

std::optional<Refusal> ServingPricer::memory_refusal(const Memory& memory) const {
  if (memory.largest_rank <= facts_.memory_bytes) return std::nullopt;
  return Refusal{"out_of_memory", memory_shortage_text(memory.largest_rank, facts_.memory_bytes)};
}

// Ideal time of all matmul FLOPs of one request on one device.
std::optional<double> ServingPricer::ideal_request_ns(const Precision& precision) {
  if (facts_.peaks == nullptr) return std::nullopt;
  const auto [it, is_new] = ideal_request_ns_.try_emplace(precision);
  if (!is_new) return it->second;
  const auto ideal = [&](const Workload& workload) -> std::optional<double> {
    auto built = build_graph(spec_, {spec_.id, {}, precision, workload});
    if (!built) return std::nullopt;
    return ideal_device_ns(*built, *facts_.peaks);
  };
  const auto prompt = ideal({Phase::prefill, 1, request_.input_tokens, request_.input_tokens});
  const auto token = ideal({Phase::decode, 1, 1, decode_context(request_)});
  if (prompt && token) {
    it->second = *prompt + as_double(request_.output_tokens - 1) * *token;
  }
  return it->second;
}

void ServingPricer::finish(const Configuration& configuration, ServingFigures& f) {
  const int devices = configuration.devices();
  f.requests_per_s = as_double(configuration.served->concurrency) / f.request_ns * ns_per_s;
  f.tokens_per_s = f.requests_per_s * as_double(request_.output_tokens);
  f.tokens_per_s_per_device = f.tokens_per_s / devices;
  if (facts_.power_w) f.energy_j_per_token = *facts_.power_w * devices / f.tokens_per_s;
  if (facts_.usd_per_device_hour) {
    f.usd_per_million_tokens =
        *facts_.usd_per_device_hour * devices / seconds_per_hour / f.tokens_per_s * 1e6;
  }
  if (const auto ideal = ideal_request_ns(configuration.precision)) {
    f.mfu = f.requests_per_s * *ideal / ns_per_s / devices;
  }
}

std::optional<ClosedLoopFigures> ServingPricer::served(StepPricer::Layout layout,
                                                       std::int64_t requests,
                                                       std::int64_t token_budget,
                                                       const StepTimes& times) {
  if (facts_.engine) {
    const auto formula = serve_benchmark(request_, requests, {token_budget, 0}, times,
                                         facts_.engine->terms, facts_.engine->waves);
    if (!facts_.events || !formula) return formula;
    auto out = facts_.events(steps_, layout, request_, requests, token_budget);
    if (out) out->is_saturated = formula->is_saturated;
    return out;
  }
  const auto alone = serve_together(request_, requests, token_budget, times);
  if (!alone) return std::nullopt;
  return ClosedLoopFigures{.ttft_ns = alone->ttft_ns,
                           .tpot_ns = alone->tpot_ns,
                           .request_ns = alone->request_ns,
                           .is_saturated = alone->is_saturated};
}

void ServingPricer::widen(const Configuration& configuration, StepPricer::Layout prefill,
                          StepPricer::Layout decode, ServedEstimate& estimate) {
  if (!facts_.has_interval) estimate.fast = estimate.slow = estimate.figures;
  if (!facts_.engine || !facts_.engine->has_ratios) return;
  estimate.has_interval = true;
  const std::int64_t budget = configuration.served->token_budget;
  const auto least_ttft = alone_at_bounds(steps_, prefill, request_, budget),
             least_tpot = alone_at_bounds(steps_, decode, request_, budget);
  const auto by = [&](ServingFigures& f, double ttft, double tpot) {
    f.ttft_ns = std::max(f.ttft_ns * ttft, least_ttft ? least_ttft->ttft_ns : 0);
    f.tpot_ns = std::max(f.tpot_ns * tpot, least_tpot ? least_tpot->tpot_ns : 0);
    f.request_ns = f.ttft_ns + as_double(request_.output_tokens - 1) * f.tpot_ns;
    finish(configuration, f);
  };
  // What the formula of a benchmark is off by, beside what its events are: 81 % of 462 published
  // rows lie inside without it, 86 % with it.
  const bool is_apart = configuration.served->mode == ServingMode::disaggregated;
  const double doubt = facts_.events && !is_apart ? 1 : 1.1;
  const ServingEngine& of = *facts_.engine;
  const Ratios &ttft = is_apart ? of.apart_ttft : of.ttft,
               &tpot = is_apart ? of.apart_tpot : of.tpot;
  by(estimate.fast, ttft.low / doubt, tpot.low);
  by(estimate.slow, ttft.high * doubt, tpot.high);
}

ServingPricer::Answer ServingPricer::estimate(const Configuration& configuration) {
  return configuration.served->mode == ServingMode::aggregated ? aggregated(configuration)
                                                               : disaggregated(configuration);
}

ServingPricer::Answer ServingPricer::aggregated(const Configuration& configuration) {
  const ServedLoad& served = *configuration.served;
  const auto layout = steps_.layout(configuration.parallel, configuration.precision);
  if (auto refusal = layout_refusal(configuration, layout)) return *std::move(refusal);
  const std::int64_t requests =
      served.concurrency / (std::int64_t{configuration.parallel.dp} * configuration.parallel.pp);
  const Memory memory_of =
      memory(layout, requests, served.token_budget, request_.input_tokens + request_.output_tokens);
  if (auto refusal = memory_refusal(memory_of)) return *std::move(refusal);
  ServedEstimate out;
  out.has_interval = facts_.has_interval;
  for (const End& end : ends) {
    const LayoutTimes times(steps_, layout, decode_context(request_), end.of_kernel, scale());
    const auto engine = this->served(layout, requests, served.token_budget, times);
    if (!engine) return no_time();
    ServingFigures& f = out.*end.figures;
    f.ttft_ns = engine->ttft_ns;
    f.tpot_ns = engine->tpot_ns;
    f.request_ns = engine->request_ns;
    f.memory_bytes_per_rank = memory_of.largest_rank;
    f.memory_bytes = memory_of.total;
    finish(configuration, f);
    out.is_saturated = engine->is_saturated;
    if (!facts_.has_interval) break;
  }
  widen(configuration, layout, layout, out);
  return out;
}

double ServingPricer::cache_bytes(const Configuration& configuration) {
  const auto [it, is_new] = cache_bytes_.try_emplace(configuration.precision, 0);
  if (is_new) {
    auto built = build_graph(
        spec_,
        {spec_.id, {}, configuration.precision, {Phase::decode, 1, 1, request_.input_tokens}});
    if (const auto* graph = built.get()) {
      it->second = as_double(memory_use(*graph).kv_bytes_total);
    }
  }
  return it->second;
}

ServingPricer::Answer ServingPricer::disaggregated(const Configuration& configuration) {
  const ServedLoad& served = *configuration.served;
  const auto prefill = steps_.layout(served.prefill, configuration.precision);
  const auto decode = steps_.layout(configuration.parallel, configuration.precision);
  for (const auto layout : {prefill, decode}) {
    if (auto refusal = layout_refusal(configuration, layout)) return *std::move(refusal);
    const Parallel& parallel = steps_.parallel(layout);
    if (parallel.dp > 1 || parallel.pp > 1) {
      return Refusal{"worker_layout",
                     "a worker of a disaggregated deployment is one replica of one "
                     "stage, found " +
                         parallel.text()};
    }
  }
  const auto rate = facts_.fabric_bytes_per_s
                        ? std::optional(facts_.fabric_bytes_per_s(configuration.devices()))
                        : facts_.transfer_bytes_per_s;
  if (!rate) {
    return Refusal{"no_transfer_rate", "no link or network between workers is stated"};
  }
  const double transfer_ns =
      cache_bytes(configuration) /
      (*rate * std::min(served.prefill.devices(), configuration.parallel.devices())) * ns_per_s;
  ServedEstimate out;
  out.has_interval = facts_.has_interval;
  for (const End& end : ends) {
    EngineTerms terms = facts_.engine ? facts_.engine->terms : EngineTerms();
    if (facts_.engine) terms.arrival_ns += facts_.engine->apart_ns;
    const LayoutTimes device_prefill(steps_, prefill, decode_context(request_), end.of_kernel,
                                     scale());
    const LayoutTimes device_decode(steps_, decode, decode_context(request_), end.of_kernel,
                                    scale());
    const EngineTimes of_prefill(device_prefill, terms), of_decode(device_decode, terms);
    const auto pools = serve_apart(
        request_, served.concurrency, served.token_budget, {&of_prefill, served.prefill_workers},
        {&of_decode, served.decode_workers}, transfer_ns + terms.arrival_ns);
    if (!pools) return no_time();
    const auto in_worker = as_int64(std::ceil(pools->decoding - 1e-6));
    const Memory of_prompts = memory(prefill, 1, served.token_budget, request_.input_tokens);
    const Memory of_tokens = memory(decode, std::max<std::int64_t>(1, in_worker), in_worker,
                                    request_.input_tokens + request_.output_tokens);
    for (const Memory& one : {of_prompts, of_tokens}) {
      if (auto refusal = memory_refusal(one)) return *std::move(refusal);
    }
    ServingFigures& f = out.*end.figures;
    f.ttft_ns = pools->ttft_ns;
    f.tpot_ns = pools->tpot_ns;
    f.request_ns = pools->request_ns;
    f.memory_bytes_per_rank = std::max(of_prompts.largest_rank, of_tokens.largest_rank);
    f.memory_bytes =
        of_prompts.total * served.prefill_workers + of_tokens.total * served.decode_workers;
    finish(configuration, f);
    out.is_saturated = pools->is_prefill_bound;
    if (!facts_.has_interval) break;
  }
  widen(configuration, prefill, decode, out);
  return out;
}

}  // namespace halmark
