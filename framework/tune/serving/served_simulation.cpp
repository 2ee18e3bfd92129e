#include "tune/serving/served_simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"
#include "latency/chain.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/pricing/memory_text.hpp"
#include "model/spec/coverage.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/asked_sweep.hpp"
#include "plan/precision.hpp"
#include "report/times_from.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {
namespace {

using serving::ServerMode;

constexpr double bytes_per_gb = 1e9;
constexpr std::int64_t token_budget_unstated = 8192;

ServerMode mode_of(const std::string& word) {
  if (const auto mode = serving::parse_server_mode(word)) return *mode;
  throw refused("'" + printable(word) + "' is no way to serve", "--mode",
                suggestion(word, {"aggregated", "disaggregated", "shared"}));
}

// Without a source the fastest possible times, as a search of a model has them.
LatencyChoice named(LatencyChoice choice) {
  if (choice.sources.empty()) choice.sources = {"roofline"};
  choice.where = "--latency";
  choice.device_where = "--device";
  return choice;
}

// "disk:2.5": from where, and GB/s.
serving::ColdStart cold_start_of(const ServingQuestion& q, double weight_bytes) {
  serving::ColdStart out;
  if (q.cold_start.empty()) return out;
  const std::size_t colon = q.cold_start.find(':');
  out.from = q.cold_start.substr(0, colon);
  const std::string rate = colon == std::string::npos ? "" : q.cold_start.substr(colon + 1);
  const auto gb_per_s = read_number<double>(rate);
  if ((out.from != "disk" && out.from != "network") || !gb_per_s || !std::isfinite(*gb_per_s) ||
      *gb_per_s <= 0) {
    throw refused("'" + printable(q.cold_start) + "' is no source of weights", "--cold-start",
                  "disk:GB/s or network:GB/s, as disk:2.5");
  }
  out.bytes_per_s = *gb_per_s * bytes_per_gb;
  out.weight_bytes = weight_bytes;
  out.other_s = q.cold_start_other_s;
  return out;
}

// Of workers that decode; without them of all.
Parallel layout_of(const ServingQuestion& q) {
  Parallel out{.dp = q.dp, .tp = q.tp, .pp = q.pp, .ep = q.ep};
  for (const int part : {q.dp, q.tp, q.pp, q.ep}) {
    if (part >= 1) continue;
    throw refused("a layout of " + out.text(), "--tp, --pp, --dp, --ep", "each is 1 or more");
  }
  const std::int64_t others = std::int64_t{q.dp} * q.pp;
  if (mode_of(q.mode) != ServerMode::disaggregated && q.tp == 1 && q.devices > 0 &&
      q.devices % others == 0) {
    out.tp = as_int(q.devices / others);
  }
  return out;
}

Parallel prefill_layout_of(const ServingQuestion& q, const Parallel& decode) {
  Parallel out = decode;
  for (const auto& [own, degree] : {std::pair{q.prefill.dp, &out.dp},
                                    {q.prefill.tp, &out.tp},
                                    {q.prefill.pp, &out.pp},
                                    {q.prefill.ep, &out.ep}}) {
    if (own != 0) *degree = own;
    if (own < 0) throw refused("a degree of " + std::to_string(own), "--prefill-*", "1 or more");
  }
  return out;
}

struct Unread {
  bool is_stated;
  const char *option, *of;
};

// What is stated and would change nothing: an option belongs to the load or the mode that reads it.
void check_unread(const ServingQuestion& q) {
  const ServerMode mode = mode_of(q.mode);
  const ServingQuestion none;
  const bool is_trace = !q.trace.empty(), has_clients = !is_trace && !q.has_rate;
  const bool has_kinds = mode == ServerMode::disaggregated;
  const serving::LoadQuestion& load = q.load;
  for (const Unread& u :
       {Unread{!has_kinds &&
                   (q.prefill != none.prefill || q.prefill_workers != 1 || q.decode_workers != 1),
               "--prefill-*, --decode-workers", "with --mode disaggregated"},
        {!has_kinds && q.link_gb_per_s != 0, "--link-gb-per-s", "with --mode disaggregated"},
        {mode != ServerMode::shared && q.prefill_share, "--prefill-share", "with --mode shared"},
        {(mode != ServerMode::aggregated || q.dp * q.pp == 1) && q.devices == 0 && q.migrates,
         "--migrate", "by several aggregated engines (--dp)"},
        {!q.has_rate && load.variation != none.load.variation, "--burst", "with --rate"},
        {!has_clients && load.clients != none.load.clients, "--concurrency",
         "without --rate and --arrivals"},
        {!has_clients && q.begins_at_once, "--at-once", "without --rate and --arrivals"},
        {(!has_clients || q.begins_at_once) && q.begins_spread, "--spread",
         "without --rate, --arrivals and --at-once"},
        {is_trace && q.has_rate, "--rate", "without --arrivals"},
        {is_trace && load.shape != none.load.shape, "--input, --output", "without --arrivals"},
        {is_trace && load.requests != none.load.requests, "--requests", "without --arrivals"},
        {(load.prefix_tokens > 0) != (load.prefix_share > 0) ||
             (is_trace && load.prefix_tokens > 0),
         "--prefix-tokens, --prefix-share", "with each other, and without --arrivals"}}) {
    if (!u.is_stated) continue;
    throw refused(std::string("it is read only ") + u.of, u.option, "leave it out");
  }
  if (q.link_gb_per_s < 0) {
    throw refused(number_text(q.link_gb_per_s) + " GB/s", "--link-gb-per-s", "above 0");
  }
}

std::string layout_text(const ServingQuestion& q, const Parallel& decode, const Parallel& prefill) {
  if (mode_of(q.mode) != ServerMode::disaggregated) return decode.text();
  return "prefill " + std::to_string(q.prefill_workers) + "x " + prefill.text() + " decode " +
         std::to_string(q.decode_workers) + "x " + decode.text();
}

void check_devices(const ServingQuestion& q, const Parallel& decode, const Parallel& prefill) {
  const bool has_kinds = mode_of(q.mode) == ServerMode::disaggregated;
  const std::int64_t devices = has_kinds ? std::int64_t{q.prefill_workers} * prefill.devices() +
                                               std::int64_t{q.decode_workers} * decode.devices()
                                         : decode.devices();
  if (q.devices == 0 || devices == q.devices) return;
  throw refused(std::to_string(q.devices) + " devices, and the layout has " +
                    std::to_string(devices) + ": " + layout_text(q, decode, prefill),
                "--devices", "leave it out, or change --tp, --pp, --dp or the workers");
}

// Prices, plans and simulates; what it refers to lives as long as it.
class Simulation {
 public:
  Simulation(const ServingQuestion& q, const Folders& models, const Folders& devices)
      : q_(q),
        device_(target_device(named(q.latency), devices)),
        latencies_(priced_latencies(named(q.latency), device_, devices, std::nullopt)),
        spec_(load_model(q.model, models)),
        facts_(served_facts(spec_, device_, latencies_.engine)),
        fitted_(fitted()),
        steps_(
            spec_,
            [this](const Operator& op) { return kernel_time(latency_of(latencies_.chain, op)); },
            &device_, 0) {}

  ServedSimulation run() {
    check_unread(q_);
    require_requests(spec_);
    ServedSimulation out;
    out.spec = spec_;
    out.configuration = {
        .model = spec_.id, .parallel = layout_of(q_), .precision = precision_of(q_.dtype, facts_)};
    out.levels = levels();
    serving::Load load = this->load();
    const auto layout = checked(out.configuration.parallel, out.configuration.precision);
    const Parallel prefill = prefill_layout_of(q_, out.configuration.parallel);
    check_devices(q_, out.configuration.parallel, prefill);
    out.layout = layout_text(q_, out.configuration.parallel, prefill);
    const auto prefill_layout = checked(prefill, out.configuration.precision);
    plan(out, layout, prefill_layout, load);
    if (fitted_ && is_full(out.plan)) fitted_ = of_full_cache(*std::move(fitted_));
    closed_form(out, layout);
    spread(load, out.closed_form);
    const double scale = out.plan.engine.terms.device_scale;
    serving::LayoutClock clock(steps_, layout, scale), prefill_clock(steps_, prefill_layout, scale);
    out.record = serving::simulate_server(out.plan, load, clock, prefill_clock);
    // The first of spread clients find an empty server; a benchmark counts all.
    const auto clients = as_size(begins_together() ? 0 : load.clients);
    out.summary =
        serving::summary_of(out.record, out.levels, std::min(clients, load.requests.size() / 2));
    if (load.clients == 0) out.saturation = serving::saturation_of(out.record);
    keep_levels(out, prefill_layout, layout);
    basis(out);
    append_all(out.basis, load.notes);
    return out;
  }

 private:
  std::optional<serving::FittedTerms> fitted() const {
    auto out = engine_terms(latencies_, &spec_);
    if (out && mode_of(q_.mode) == ServerMode::disaggregated) return of_disaggregated(*out);
    return out;
  }

  std::string engine_name() const { return fitted_ ? fitted_->engine : ""; }

  serving::Levels levels() const {
    serving::Levels out;
    if (!q_.ttft.empty()) out.ttft_ns = parse_duration_ns(q_.ttft, "--ttft");
    if (!q_.tpot.empty()) out.tpot_ns = parse_duration_ns(q_.tpot, "--tpot");
    return out;
  }

  bool begins_together() const {
    if (!q_.trace.empty() || q_.has_rate) return false;
    return q_.begins_at_once || (fitted_ && !q_.begins_spread);
  }

  serving::Load load() const {
    if (!q_.trace.empty()) return serving::read_trace(q_.trace);
    serving::LoadQuestion asked = q_.load;
    if (asked.requests == 0) {
      asked.requests =
          begins_together() && fitted_
              ? std::max<std::int64_t>(1, std::llround(fitted_->series.waves)) * asked.clients
              : 200;
    }
    if (q_.has_rate) {
      asked.arrivals =
          asked.variation == 1 ? serving::Arrivals::poisson : serving::Arrivals::bursty;
    }
    return serving::load_of(asked);
  }

  StepPricer::Layout checked(const Parallel& parallel, const Precision& precision) {
    const auto layout = steps_.layout(parallel, precision);
    if (const auto& refusal = steps_.refusal(layout)) {
      throw refused(parallel.text() + ": " + refusal->text, {}, "choose another layout");
    }
    return layout;
  }

  serving::EnginePlan engine(serving::CacheRoom& room, StepPricer::Layout layout,
                             std::int64_t context) {
    serving::EnginePlan out = q_.engine;
    if (fitted_) {
      const serving::SeriesTerms& series = fitted_->series;
      out.terms = series.terms;
      out.chunks_prompts = series.chunks_prompts;
      if (out.token_budget == 0) out.token_budget = series.token_budget;
    }
    if (out.token_budget == 0) out.token_budget = token_budget_unstated;
    const auto memory = as_int64(as_double(device_.memory_bytes) * q_.memory_fraction);
    room = serving::cache_room(steps_, layout, memory, out.token_budget, out.block_tokens, context,
                               engine_memory(engine_name(), device_, steps_.parallel(layout).tp,
                                             spec_.vocab, out.requests_max)
                                   .value_or(EngineMemory()));
    if (out.blocks > room.blocks || room.blocks == 0) {
      throw refused((room.blocks == 0 ? std::string("no KV block")
                                      : std::to_string(out.blocks) + " KV blocks") +
                        " beside " + memory_size_text(room.rank_weight_bytes) + " of weights and " +
                        memory_size_text(room.rank_kept_bytes) +
                        (!fitted_ ? " of activations on a rank: "
                                  : " of activations and the engine's own on a rank: ") +
                        std::to_string(room.blocks) + " fit into " + memory_size_text(memory),
                    q_.model, "more devices per engine, a narrower --dtype, or fewer --kv-blocks");
    }
    if (out.blocks == 0) out.blocks = room.blocks;
    out.block_bytes = room.block_bytes;
    return out;
  }

  void plan(ServedSimulation& out, StepPricer::Layout layout, StepPricer::Layout prefill_layout,
            const serving::Load& load) {
    std::int64_t context = 1;
    for (const auto i : indices(load.requests)) {
      const serving::RequestPlan& r = load.requests[i];
      context = std::max(context, r.input_tokens + r.output_tokens);
      if (const auto refusal = check_context(spec_, context)) {
        throw refused(
            refusal->text,
            (q_.trace.empty() ? "" : q_.trace + ", ") + "request " + std::to_string(i + 1),
            "prompt and answer within what " + spec_.id + " was made for");
      }
    }
    serving::ServerPlan& plan = out.plan;
    plan.mode = mode_of(q_.mode);
    const Parallel& parallel = out.configuration.parallel;
    const Parallel& prefill = steps_.parallel(prefill_layout);
    // Each replica and each stage of a layout has a batch of its own.
    plan.engines = parallel.dp * parallel.pp;
    plan.prefill_workers = q_.prefill_workers * prefill.dp * prefill.pp;
    plan.decode_workers = q_.decode_workers * plan.engines;
    plan.engine = engine(out.room, layout, context);
    if (plan.mode == ServerMode::disaggregated) {
      serving::CacheRoom room;
      plan.prefill = engine(room, prefill_layout, context);
    }
    plan.prefill_share = q_.prefill_share.value_or(0.5);
    // Every rank of the narrower side sends or takes its part.
    const int narrower = std::min(parallel.tp, prefill.tp);
    const double rate = q_.link_gb_per_s > 0 ? q_.link_gb_per_s * bytes_per_gb
                                             : latencies_.transfer_bytes_per_s.value_or(0);
    plan.link_bytes_per_s = rate * narrower;
    plan.kv_bytes_per_token = out.room.kv_bytes_per_token;
    plan.migrates = q_.migrates;
    plan.cold_start = cold_start_of(q_, out.room.weight_bytes / parallel.pp);
    plan.keeps_timeline = q_.keeps_timeline;
    out.memory_bytes = as_int64(as_double(device_.memory_bytes) * q_.memory_fraction);
  }

  void closed_form(ServedSimulation& out, StepPricer::Layout layout) {
    const bool is_closed = q_.trace.empty() && !q_.has_rate && q_.load.prefix_tokens == 0;
    if (!is_closed || out.plan.mode != ServerMode::aggregated) return;
    if (q_.load.clients % out.plan.engines != 0) return;
    const RequestShape& shape = q_.load.shape;
    const LayoutTimes times(steps_, layout, decode_context(shape), &KernelTime::ns,
                            out.plan.engine.terms.device_scale);
    const std::int64_t clients = q_.load.clients / out.plan.engines;
    const EngineLimits limits = {out.plan.engine.token_budget,
                                 serving::requests_held(out.plan.engine, shape)};
    const EngineTerms& terms = out.plan.engine.terms;
    out.closed_form =
        begins_together() && fitted_
            ? serve_benchmark(shape, clients, limits, times, terms, fitted_->series.waves)
            : serve_closed_loop(shape, clients, limits, times, terms);
  }

  void spread(serving::Load& load, const std::optional<ClosedLoopFigures>& closed) const {
    if (!closed || begins_together()) return;
    for (const std::int64_t i : below(load.clients)) {
      const double share = as_double(i) / as_double(load.clients);
      load.requests[as_size(i)].arrival_ps = events::picoseconds(share * closed->request_ns * 1e-9);
    }
  }

  // Of a closed loop, whose clients are all there at once.
  bool is_full(const serving::ServerPlan& plan) const {
    if (!q_.trace.empty() || q_.has_rate) return false;
    const bool has_kinds = plan.mode == ServerMode::disaggregated;
    const std::int64_t engines = has_kinds ? plan.decode_workers : plan.engines;
    const std::int64_t tokens = q_.load.shape.input_tokens + q_.load.shape.output_tokens;
    return (q_.load.clients + engines - 1) / engines * tokens >
           plan.engine.blocks * plan.engine.block_tokens;
  }

  // Where requests are alike, by what no engine beats: prefixes that prompts share are computed
  // once.
  std::array<Ratios, 2> ratios(const serving::ServerSummary& s, std::int64_t token_budget,
                               StepPricer::Layout prefill, StepPricer::Layout decode) {
    std::array<Ratios, 2> out = {fitted_->ttft, fitted_->tpot};
    if (!q_.trace.empty() || q_.load.prefix_tokens > 0) return out;
    const auto first = alone_at_bounds(steps_, prefill, q_.load.shape, token_budget),
               later = alone_at_bounds(steps_, decode, q_.load.shape, token_budget);
    if (first) out[0].low = std::max(out[0].low, first->ttft_ns / s.ttft.mean);
    if (later && s.tpot.n > 0) out[1].low = std::max(out[1].low, later->tpot_ns / s.tpot.mean);
    return out;
  }

  void keep_levels(ServedSimulation& out, StepPricer::Layout prefill, StepPricer::Layout decode) {
    if (!fitted_ || !latencies_.has_tables()) return;
    const bool is_closed = q_.trace.empty() && !q_.has_rate;
    const auto [ttft, tpot] = ratios(out.summary, out.plan.engine.token_budget, prefill, decode);
    out.ranges = serving::mean_ranges(out.summary, ttft, tpot, is_closed);
    out.ranges->has_rows_of_device = fitted_->is_of_device;
    const auto probability = [](const std::optional<double>& limit_ns, double mean_ns,
                                const Ratios& r) -> std::optional<double> {
      if (!limit_ns) return std::nullopt;
      // An interval of 90 % says nothing of its far tails.
      return std::clamp(probability_at_most(*limit_ns, mean_ns, r.low * mean_ns, r.high * mean_ns),
                        0.01, 0.99);
    };
    out.keeps_ttft = probability(out.levels.ttft_ns, out.summary.ttft.mean, ttft);
    out.keeps_tpot = probability(out.levels.tpot_ns, out.summary.tpot.mean, tpot);
  }

  void basis(ServedSimulation& out) const {
    out.basis.push_back("device: " + device_.name + " (" + device_.id + ")");
    for (const std::string& line : report::table_lines(latencies_.table_use())) {
      out.basis.push_back("times: " + line);
    }
    for (const std::string& line : latencies_.sources) out.basis.push_back("times: " + line);
    for (const std::string& line : model_lines(spec_)) out.basis.push_back(line);
    const std::string weights = assumed_format(spec_, out.configuration.precision);
    if (!weights.empty()) out.basis.push_back("model: assumed: " + weights);
    const std::string cache = cache_line(out.configuration.precision, facts_, latencies_.engine);
    if (!cache.empty()) out.basis.push_back(cache);
    if (!fitted_) {
      out.basis.emplace_back("engine: no host or scheduler terms (--engine names some)");
      return;
    }
    out.basis.push_back("engine: " + serving::source_text(*fitted_));
    if (!latencies_.has_tables()) {
      out.basis.emplace_back(
          "engine: fitted with times of kernel tables (--latency forecast, imported:FILE); "
          "with those above its interval does not hold");
    }
  }

  const ServingQuestion& q_;
  Device device_;
  PricedLatencies latencies_;
  ModelSpec spec_;
  PrecisionFacts facts_;
  std::optional<serving::FittedTerms> fitted_;
  StepPricer steps_;
};

}  // namespace

ServedSimulation simulate_serving(const ServingQuestion& question, const Folders& models,
                                  const Folders& devices) {
  return Simulation(question, models, devices).run();
}

}  // namespace halmark::tune
