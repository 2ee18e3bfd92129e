// The answer and its shares as results/schema/model.md writes them.
#include <utility>

#include "core/json/json.hpp"
#include "model/step/step_answer.hpp"
#include "model/step/step_json.hpp"

namespace halmark {
namespace {

Json scaled(const std::optional<double>& value, double factor) {
  return optional_number(value ? std::optional(*value * factor) : std::nullopt);
}

Json bottleneck_json(const PricedStep& step, const std::optional<Bottleneck>& bottleneck) {
  if (!bottleneck) return nullptr;
  const Operator& op = step.graph.operators[bottleneck->op];
  return {{"operator", op.name},
          {"layer_type", op.layer_type},
          {"operator_time_share_pct", 100 * bottleneck->op_share},
          {"bound", limiter_name(bottleneck->limiter)},
          {"bound_time_share_pct", 100 * bottleneck->limiter_share}};
}

Json ends_json(const TokenRate& rate) { return {rate.low, rate.high}; }

void add_rates(const StepAnswer& answer, Json& out) {
  out["tokens_per_s"] =
      optional_number(answer.rate ? std::optional(answer.rate->per_s) : std::nullopt);
  out["tokens_per_s_at_best"] = optional_number(answer.best_rate);
  if (const auto& rate = answer.expected_rate) {
    out["expected_tokens_per_s"] = rate->per_s;
    out["expected_tokens_per_s_interval"] = ends_json(*rate);
  }
  if (answer.source != TimeSource::measured) return;
  out["share_of_best_pct"] = scaled(answer.share_of_best, 100);
  out["share_of_expected_pct"] = scaled(answer.share_of_expected, 100);
}

Json fits_json(const std::optional<Fit>& fit) {
  if (!fit || !fit->device_bytes) return nullptr;
  return fit->short_by_bytes() == 0;
}

}  // namespace

// Of an operator and of a layer type: shares over the whole, times on the busiest rank.
Json share_json(const StepShare& share) {
  return {{"flops_share_pct", 100 * share.flops},
          {"time_share_pct", scaled(share.time, 100)},
          {"time_ms", scaled(share.ns, 1e-6)},
          {"time_each_ms", scaled(share.ns_each, 1e-6)}};
}

Json engine_json(const StepEngine& engine, double host_ns) {
  return {{"name", engine.name},
          {"release", engine.release},
          {"host_us", host_ns / 1e3},
          {"device_scale", engine.terms.device_scale},
          {"source", engine.source}};
}

Json answer_json(const PricedStep& step) {
  const StepAnswer answer = answer_of(step);
  Json out = {{"time_ms", scaled(answer.ns, 1e-6)},
              {"time_source", time_source_name(answer.source)},
              {"floor_ms", scaled(answer.floor_ns, 1e-6)},
              {"mfu_pct", scaled(answer.mfu, 100)},
              {"is_quarantined", answer.is_quarantined},
              {"bottleneck", bottleneck_json(step, answer.bottleneck)},
              {"fits", fits_json(answer.fit)}};
  add_rates(answer, out);
  if (answer.expected) {
    out["expected_ms"] = answer.expected->ns / 1e6;
    out["expected_interval_ms"] = {answer.expected->low_ns / 1e6, answer.expected->high_ns / 1e6};
    out["expected_from"] = step.basis;
    if (step.engine) out["engine"] = engine_json(*step.engine, answer.expected->host_ns);
  }
  if (const auto& longest = step.question.longest_context) {
    out["max_context"] = {
        {"tokens", longest->tokens},
        {"limited_by", longest->is_memory ? "memory" : "max_position_embeddings"}};
  }
  if (step.before) {
    out["what_if"] = step.changes;
    out["before"] = answer_json(*step.before)["answer"];
  }
  if (step.narrower) {
    out["narrower"] = answer_json(*step.narrower)["answer"];
    out["narrower"]["precision"] = step.narrower->graph.configuration.precision.name;
  }
  if (!answer.ns) out["time_ms_reason"] = answer.reason;
  if (!answer.floor_ns) out["floor_ms_reason"] = answer.floor_reason;
  if (!answer.mfu) out["mfu_pct_reason"] = answer.mfu_reason;
  return {{"answer", std::move(out)}};
}

Json layers_json(const PricedStep& step) {
  const StepAnswer answer = answer_of(step);
  Json rows = Json::array();
  for (const LayerShare& layer : answer.layers) {
    Json row = {{"layer_type", layer.layer_type}, {"layers", layer.layers}};
    row.update(share_json(layer.share));
    rows.push_back(std::move(row));
  }
  return {{"layers", std::move(rows)}};
}

}  // namespace halmark
