// Which configurations of a model are possible, and why the others are not.
#include <array>
#include <utility>

#include "model/graph/context_split.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/graph/precision_checks.hpp"

namespace halmark {

namespace {

using Check = std::optional<Refusal> (*)(const ModelSpec&, const Configuration&);

std::string text(std::string_view what, std::int64_t value) {
  return std::string(what) + ' ' + std::to_string(value);
}

std::optional<Refusal> positive_inputs(const ModelSpec&, const Configuration& configuration) {
  const Workload& w = configuration.workload;
  const Parallel& p = configuration.parallel;
  const std::array<std::pair<std::string_view, std::int64_t>, 8> inputs = {
      {{"batch", w.batch},
       {"new_tokens", w.new_tokens},
       {"context", w.context},
       {"dp", p.dp},
       {"tp", p.tp},
       {"pp", p.pp},
       {"ep", p.ep},
       {"cp", p.cp}}};
  for (const auto& [name, value] : inputs) {
    if (value < 1) return Refusal{"nonpositive_input", text(name, value) + " is below 1"};
  }
  if (w.cached() < 0) {
    return Refusal{"nonpositive_input",
                   text("context", w.context) + " is below " + text("new_tokens", w.new_tokens)};
  }
  if (w.phase == Phase::decode && w.new_tokens != 1) {
    return Refusal{"nonpositive_input", text("decode takes new_tokens 1, found", w.new_tokens)};
  }
  if (w.micro_batch < 0) {
    return Refusal{"nonpositive_input", text("micro_batch", w.micro_batch) + " is below 1"};
  }
  return std::nullopt;
}

// No gradient flows into keys that another step computed.
std::optional<Refusal> training_inputs(const ModelSpec&, const Configuration& configuration) {
  const Workload& w = configuration.workload;
  if (w.phase == Phase::training) {
    if (w.cached() == 0) return std::nullopt;
    return Refusal{"training_with_cache", text("context", w.context) + " exceeds " +
                                              text("new_tokens", w.new_tokens) +
                                              ": training has no cached tokens"};
  }
  if (w.micro_batch == 0) return std::nullopt;
  return Refusal{"micro_batch_without_training",
                 text("micro_batch", w.micro_batch) + " is stated for " +
                     std::string(phase_name(w.phase)) + ": only training takes one"};
}

// Tokens that see those behind them have no cache to decode from.
std::optional<Refusal> decode_inputs(const ModelSpec& spec, const Configuration& configuration) {
  if (spec.is_causal || configuration.workload.phase != Phase::decode) return std::nullopt;
  return Refusal{"decode_without_cache",
                 "every token of " + spec.id +
                     " sees all others, so no step decodes: --phase prefill is a pass over all"};
}

std::optional<Refusal> bounded_inputs(const ModelSpec&, const Configuration& configuration) {
  constexpr std::int64_t tokens_max = std::int64_t{1} << 31;
  const Workload& w = configuration.workload;
  if (w.batch > tokens_max || w.context > tokens_max || w.new_tokens > tokens_max / w.batch) {
    return Refusal{"workload_too_large", text("batch", w.batch) + " of " +
                                             text("new_tokens", w.new_tokens) + " exceeds " +
                                             std::to_string(tokens_max) + " tokens"};
  }
  return std::nullopt;
}

std::optional<Refusal> bounded_devices(const ModelSpec&, const Configuration& configuration) {
  constexpr std::int64_t devices_max = std::int64_t{1} << 20;
  const Parallel& p = configuration.parallel;
  std::int64_t devices = 1;
  for (const int degree : {p.dp, p.tp, p.pp, p.cp}) {
    if (degree > devices_max / devices) {
      return Refusal{"too_many_devices",
                     p.text() + " exceeds " + std::to_string(devices_max) + " devices"};
    }
    devices *= degree;
  }
  return std::nullopt;
}

std::optional<Refusal> check_heads(std::string_view what, std::int64_t heads, int tp) {
  if (heads % tp == 0) return std::nullopt;
  return Refusal{"tp_does_not_divide_heads", text("tp", tp) + " does not divide " +
                                                 std::to_string(heads) + " " + std::string(what)};
}

// Shared by heads of queries: split as far as they go, replicated beyond.
std::optional<Refusal> check_shared(std::string_view what, std::int64_t heads, int tp) {
  if (heads == 0) return std::nullopt;  // no attention anywhere
  const bool splits = tp <= heads ? heads % tp == 0 : tp % heads == 0;
  if (splits) return std::nullopt;
  return Refusal{"tp_kv_mismatch", text("tp", tp) + " and " + std::to_string(heads) + " " +
                                       std::string(what) + ": neither divides the other"};
}

std::optional<Refusal> heads(const ModelSpec& spec, const Configuration& configuration) {
  const int tp = configuration.parallel.tp;
  if (auto refusal = check_heads("query heads", spec.heads, tp)) return refusal;
  for (const LayerMixer& mixer : spec.mixers) {
    if (mixer.kind != Mixer::attention) continue;
    if (auto refusal = check_heads("query heads", mixer.heads, tp)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> latent_splits(const ModelSpec& spec, const Configuration& configuration) {
  const int tp = configuration.parallel.tp;
  if (!spec.compressed) return std::nullopt;
  if (spec.compressed->output_groups % tp != 0) {
    return Refusal{"o_groups_not_divisible", text("tp", tp) + " does not divide " +
                                                 text("o_groups", spec.compressed->output_groups)};
  }
  if (spec.indexer->heads % tp != 0) {
    return Refusal{"tp_does_not_divide_heads", text("tp", tp) + " does not divide " +
                                                   std::to_string(spec.indexer->heads) +
                                                   " index heads"};
  }
  return std::nullopt;
}

std::optional<Refusal> kv_heads(const ModelSpec& spec, const Configuration& configuration) {
  const int tp = configuration.parallel.tp;
  if (auto refusal = check_shared("KV heads", spec.kv_heads, tp)) return refusal;
  for (const LayerMixer& mixer : spec.mixers) {
    if (mixer.kind != Mixer::attention) continue;
    if (auto refusal = check_shared("KV heads", mixer.kv_heads, tp)) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> recurrent_heads(const ModelSpec& spec, const Configuration& configuration) {
  const int tp = configuration.parallel.tp;
  if (const auto& delta = spec.delta_rule) {
    if (auto refusal = check_heads("key heads", delta->key_heads, tp)) return refusal;
    if (auto refusal = check_heads("value heads", delta->value_heads, tp)) return refusal;
  }
  if (const auto& ssm = spec.state_space) {
    if (auto refusal = check_heads("Mamba heads", ssm->heads, tp)) return refusal;
    if (auto refusal = check_shared("Mamba groups", ssm->groups, tp)) return refusal;
  }
  if (spec.convolution) {
    if (auto refusal = check_heads("convolved channels", spec.hidden, tp)) return refusal;
  }
  if (const auto& scan = spec.selective_scan) {
    if (auto refusal = check_heads("Mamba channels", scan->channels, tp)) return refusal;
  }
  return std::nullopt;
}

Refusal width_refusal(std::string_view what, std::int64_t width, std::string_view degree, int by) {
  return {"tp_does_not_divide_ffn", text(degree, by) + " does not divide " + text(what, width)};
}

std::optional<Refusal> ffn(const ModelSpec& spec, const Configuration& configuration) {
  const int tp = configuration.parallel.tp;
  if (spec.intermediate % tp != 0) {
    return width_refusal("the FFN width", spec.intermediate, "tp", tp);
  }
  for (const std::int64_t width : spec.ffn_widths) {
    if (width % tp != 0) return width_refusal("the FFN width", width, "tp", tp);
  }
  if (spec.moe && spec.moe->shared_width % tp != 0) {
    return width_refusal("the width of the shared experts,", spec.moe->shared_width, "tp", tp);
  }
  return std::nullopt;
}

std::optional<Refusal> experts(const ModelSpec& spec, const Configuration& configuration) {
  const Parallel& p = configuration.parallel;
  const std::int64_t experts = spec.moe ? spec.moe->experts : 0;
  if (p.ep > 1 && (experts == 0 || experts % p.ep != 0)) {
    return Refusal{"ep_does_not_divide_experts",
                   experts == 0 ? text("ep", p.ep) + ", but the model has 0 experts"
                                : text("ep", p.ep) + " does not divide " + std::to_string(experts) +
                                      " experts"};
  }
  if (std::int64_t{p.tp} * p.dp % p.ep != 0) {
    return Refusal{"ep_exceeds_group", text("ep", p.ep) + " does not divide the " +
                                           std::to_string(std::int64_t{p.tp} * p.dp) +
                                           " ranks of tp " + std::to_string(p.tp) + " x dp " +
                                           std::to_string(p.dp)};
  }
  const int of_width = expert_layout(p).width;
  if (spec.moe && spec.moe->width % of_width != 0) {
    return width_refusal("the expert width", spec.moe->width, "expert tp", of_width);
  }
  return std::nullopt;
}

std::optional<Refusal> skew(const ModelSpec& spec, const Configuration& configuration) {
  const std::int64_t percent = configuration.workload.routing_skew;
  if (percent < 0 || percent > routing_skew_max) {
    return Refusal{"routing_skew_out_of_range", text("routing skew", percent) + " is not in 0.." +
                                                    std::to_string(routing_skew_max) + " percent"};
  }
  if (percent != 0 && !spec.moe) {
    return Refusal{"routing_skew_without_experts",
                   text("routing skew", percent) + ", but the model has 0 experts"};
  }
  return std::nullopt;
}

std::optional<Refusal> imbalance(const ModelSpec& spec, const Configuration& configuration) {
  const Workload& w = configuration.workload;
  const std::int64_t ppm = w.expert_imbalance_ppm;
  if (ppm == Workload::balanced_ppm) return std::nullopt;
  if (!spec.moe) {
    return Refusal{"expert_imbalance_without_experts",
                   "an expert imbalance is stated, but the model has 0 experts"};
  }
  if (w.routing_skew != 0) {
    return Refusal{"expert_imbalance_with_skew",
                   "an expert imbalance and " + text("routing skew", w.routing_skew) +
                       " both state the load of the slowest rank; give one"};
  }
  const std::int64_t most = Workload::balanced_ppm * configuration.parallel.ep;
  if (ppm == Workload::uniform_ppm || (ppm >= Workload::balanced_ppm && ppm <= most)) {
    return std::nullopt;
  }
  return Refusal{"expert_imbalance_out_of_range",
                 text("expert imbalance", ppm) + " is not in 1000000.." + std::to_string(most) +
                     " millionths: the slowest of " + text("ep", configuration.parallel.ep) +
                     " ranks has at least the mean and at most all rows"};
}

std::optional<Refusal> pipeline(const ModelSpec& spec, const Configuration& configuration) {
  const int pp = configuration.parallel.pp;
  if (pp <= spec.layers) return std::nullopt;
  return Refusal{"pp_exceeds_layers",
                 text("pp", pp) + " exceeds " + std::to_string(spec.layers) + " layers"};
}

std::optional<Refusal> stated_stages(const ModelSpec& spec, const Configuration& configuration) {
  const Parallel& p = configuration.parallel;
  if (p.stages.empty()) return std::nullopt;
  const auto stated = std::ssize(p.stages);
  if (stated != p.pp) {
    return Refusal{"stages_do_not_match_pp",
                   text("the layers of", stated) + " stages are stated for " + text("pp", p.pp)};
  }
  std::int64_t layers = 0;
  for (const int of_stage : p.stages) {
    if (of_stage < 1) return Refusal{"empty_stage", text("a stage of", of_stage) + " layers"};
    layers += of_stage;
  }
  if (layers == spec.layers) return std::nullopt;
  return Refusal{
      "stages_do_not_match_layers",
      text("stages of", layers) + " layers in all for a model of " + std::to_string(spec.layers)};
}

// One graph has one split of its layers.
std::optional<Refusal> one_strategy(const ModelSpec&, const Configuration& configuration) {
  if (configuration.groups.empty()) return std::nullopt;
  return Refusal{"layer_groups_not_executable",
                 "a strategy per group of layers is priced by halmark simulate plan, and not "
                 "executable here"};
}

std::optional<Refusal> batch_split(const ModelSpec&, const Configuration& configuration) {
  const std::int64_t batch = configuration.workload.batch;
  const Parallel& p = configuration.parallel;
  if (batch % p.dp != 0) {
    return Refusal{"dp_does_not_divide_batch",
                   text("dp", p.dp) + " does not divide " + text("batch", batch)};
  }
  if (const std::int64_t micro = configuration.workload.micro_batch; micro != 0) {
    if (batch / p.dp % micro == 0) return std::nullopt;
    return Refusal{"micro_batch_does_not_divide_batch",
                   text("micro_batch", micro) + " does not divide " +
                       text("the batch of one replica,", batch / p.dp)};
  }
  // Fewer sequences than stages: one after the other, and stages stand idle.
  if (batch / p.dp > p.pp && batch / p.dp % p.pp != 0) {
    return Refusal{"pp_does_not_divide_batch", text("pp", p.pp) + " does not divide " +
                                                   text("the batch of one replica,", batch / p.dp)};
  }
  return std::nullopt;
}

std::optional<Refusal> context(const ModelSpec& spec, const Configuration& configuration) {
  return check_context(spec, configuration.workload.context);
}

// In the order in which a reader would want to hear them.
constexpr Check checks[] = {positive_inputs, decode_inputs, training_inputs, bounded_inputs,
                            bounded_devices, heads,         latent_splits,   kv_heads,
                            recurrent_heads, ffn,           experts,         skew,
                            imbalance,       pipeline,      stated_stages,   one_strategy,
                            batch_split,     context,       check_precision, check_context_split};

}  // namespace

std::optional<Refusal> check_context(const ModelSpec& spec, std::int64_t context) {
  if (context <= spec.max_position.value_or(context)) return std::nullopt;
  return Refusal{"context_exceeds_model", text("context", context) + " exceeds " +
                                              text("max_position_embeddings", *spec.max_position)};
}

std::optional<Refusal> check_configuration(const ModelSpec& spec,
                                           const Configuration& configuration) {
  for (const Check check : checks) {
    if (auto refusal = check(spec, configuration)) return refusal;
  }
  return std::nullopt;
}

}  // namespace halmark
