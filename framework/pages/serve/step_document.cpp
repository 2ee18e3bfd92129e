#include "pages/serve/step_document.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/text/units.hpp"

namespace halmark::pages {
namespace {

constexpr std::int64_t candidates_max = 4000;

// A word for the figure, and a sentence for who asks.
struct Origin {
  std::string word, means;
};

struct Figure {
  const char *key, *title, *unit, *term;
  std::optional<double> value, low, high;
  Origin from;
  std::string reason;
};

Json figure_json(const Figure& f) {
  return {{"key", f.key},
          {"title", f.title},
          {"unit", f.unit},
          {"term", f.term},
          {"value", optional_number(f.value)},
          {"low", optional_number(f.low)},
          {"high", optional_number(f.high)},
          {"from", f.from.word},
          {"means", f.from.means},
          {"reason", f.reason}};
}

// A rate falls as the time rises: its interval is that of the time, turned round.
Figure rate(Figure f, const Estimate& e, double per_step) {
  f.value = per_step / (e.step_ns / ns_per_s);
  if (e.low_ns < e.high_ns) {
    f.low = per_step / (e.high_ns / ns_per_s);
    f.high = per_step / (e.low_ns / ns_per_s);
  }
  return f;
}

Origin times_from(const Estimate& e) {
  std::string word(provenance_name(e.provenance));
  switch (e.provenance) {
    case Provenance::roofline:
      return {std::move(word),
              "The best to expect of the device: each operator at the peak or bandwidth that it "
              "needs. Nothing was measured; a real step takes longer."};
    case Provenance::fabric:
      return {std::move(word),
              "Collectives over the links of the fabric; the rest from measurements of others."};
    case Provenance::imported:
      return {std::move(word), "Kernels that others measured, at these very sizes."};
    case Provenance::interpolated:
      return {std::move(word), "Between kernels that others measured."};
    case Provenance::measured:
      break;
  }
  return {std::move(word), "Kernels that were measured on this device."};
}

void add_energy(Json& out, const PricedSystem& system, const ComposedStep& step) {
  const Device& device = system.device();
  const int devices = step.graph.configuration.devices();
  const Workload& w = step.graph.configuration.workload;
  const double tokens = static_cast<double>(w.batch) * static_cast<double>(w.new_tokens);
  const Origin from = {"modelled", "Every device at its power limit: an upper end."};
  const std::string none = device.id + " states no power";
  std::optional<double> watts;
  if (device.power_w) watts = *device.power_w * devices;
  Figure power{"power", "power", "W", "power", watts, {}, {}, from, watts ? "" : none};
  Figure joule{"j_per_token", "energy per token", "J", "energy per token", {}, {}, {}, from, none};
  if (watts) {
    const Estimate& e = step.estimate;
    joule.reason.clear();
    joule.value = *watts * e.step_ns / ns_per_s / tokens;
    if (e.low_ns < e.high_ns) {
      joule.low = *watts * e.low_ns / ns_per_s / tokens;
      joule.high = *watts * e.high_ns / ns_per_s / tokens;
    }
  }
  out.push_back(figure_json(power));
  out.push_back(figure_json(joule));
}

double communication_ns(const Estimate& e) {
  double out = 0;
  for (const OperatorShare& share : e.operators) {
    if (share.bound == "communication") out += share.ns;
  }
  return out;
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
  out["tokens_per_s_per_device"] = price.tokens_per_s / static_cast<double>(devices);
  out["mfu"] = optional_number(price.mfu);
  std::optional<double> joule;
  if (device.power_w && price.tokens_per_s > 0) {
    joule = *device.power_w * static_cast<double>(devices) / price.tokens_per_s;
  }
  out["j_per_token"] = optional_number(joule);
  return out;
}

}  // namespace

Json figures_json(const PricedSystem& system, const ComposedStep& step) {
  const Estimate& e = step.estimate;
  const Workload& w = step.graph.configuration.workload;
  const double devices = step.graph.configuration.devices();
  const double tokens = static_cast<double>(w.batch) * static_cast<double>(w.new_tokens);
  const Origin from = times_from(e);
  const bool is_open = e.low_ns < e.high_ns;
  Json out = Json::array();
  const auto add = [&](Figure f) { out.push_back(figure_json(f)); };
  Figure time{"step_ns", "step latency", "ns", "latency", e.step_ns, {}, {}, from, ""};
  if (is_open) {
    time.low = e.low_ns;
    time.high = e.high_ns;
  }
  add(time);
  if (e.alone) {
    add({"alone_ns", "step alone", "ns", "bubble share", e.alone->ns, e.alone->low_ns,
         e.alone->high_ns, from, ""});
  }
  add(rate({"tokens_per_s", "throughput", "tokens/s", "throughput", {}, {}, {}, from, ""}, e,
           tokens));
  add(rate(
      {"tokens_per_s_per_device", "per device", "tokens/s", "throughput", {}, {}, {}, from, ""}, e,
      tokens / devices));
  add(rate(
      {"tokens_per_s_per_user", "per sequence", "tokens/s", "throughput", {}, {}, {}, from, ""}, e,
      static_cast<double>(w.new_tokens)));
  add(rate({"flops_per_s", "model FLOP/s", "FLOP/s", "flops", {}, {}, {}, from, ""}, e,
           e.matmul_flops));
  const auto mfu = e.mfu ? e.mfu : e.mfu_datasheet;
  Figure use{"mfu", "MFU", "1",  e.mfu ? "mfu" : "datasheet mfu", mfu,
             {},    {},    from, mfu ? "" : e.mfu_reason};
  if (mfu && is_open) {
    use.low = *mfu * e.step_ns / e.high_ns;
    use.high = *mfu * e.step_ns / e.low_ns;
  }
  add(use);
  Figure exchange{"communication", "in collectives", "1", "time share", {}, {}, {}, from, ""};
  if (e.step_ns > 0) exchange.value = communication_ns(e) / e.step_ns;
  add(exchange);
  add_energy(out, system, step);
  add({"step_p99_ns",
       "99th percentile",
       "ns",
       "latency",
       {},
       {},
       {},
       {"not simulated", "Percentiles are of many steps with the jitter of a simulation."},
       "one step on paper has none"});
  return out;
}

Json operators_json(const ComposedStep& step) {
  Json out = Json::array();
  for (const OperatorShare& s : step.estimate.operators) {
    out.push_back({{"name", s.name},
                   {"layer", s.layer_type},
                   {"count", s.count},
                   {"ns", s.ns},
                   {"low_ns", s.low_ns},
                   {"high_ns", s.high_ns},
                   {"flops", s.flops},
                   {"bytes", s.bytes},
                   {"bound", s.bound},
                   {"from", std::string(provenance_name(s.provenance))},
                   {"dtype", s.dtype},
                   {"way", s.implementation}});
  }
  return out;
}

Json memory_json(const PricedSystem& system, const ComposedStep& step) {
  const RankMemory& rank = step.memory.largest;
  const std::int64_t device = system.target().memory_bytes;
  return {{"weights", rank.weight_bytes},
          {"cache", rank.kv_bytes},
          {"activations", rank.activation_bytes},
          {"device", device},
          {"fits", device <= 0 || rank.total() <= device},
          {"total", step.memory.total_bytes}};
}

Json layouts_json(const std::vector<PricedLayout>& layouts, std::int64_t devices,
                  const Device& device) {
  Json out = Json::array();
  for (const PricedLayout& layout : layouts) out.push_back(price_json(layout, devices, device));
  return out;
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
