// The keys are a contract (results/schema/model.md); an absent figure is null and has a reason.
#include "model/step/step_json.hpp"

#include <algorithm>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "model/step/step_room.hpp"

namespace halmark {
namespace {

Json operator_json(const PricedStep& step, std::size_t index, const StepShare& share) {
  const Operator& op = step.graph.operators[index];
  const OperatorFigures row = operator_figures(step, index);
  Json out = {{"name", op.name},
              {"layer_type", op.layer_type},
              {"count", op.count},
              {"dtype", dtype_name(op.dtype)},
              {"peak_dtype", dtype_name(peak_dtype_of(step, op))},
              {"flops", row.flops},
              {"flops_per_rank", row.flops_per_rank},
              {"bytes", row.bytes},
              {"bytes_per_rank", row.bytes_per_rank},
              {"split", split_name(op.split)},
              {"shape_in", op.shape_in},
              {"shape_out", op.shape_out},
              {"bound", row.floor ? Json(limiter_name(row.floor->limiter)) : Json(nullptr)},
              {"lower_bound_us", optional_number(row.lower_bound_us)},
              {"strategy", op.strategy}};
  out.update(share_json(share));
  if (!step.expected.empty()) {
    const Latency& l = step.expected[index];
    out["expected"] = {{"time_each_us", l.ns / 1e3},
                       {"interval_us", {l.low_ns / 1e3, l.high_ns / 1e3}},
                       {"from", expected_from(l)}};
  }
  if (const auto* over = find_value(step.over_fabric, index)) {
    const Latency& l = *over;
    out["fabric"] = {{"id", step.fabric},
                     {"by", l.implementation},
                     {"time_each_us", l.ns / 1e3},
                     {"interval_us", {l.low_ns / 1e3, l.high_ns / 1e3}}};
  }
  if (step.cost) {
    const OperatorTraining& cost = step.cost->operators[index];
    out["flops_forward"] = cost.forward;
    out["flops_backward"] = cost.backward;
    out["flops_recomputed"] = cost.recomputed;
  }
  return out;
}

// null for checkpoints without weights of fewer than 8 bits.
Json weight_format_json(const ModelSpec& spec) {
  const auto& stated = spec.quantization;
  if (!stated || stated->kinds.empty() || dtype_bits(stated->weights) >= 8) return nullptr;
  return {{"name", stated->method},
          {"block", stated->block},
          {"experts", stated->packs(KernelKind::experts)},
          {"attention", stated->packs(KernelKind::qkv)},
          {"feed_forward", stated->packs(KernelKind::ffn)},
          {"activations", stated->quantizes_inputs}};
}

// What the checkpoint states of itself, of any width; null for none.
Json quantization_json(const ModelSpec& spec) {
  const auto& stated = spec.quantization;
  if (!stated) return nullptr;
  const auto name = [](Dtype dtype) { return std::string(dtype_name(dtype)); };
  const Json kinds = json_list(stated->kinds, kernel_kind_name);
  const Json otherwise = json_list(spec.stored_otherwise, [](const StoredOtherwise& one) -> Json {
    return {{"linear", one.linear},
            {"layers", std::ranges::count(one.layers, true)},
            {"method", one.format ? Json(one.format->method) : Json(nullptr)}};
  });
  return {{"method", stated->method},
          {"otherwise", otherwise},
          {"weights", kinds.empty() ? Json(nullptr) : Json(name(stated->weights))},
          {"block", stated->block},
          {"block_rows", stated->block_rows},
          {"scale_bits", stated->scale_bits},
          {"kinds", kinds},
          {"quantizes_inputs", stated->quantizes_inputs},
          {"kv_cache", stated->kv_cache ? Json(name(*stated->kv_cache)) : Json(nullptr)}};
}

// The degree that stored rows leave out where it is 1 is always shown.
Json parallel_json(const OperatorGraph& graph) {
  Json out = graph.configuration.parallel;
  out["cp"] = graph.configuration.parallel.cp;
  return out;
}

Json convention_json(const PricedStep& step) {
  Json out = {{"name", step.convention.name}};
  for (const auto& [name, value] : switches(step.convention)) out[name] = value;
  out["line"] = step.convention.line();
  out["flops_per_step"] = step_flops(step.graph, step.convention, step.training);
  return out;
}

Json memory_json(const TrainingMemory& rank) {
  return {{"weight_bytes", rank.weight_bytes},
          {"gradient_bytes", rank.gradient_bytes},
          {"optimizer_bytes", rank.optimizer_bytes},
          {"activation_bytes", rank.activation_bytes},
          {"working_bytes", rank.working_bytes},
          {"gathered_bytes", rank.gathered_bytes},
          {"total_bytes", rank.total()},
          {"micro_batches_in_flight", rank.in_flight},
          {"trained_params", rank.trained_parameters}};
}

Json percent(std::optional<double> fraction) {
  return optional_number(fraction ? std::optional(100 * *fraction) : std::nullopt);
}

Json measured_json(const PricedStep& step, const StepUtilisation& u) {
  Json out = {{"measured_ms", *step.question.measured_ms},
              {"peak_source", step.question.peak},
              {"peak_flops_per_s", optional_number(u.peak_flops_per_s)},
              {"devices", step.graph.configuration.devices()},
              {"model_pct", percent(u.model)},
              {"executed_pct", percent(u.executed)},
              {"hfu_pct", percent(u.hfu)},
              {"roofline_pct", percent(u.roofline)},
              {"bound_pct", percent(u.bound)},
              {"convention", step.convention.line()}};
  for (const char* figure : {"peak_flops_per_s", "model_pct", "executed_pct", "hfu_pct"}) {
    if (out[figure].is_null()) out[std::string(figure) + "_reason"] = u.reason;
  }
  if (!u.roofline) out["roofline_pct_reason"] = u.roofline_reason;
  if (u.bound && *u.bound > 1) out["status"] = "quarantined: faster_than_roofline";
  return out;
}

}  // namespace

Json summary_json(const PricedStep& step) {
  const OperatorGraph& g = step.graph;
  const Workload& w = g.configuration.workload;
  return {{"model",
           {{"id", g.spec.id},
            {"family", g.spec.family},
            {"source", g.spec.source},
            {"total_params", g.totals.parameters},
            {"active_params", g.totals.active_parameters},
            {"prediction_modules", g.spec.prediction_modules},
            {"prediction_params", prediction_parameters(g.spec)},
            {"weight_format", weight_format_json(g.spec)},
            {"quantization", quantization_json(g.spec)},
            {"fused_qkv", g.spec.fuses_qkv},
            {"assumed", g.spec.assumed},
            {"not_modelled", g.spec.not_modelled},
            {"unconfirmed", g.spec.unconfirmed},
            {"not_read", g.spec.not_read},
            {"note", g.spec.note.empty() ? Json(nullptr) : Json(g.spec.note)}}},
          {"workload", w},
          {"parallel", parallel_json(g)},
          {"precision", g.configuration.precision},
          {"convention", convention_json(step)}};
}

Json operators_json(const PricedStep& step) {
  const StepAnswer answer = answer_of(step);
  Json rows = Json::array();
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    rows.push_back(operator_json(step, i, answer.operators[i]));
  }
  return {{"operators", std::move(rows)}};
}

Json totals_json(const PricedStep& step) {
  const GraphTotals& totals = step.totals();
  const std::int64_t weights = step.is_training() ? largest(step.training_stages).weight_bytes
                                                  : step.memory.largest.weight_bytes;
  return {{"totals",
           {{"matmul_flops", totals.matmul_flops},
            {"flops", totals.flops},
            {"bytes", totals.bytes},
            {"flops_per_rank", totals.flops_per_rank},
            {"matmul_flops_per_rank", totals.matmul_flops_per_rank},
            {"bytes_per_rank", totals.bytes_per_rank},
            {"weight_bytes_per_rank", weights},
            {"kv_bytes_per_token", step.memory.kv_bytes_per_token},
            {"memory_bytes_per_rank", step.memory_bytes()}}}};
}

Json weights_json(const PricedStep& step) {
  if (!step.weights) return Json::object();
  return {{"weights", weights_json(*step.weights, step.graph)}};
}

Json training_json(const PricedStep& step) {
  if (!step.is_training()) return Json::object();
  const TrainingCost& cost = *step.cost;
  const TrainingPlan& plan = *step.training;
  const TrainingMemory& rank = largest(step.training_stages);
  const Json stages = json_list(step.training_stages, memory_json);
  return {{"training",
           {{"recompute", recompute_name(plan.recompute)},
            {"zero", plan.zero},
            {"loss", loss_name(plan.loss)},
            {"memory_kind", "allocated"},
            {"optimizer", optimizer_name(plan.optimizer)},
            {"gradients", dtype_name(plan.gradient)},
            {"lora_rank", plan.lora_rank},
            {"sequence_parallel", plan.sequence_parallel},
            {"predicted_tokens", step.graph.drafted},
            {"prediction_flops", prediction_flops(step)},
            {"adapter_flops", cost.adapters},
            {"micro_batch", step.graph.micro_batch()},
            {"micro_batches", step.graph.micro_batches()},
            {"forward_flops", cost.forward},
            {"backward_flops", cost.backward},
            {"recomputed_flops", cost.recomputed},
            {"hardware_flops", cost.hardware_flops()},
            {"memory", memory_json(rank)},
            {"stages", stages},
            {"gradient_message_bytes", rank.gradient_message_bytes},
            {"gradient_ring_bytes_per_rank", gradient_ring_bytes(step)}}}};
}

Json fit_json(const PricedStep& step) {
  const std::optional<Fit> fit = fit_of(step);
  if (!fit) return Json::object();
  if (!fit->device_bytes) {
    return {{"fit",
             {{"fits", nullptr},
              {"fits_reason", step.device->id + " does not state its memory"},
              {"needed_bytes", fit->needed_bytes},
              {"device_bytes", nullptr},
              {"short_by_bytes", nullptr}}}};
  }
  Json out = {{"fits", fit->short_by_bytes() == 0},
              {"needed_bytes", fit->needed_bytes},
              {"device_bytes", *fit->device_bytes},
              {"short_by_bytes", fit->short_by_bytes()}};
  if (const auto& engine = fit->engine) {
    out["engine"] = {{"name", engine->engine},
                     {"fits", engine->fits()},
                     {"needed_bytes", engine->needed_bytes},
                     {"may_use_bytes", engine->may_use_bytes}};
  }
  if (const auto room = room_of(step)) {
    out["room"] = {{"cache_bytes", room->cache_bytes},
                   {"context", room->context},
                   {"sequences", room->sequences}};
  }
  if (fit->short_by_bytes() > 0 && !step.is_training()) {
    const auto least = least_layout(step);
    out["least_layout"] = least ? Json(*least) : Json(nullptr);
  }
  return {{"fit", out}};
}

Json mfu_json(const PricedStep& step) {
  if (!step.question.measured_ms) return {{"mfu", nullptr}};
  return {{"mfu", measured_json(step, utilisation_of(step))}};
}

Json warnings_json(const PricedStep& step) { return {{"warnings", step.graph.warnings}}; }

Json experts_json(const PricedStep& step) {
  const OperatorGraph& g = step.graph;
  if (!g.spec.moe) return Json::object();
  return {{"experts",
           {{"routed", g.spec.moe->experts},
            {"top_k", g.spec.moe->top_k},
            {"routing_skew", g.configuration.workload.routing_skew},
            {"active", g.expert_use->active},
            {"held_per_rank", g.expert_use->held_per_rank},
            {"active_per_rank", g.expert_use->active_per_rank},
            {"imbalance", g.expert_use->imbalance}}}};
}

// Model FLOPs count the recurrence whatever a kernel does; what a rank executes follows its form.
Json delta_rule_json(const PricedStep& step) {
  if (!step.graph.spec.delta_rule) return Json::object();
  const std::int64_t chunk = step.graph.form.delta_chunk;
  return {{"delta_rule",
           {{"model_flops", "recurrent"},
            {"executed", chunk == 0 ? "recurrent" : "chunked"},
            {"chunk", chunk == 0 ? Json(nullptr) : Json(chunk)}}}};
}

Json speculation_json(const PricedStep& step) {
  const std::optional<SpeculationFigures> s = speculation_of(step);
  if (!s) return Json::object();
  const std::int64_t drafted = step.graph.drafted;
  Json out = {{"drafted", drafted},
              {"modules", step.graph.spec.prediction_modules},
              {"verified_tokens", 1 + drafted},
              {"draft_matmul_flops", s->draft_flops},
              {"verify_matmul_flops", s->verify_flops},
              {"acceptance_rate", optional_number(step.question.acceptance)},
              {"accepted_over_drafted", optional_number(s->accepted_over_drafted)},
              {"expected_tokens_per_step", optional_number(s->tokens_per_step)},
              {"tokens_per_s", optional_number(s->tokens_per_s)}};
  if (s->tokens_per_s_none_accepted) {
    out["tokens_per_s_none_accepted"] = *s->tokens_per_s_none_accepted;
  }
  return {{"speculation", std::move(out)}};
}

}  // namespace halmark
