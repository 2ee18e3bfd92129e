#include "model/step/step_answer.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/numeric/cast.hpp"
#include "core/text/enum_names.hpp"

namespace halmark {
namespace {

double passes_of(const PricedStep& step, std::size_t index) {
  return step.cost ? step.cost->operators[index].passes : 1;
}

// Executions of each operator on a rank of `stage`, over the step.
std::vector<double> executions_on(const PricedStep& step, std::size_t stage) {
  const auto micro_batches = as_double(step.graph.micro_batches());
  std::vector<double> out;
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    const auto count = as_double(step.graph.operators[i].stage_counts[stage]);
    out.push_back(count * micro_batches * passes_of(step, i));
  }
  return out;
}

// Of the stage whose rank takes longest; `one`: times of one execution, by operator.
StepFloor busiest(const PricedStep& step, const std::vector<double>& one) {
  StepFloor out;
  double way_ns = 0;
  for (std::size_t stage = 0; stage < step.graph.stages.size(); ++stage) {
    StepFloor of{.stage = stage, .operator_ns = {}, .executions = executions_on(step, stage)};
    for (std::size_t i = 0; i < one.size(); ++i)
      of.operator_ns.push_back(one[i] * of.executions[i]);
    of.ns = std::accumulate(of.operator_ns.begin(), of.operator_ns.end(), 0.0);
    way_ns += of.ns / as_double(step.graph.micro_batches());
    if (stage == 0 || of.ns > out.ns) out = std::move(of);
  }
  out.cycle_ns = step.is_training() ? out.ns : std::max(out.ns, way_ns);
  return out;
}

// `times`: by which a step of `step_ns` is shared out; null = by nothing.
std::vector<StepShare> operator_shares(const PricedStep& step, const StepFloor* times,
                                       std::optional<double> step_ns) {
  const double flops = step.totals().flops;
  std::vector<StepShare> out(step.graph.operators.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].flops = flops > 0 ? operator_figures(step, i).flops / flops : 0;
    if (times == nullptr || times->ns <= 0) continue;
    out[i].time = times->operator_ns[i] / times->ns;
    out[i].executions = times->executions[i];
    if (!step_ns) continue;
    out[i].ns = *out[i].time * *step_ns;
    if (times->executions[i] > 0) out[i].ns_each = *out[i].ns / times->executions[i];
    if (step.expected.empty()) continue;
    const auto one = operator_floor(step, step.graph.operators[i]);
    if (one) out[i].floor_ns = one->ns * times->executions[i];
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

std::optional<Bottleneck> bottleneck_of(const PricedStep& step, const StepFloor& times) {
  if (times.ns <= 0) return std::nullopt;
  std::array<double, 4> waiting{};  // by Limiter
  for (std::size_t i = 0; i < times.operator_ns.size(); ++i) {
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

// What the stages do at once scales the interval, which is of the busiest.
TokenRate rate_of(double tokens, const StepExpectation& expected) {
  const double per_s = tokens * 1e9 / expected.step.cycle_ns, ns = expected.step.ns;
  return {per_s, per_s * ns / expected.high_ns, per_s * ns / expected.low_ns};
}

void fill_rates(const PricedStep& step, const StepFloor* floor, StepAnswer& out) {
  const double tokens = tokens_of(step);
  if (floor != nullptr && floor->cycle_ns > 0) out.best_rate = tokens * 1e9 / floor->cycle_ns;
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

Result<StepFloor, NoFloor> step_floor(const PricedStep& step) {
  if (!step.device) return NoFloor{"no device named (--device)"};
  std::vector<double> one;
  for (const Operator& op : step.graph.operators) {
    const auto estimate = operator_floor(step, op);
    if (!estimate) {
      return NoFloor{step.device->id + " states no peak or bandwidth that '" + op.name + "' needs"};
    }
    one.push_back(estimate->ns);
  }
  return busiest(step, one);
}

std::optional<StepExpectation> step_expectation(const PricedStep& step) {
  if (step.expected.empty()) return std::nullopt;
  std::vector<double> one;
  for (const Latency& latency : step.expected) one.push_back(latency.ns);
  StepExpectation out{busiest(step, one)};
  for (std::size_t i = 0; i < one.size(); ++i) {
    out.low_ns += out.step.executions[i] * step.expected[i].low_ns;
    out.high_ns += out.step.executions[i] * step.expected[i].high_ns;
  }
  const double spread = unconfirmed_spread(step.graph.spec);
  out.low_ns = std::min(out.low_ns, (1 - spread) * out.step.ns);
  out.high_ns = std::max(out.high_ns, (1 + spread) * out.step.ns);
  return out;
}

std::string expected_from(const Latency& latency) {
  return latency.origin.empty() ? std::string(provenance_name(latency.provenance)) : latency.origin;
}

std::map<std::string, double> expected_shares(const PricedStep& step, const StepExpectation& of) {
  std::map<std::string, double> out;
  for (std::size_t i = 0; i < step.expected.size(); ++i) {
    if (of.step.operator_ns[i] <= 0) continue;
    std::string from = expected_from(step.expected[i]);
    from.resize(std::min(from.size(), from.find(": ")));
    if (const std::size_t of_table = from.rfind(" of "); of_table != from.npos) {
      const std::size_t kept = from.starts_with("transferred ") ? from.find(" of ") + 4 : 0;
      from.erase(kept, of_table + 4 - kept);
    }
    out[from] += of.step.operator_ns[i] / of.step.ns;
  }
  return out;
}

StepAnswer answer_of(const PricedStep& step) {
  StepAnswer out{.expected = step_expectation(step), .fit = fit_of(step)};
  const auto floor = step_floor(step);
  const StepFloor* times = out.expected ? &out.expected->step : floor.get();
  if (floor) {
    out.floor_ns = floor->ns;
  } else {
    out.floor_reason = floor.why()->reason;
  }
  if (times != nullptr) {
    out.stage = times->stage;
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
