#include "pages/serve/document/step_document.hpp"

#include <algorithm>
#include <array>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/units.hpp"
#include "model/step/step_answer.hpp"

namespace halmark::pages {
namespace {

constexpr std::int64_t candidates_max = 4000;

// A rate falls as the time rises: its interval is that of the time, turned round.
Figure rate(Figure f, const StepTime& time, double per_step) {
  f.value = per_step / (time.ns / ns_per_s);
  if (time.low_ns < time.high_ns) {
    f.low = per_step / (time.high_ns / ns_per_s);
    f.high = per_step / (time.low_ns / ns_per_s);
  }
  return f;
}

// What events alone can say: it comes with them.
void add_simulated(Json& out) {
  const Origin from = {"simulated", "Event by event: it follows when the hand rests."};
  struct Row {
    const char *key, *title, *unit, *term;
  };
  constexpr std::array rows = {Row{"p50_ns", "50th percentile", "ns", "latency"},
                               Row{"p90_ns", "90th percentile", "ns", "latency"},
                               Row{"p99_ns", "99th percentile", "ns", "latency"},
                               Row{"communication", "waits for collectives", "1", "time share"},
                               Row{"bubble", "devices idle", "1", "bubble share"},
                               Row{"power", "power", "W", "power"},
                               Row{"j_per_token", "energy per token", "J", "energy per token"}};
  for (const Row& row : rows) {
    out.push_back(figure_json(
        {row.key, row.title, row.unit, row.term, {}, {}, {}, from, "is being simulated"}));
  }
}

Json price_json(const PricedLayout& layout, std::int64_t devices, const Device& device) {
  Json out = {{"strategy", layout.parallel.text()},
              {"devices", devices},
              {"batch", layout.batch},
              {"bytes_per_rank", layout.bytes_per_rank}};
  if (!layout.price) {
    out["reason"] = layout.reason;
    return out;
  }
  const Price& price = *layout.price;
  out["step_ns"] = price.step_ns;
  out["low_ns"] = price.low_ns;
  out["high_ns"] = price.high_ns;
  out["tokens_per_s"] = price.tokens_per_s;
  out["tokens_per_s_per_device"] = price.tokens_per_s / as_double(devices);
  out["mfu"] = optional_number(price.mfu);
  // Of no simulation: what a step takes at most, every device at its limit.
  std::optional<double> joule;
  if (device.power_w && price.tokens_per_s > 0) {
    joule = *device.power_w * as_double(devices) / price.tokens_per_s;
  }
  out["j_per_token_most"] = optional_number(joule);
  return out;
}

}  // namespace

Json rates_json(const PricedStep& step, const StepTime& time, const Origin& from) {
  const Workload& w = step.graph.configuration.workload;
  const double devices = step.graph.configuration.devices();
  const schedule::StepWork work = schedule::work_of(step, time.ns);
  const bool is_open = time.low_ns < time.high_ns;
  Json out = Json::array();
  const auto add = [&](const Figure& f) { out.push_back(figure_json(f)); };
  const auto with_interval = [&](Figure f) {
    if (f.value && is_open) {
      f.low = *f.value * time.ns / time.high_ns;
      f.high = *f.value * time.ns / time.low_ns;
    }
    return f;
  };
  Figure latency{"step_ns", "step latency", "ns", "latency", time.ns, {}, {}, from, ""};
  if (is_open) {
    latency.low = time.low_ns;
    latency.high = time.high_ns;
  }
  add(latency);
  const auto add_rate = [&](const char* key, const char* title, const char* unit, const char* term,
                            double per_step) {
    add(rate({key, title, unit, term, {}, {}, {}, from, ""}, time, per_step));
  };
  add_rate("tokens_per_s", "throughput", "tokens/s", "throughput", work.tokens);
  add_rate("tokens_per_s_per_device", "per device", "tokens/s", "throughput",
           work.tokens / devices);
  if (!step.is_training()) {
    add_rate("tokens_per_s_per_user", "per sequence", "tokens/s", "throughput",
             work.tokens / as_double(w.batch));
  }
  add_rate("flops_per_s", "model FLOP/s", "FLOP/s", "flops", work.flops);
  add(with_interval(
      {"mfu", "MFU", "1", "mfu", work.mfu, {}, {}, from, work.mfu ? "" : work.reason}));
  if (work.hfu && work.hfu != work.mfu) {
    add(with_interval({"hfu", "HFU", "1", "hfu", work.hfu, {}, {}, from, ""}));
  }
  return out;
}

namespace {

void add_measured(Json& out, const ComposedStep& step, double ms, const Origin& from) {
  PricedStep own = step.priced;
  own.question.measured_ms = ms;
  const StepAnswer answer = answer_of(own);
  const Origin given = {"measured", "The time that you gave, beside the least that is possible."};
  const bool is_possible = answer.share_of_best && !answer.is_quarantined;
  out.push_back(figure_json({"measured_of_best",
                             "your step: of the best possible",
                             "1",
                             "own figure",
                             is_possible ? answer.share_of_best : std::nullopt,
                             {},
                             {},
                             given,
                             is_possible             ? ""
                             : answer.is_quarantined ? "no step can have taken so little"
                                                     : answer.floor_reason}));
  if (from.is_bound) return;
  out.push_back(figure_json(rate({"measured_of_forecast",
                                  "your step: of the forecast",
                                  "1",
                                  "own figure",
                                  {},
                                  {},
                                  {},
                                  from,
                                  ""},
                                 step.time, ms * 1e6 / ns_per_s)));
}

}  // namespace

Json figures_json(const PricedSystem& system, const ComposedStep& step,
                  std::optional<double> measured_ms) {
  const Estimate& e = step.estimate;
  const Origin times = times_from(e, system.tables());
  const Origin from = step.time.is_simulated ? simulated_from(times) : times;
  Json out = rates_json(step.priced, step.time, from);
  if (e.alone) {
    Figure stream{"stream_ns", "step of a stream", "ns", "step of a stream", e.step_ns, {}, {}, {},
                  ""};
    stream.from = {times.word,
                   "The time between two steps when they follow each other, so that the pipeline "
                   "neither fills nor drains: what the layouts and the front are compared by.",
                   times.is_bound};
    if (e.low_ns < e.high_ns) {
      stream.low = e.low_ns;
      stream.high = e.high_ns;
    }
    out.push_back(figure_json(stream));
  }
  if (measured_ms) add_measured(out, step, *measured_ms, from);
  add_simulated(out);
  return out;
}

Json operators_json(const ComposedStep& step) {
  return json_list(step.estimate.operators, [](const OperatorShare& s) -> Json {
    return {{"name", s.name},     {"layer", s.layer_type},
            {"count", s.count},   {"ns", s.ns},
            {"low_ns", s.low_ns}, {"high_ns", s.high_ns},
            {"flops", s.flops},   {"bytes", s.bytes},
            {"bound", s.bound},   {"from", provenance_name(s.provenance)},
            {"dtype", s.dtype},   {"way", s.implementation}};
  });
}

Json memory_json(const PricedSystem& system, const ComposedStep& step) {
  const std::int64_t device = system.target().memory_bytes;
  Json parts = Json::array();
  const auto add = [&](const char* name, std::int64_t bytes) {
    if (bytes > 0) parts.push_back({{"name", name}, {"bytes", bytes}});
  };
  if (step.priced.is_training()) {
    const TrainingMemory& rank = largest(step.priced.training_stages);
    add("weights", rank.weight_bytes);
    add("gradients", rank.gradient_bytes);
    add("optimizer", rank.optimizer_bytes);
    add("activations", rank.activation_bytes);
    add("working", rank.working_bytes + rank.gathered_bytes);
  } else {
    const RankMemory& rank = step.priced.memory.largest;
    add("weights", rank.weight_bytes);
    add("cache", rank.kv_bytes);
    add("activations", rank.activation_bytes);
  }
  const std::int64_t used = step.priced.memory_bytes();
  return {{"parts", std::move(parts)},
          {"used", used},
          {"device", device},
          {"fits", device <= 0 || used <= device}};
}

Json layouts_json(const std::vector<PricedLayout>& layouts, std::int64_t devices,
                  const Device& device) {
  return json_list(layouts,
                   [&](const PricedLayout& layout) { return price_json(layout, devices, device); });
}

Json candidates_json(PricedSystem& system, const PageState& state) {
  Json out = Json::array();
  std::int64_t asked = 0;
  PageState at = state;
  for (at.shards = 1; at.shards <= state.shards; at.shards *= 2) {
    for (at.batch = 1; at.batch <= 1024 && asked < candidates_max; at.batch *= 2) {
      for (const PricedLayout& layout : system.layouts(at)) {
        ++asked;
        if (layout.price) out.push_back(price_json(layout, at.shards, system.device()));
      }
    }
  }
  return {{"points", std::move(out)}, {"tried", asked}};
}

}  // namespace halmark::pages
