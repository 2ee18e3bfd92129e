#include "model/step/step_answer.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/pricing/timed_step.hpp"

namespace halmark {
namespace {

double passes_of(const PricedStep& step, std::size_t index) {
  return step.cost ? step.cost->operators[index].passes : 1;
}

// An estimate of what is possible counts bytes that no proof may: where tables have less, or their
// kernels take less in an engine, that is possible.
std::optional<double> floor_ns(const PricedStep& step, std::size_t index) {
  const auto floor = operator_floor(step, step.graph.operators[index]);
  if (!floor) return std::nullopt;
  if (step.expected.empty()) return floor->ns;
  const double scale = step.engine ? std::min(1.0, step.engine->terms.device_scale) : 1;
  return std::min(floor->ns, scale * step.expected[index].ns);
}

// `one`: times of one execution, by operator.
SummedStep summed(const PricedStep& step, std::vector<KernelTime> one, const StepEngine* engine) {
  for (const auto i : indices(one)) one[i] = passes_of(step, i) * one[i];
  const TimedStep timed(step.graph, one);
  const KernelTime& time = timed.stream().time;
  SummedStep out{.ns = time.ns,
                 .low_ns = time.low_ns,
                 .high_ns = time.high_ns,
                 .stage = timed.slowest_stage(),
                 .is_way = timed.stream().is_way,
                 .operator_ns = {},
                 .executions = timed.executions()};
  for (const auto i : indices(one)) {
    out.operator_ns.push_back(out.executions[i] * one[i].ns);
    out.executions[i] *= passes_of(step, i);
  }
  if (engine == nullptr) return out;
  const EngineShare share = engine_share(*engine, step.graph, time);
  const KernelTime whole = in_engine(*engine, step.graph, time);
  std::tie(out.ns, out.low_ns, out.high_ns) = std::tie(whole.ns, whole.low_ns, whole.high_ns);
  out.host_ns = share.host_ns;
  for (double& ns : out.operator_ns) ns *= share.device_factor;
  return out;
}

// `times`: by which a step of `step_ns` is shared out; null = by nothing.
std::vector<StepShare> operator_shares(const PricedStep& step, const SummedStep* times,
                                       std::optional<double> step_ns) {
  const double flops = step.totals().flops;
  std::vector<StepShare> out(step.graph.operators.size());
  for (const auto i : indices(out)) {
    out[i].flops = flops > 0 ? operator_figures(step, i).flops / flops : 0;
    if (times == nullptr || times->ns <= 0) continue;
    out[i].time = times->operator_ns[i] / times->ns;
    out[i].executions = times->executions[i];
    if (!step_ns) continue;
    out[i].ns = *out[i].time * *step_ns;
    if (times->executions[i] > 0) out[i].ns_each = *out[i].ns / times->executions[i];
    if (step.expected.empty()) continue;
    const auto one = floor_ns(step, i);
    if (one) out[i].floor_ns = *one * times->executions[i];
  }
  return out;
}

void add(std::optional<double>& to, const std::optional<double>& value) {
  if (value) to = to.value_or(0) + *value;
}

// Layers of a type that the busiest rank executes in the step, passes not counted apart: the time
// of one layer is that of all its operators, forward and backward.
double layers_executed(const PricedStep& step, const StepAnswer& answer, const LayerShare& layer) {
  double most = 0;
  for (const std::size_t i : layer.operators) {
    most = std::max(most, answer.operators[i].executions.value_or(0) / passes_of(step, i));
  }
  return most;
}

std::vector<LayerShare> layer_shares(const PricedStep& step, const StepAnswer& answer) {
  std::vector<LayerShare> out;
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    const Operator& op = step.graph.operators[i];
    auto layer = std::ranges::find(out, op.layer_type, &LayerShare::layer_type);
    if (layer == out.end()) layer = out.insert(out.end(), {.layer_type = op.layer_type});
    layer->layers = std::max(layer->layers, op.count);
    layer->operators.push_back(i);
    const StepShare& share = answer.operators[i];
    layer->share.flops += share.flops;
    add(layer->share.time, share.time);
    add(layer->share.ns, share.ns);
    add(layer->share.floor_ns, share.floor_ns);
  }
  for (LayerShare& layer : out) {
    const double layers = layers_executed(step, answer, layer);
    if (!layer.share.time) continue;
    layer.share.executions = layers;
    if (layer.share.ns && layers > 0) layer.share.ns_each = *layer.share.ns / layers;
  }
  return out;
}

std::optional<Bottleneck> bottleneck_of(const PricedStep& step, const SummedStep& times) {
  if (times.ns <= 0) return std::nullopt;
  std::array<double, 4> waiting{};  // by Limiter
  for (const auto i : indices(times.operator_ns)) {
    const auto one = operator_floor(step, step.graph.operators[i]);
    if (one) waiting[as_size(one->limiter)] += times.operator_ns[i];
  }
  const auto largest = std::ranges::max_element(waiting);
  const auto op = std::ranges::max_element(times.operator_ns);
  return Bottleneck{.op = as_size(op - times.operator_ns.begin()),
                    .op_share = *op / times.ns,
                    .limiter = static_cast<Limiter>(largest - waiting.begin()),
                    .limiter_share = *largest / times.ns};
}

TokenRate rate_of(double tokens, const SummedStep& expected) {
  return {tokens * 1e9 / expected.ns, tokens * 1e9 / expected.high_ns,
          tokens * 1e9 / expected.low_ns};
}

void fill_rates(const PricedStep& step, const SummedStep* floor, StepAnswer& out) {
  const double tokens = tokens_of(step);
  if (floor != nullptr && floor->ns > 0) out.best_rate = tokens * 1e9 / floor->ns;
  if (out.expected && out.expected->low_ns > 0) out.expected_rate = rate_of(tokens, *out.expected);
  if (out.source == TimeSource::expected) out.rate = out.expected_rate;
  if (out.source == TimeSource::floor && out.best_rate) {
    out.rate = {*out.best_rate, *out.best_rate, *out.best_rate};
  }
  if (out.source != TimeSource::measured) return;
  const double per_s = tokens * 1e9 / *out.ns;
  out.rate = {per_s, per_s, per_s};
  if (out.best_rate) out.share_of_best = per_s / *out.best_rate;
  if (out.expected_rate) out.share_of_expected = per_s / out.expected_rate->per_s;
}

void fill_utilisation(const PricedStep& step, StepAnswer& out) {
  const auto ns = out.source == TimeSource::expected ? out.floor_ns : out.ns;
  if (!ns || *ns <= 0) {
    out.mfu_reason = out.source == TimeSource::expected ? out.floor_reason : out.reason;
    return;
  }
  const StepUtilisation use = utilisation(step.graph, {.ns = *ns,
                                                       .device = step.device,
                                                       .share = step.share,
                                                       .convention = step.convention,
                                                       .training = step.training});
  out.is_quarantined = out.source == TimeSource::measured && use.bound && *use.bound > 1;
  // A floor that leaves something out would give more than everything.
  if (use.model && *use.model > 1 && out.source != TimeSource::measured) {
    out.mfu_reason = "the floor is below the time of the products at peak";
    return;
  }
  out.mfu = use.model;
  out.mfu_reason = use.reason;
}

}  // namespace

std::string_view time_source_name(TimeSource source) {
  return enum_names<TimeSource>("none", "floor", "expected", "measured").of(source);
}

Result<SummedStep, NoFloor> step_floor(const PricedStep& step) {
  if (!step.device) return NoFloor{"no device named (--device)"};
  std::vector<KernelTime> one;
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    const auto ns = floor_ns(step, i);
    if (!ns) {
      return NoFloor{step.device->id + " states no peak or bandwidth that '" +
                     step.graph.operators[i].name + "' needs"};
    }
    one.push_back({*ns, *ns, *ns, *ns, true});
  }
  return summed(step, std::move(one), nullptr);
}

std::optional<SummedStep> step_expectation(const PricedStep& step) {
  if (step.expected.empty()) return std::nullopt;
  std::vector<KernelTime> one =
      mapped(step.expected, [&](const Latency& latency) { return kernel_time(latency); });
  return summed(step, std::move(one), step.engine ? &*step.engine : nullptr);
}

std::string expected_from(const Latency& latency) {
  return latency.origin.empty() ? std::string(provenance_name(latency.provenance)) : latency.origin;
}

std::map<std::string, double> expected_shares(const PricedStep& step, const SummedStep& of) {
  std::map<std::string, double> out;
  for (const auto i : indices(step.expected)) {
    if (of.operator_ns[i] <= 0) continue;
    std::string from = expected_from(step.expected[i]);
    from.resize(std::min(from.size(), from.find(": ")));
    if (const std::size_t of_table = from.rfind(" of "); of_table != from.npos) {
      const std::size_t kept = from.starts_with("transferred ") ? from.find(" of ") + 4 : 0;
      from.erase(kept, of_table + 4 - kept);
    }
    out[from] += of.operator_ns[i] / (of.ns - of.host_ns);
  }
  return out;
}

StepAnswer answer_of(const PricedStep& step) {
  StepAnswer out{.expected = step_expectation(step), .fit = fit_of(step)};
  const auto floor = step_floor(step);
  const SummedStep* times = out.expected ? &*out.expected : floor.get();
  if (floor) {
    out.floor_ns = floor->ns;
  } else {
    out.floor_reason = floor.why()->reason;
  }
  if (times != nullptr) {
    out.stage = times->stage;
    out.is_way = times->is_way;
    out.bottleneck = bottleneck_of(step, *times);
  }
  if (step.question.measured_ms) {
    out.source = TimeSource::measured;
    out.ns = *step.question.measured_ms * 1e6;
  } else if (times != nullptr) {
    out.source = out.expected ? TimeSource::expected : TimeSource::floor;
    out.ns = times->ns;
  } else {
    out.reason = out.floor_reason;
  }
  fill_rates(step, floor.get(), out);
  fill_utilisation(step, out);
  out.operators = operator_shares(step, times, out.ns);
  out.layers = layer_shares(step, out);
  return out;
}

}  // namespace halmark
