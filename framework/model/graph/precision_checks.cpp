// Judged kind by kind, so that a refusal names the one that is in the way: a precision is eight
// choices, and a sweep may set each of them.
#include "model/graph/precision_checks.hpp"

#include <string>

#include "core/lists.hpp"
#include "kernels/kv_cache.hpp"
#include "model/graph/draft.hpp"

namespace halmark {

namespace {

Refusal dtype_refusal(const KernelKindRow& row, Dtype dtype, const std::string& why) {
  return {"dtype_unsupported",
          std::string(row.name) + " in " + std::string(dtype_name(dtype)) + ": " + why};
}

// Packed weights are those that the checkpoint has, or of the format that the precision names.
std::optional<Refusal> packed_linear(const ModelSpec& spec, const Precision& p,
                                     const KernelKindRow& row) {
  const Dtype dtype = p.*row.field;
  const auto refusal = [&](const std::string& why) {
    return dtype_refusal(row, dtype, "the configuration of " + spec.id + ' ' + why);
  };
  const auto format = packed_format(spec, p, dtype);
  if (format) {
    const bool is_kept = !format->kinds.empty() && !names_format(p) && !format->packs(row.kind);
    return is_kept ? std::optional(refusal("does not pack these linears")) : std::nullopt;
  }
  if (names_format(p)) {
    return dtype_refusal(row, dtype,
                         std::string(packed_weights_name(p.packed)) + " has no such weights");
  }
  const auto& stated = spec.quantization;
  if (stated && !stated->kinds.empty() && dtype_bits(stated->weights) < 8) {
    return refusal("states " + stated->method + ", not " + std::string(dtype_name(dtype)));
  }
  return refusal(
      "states no 4-bit weights, and the precision names no format: mxfp4, nvfp4, awq, gptq or "
      "w4a16");
}

// A linear reads its input in its own type; s8 and f8 have the conversion in the graph.
std::optional<Refusal> linear_precision(const ModelSpec& spec, const Precision& p,
                                        const KernelKindRow& row) {
  if (row.kind == KernelKind::experts && !spec.moe) return std::nullopt;
  const Dtype dtype = p.*row.field;
  if (is_packed(p, dtype) && dtype_bits(dtype) < 8) return packed_linear(spec, p, row);
  if (dtype == p.activation || draft::is_quantized(dtype)) return std::nullopt;
  return dtype_refusal(row, dtype,
                       "the activations are " + std::string(dtype_name(p.activation)) +
                           ", and no conversion between them is modelled");
}

// 8-bit products meet keys and values of the same type: the queries alone are converted for them.
std::optional<Refusal> narrow_attention(const Precision& p) {
  if (p.attention == p.kv_cache) return std::nullopt;
  return Refusal{"dtype_unsupported", "attention in " + std::string(dtype_name(p.attention)) +
                                          ": the KV cache is " +
                                          std::string(dtype_name(p.kv_cache)) +
                                          ", and 8-bit products read one of their own type"};
}

// Rotation writes queries in attention's type; where nothing rotates them they are activations.
std::optional<Refusal> attention_precision(const ModelSpec& spec, const Precision& p) {
  if (is_quantized_kv(p.attention)) return narrow_attention(p);
  if (p.attention == p.activation) return std::nullopt;
  bool is_rotated = true;
  for (const std::int64_t layer : below(spec.layers)) {
    const LayerMixer mixer = mixer_of(spec, layer);
    if (mixer.kind != Mixer::attention) continue;
    is_rotated = is_rotated && (spec.latent ? spec.latent->has_rotary : mixer.has_rotary);
  }
  if (is_rotated) return std::nullopt;
  return Refusal{"dtype_unsupported",
                 "attention in " + std::string(dtype_name(p.attention)) + ": " + spec.id +
                     " has layers without rotary embedding, whose queries are " +
                     std::string(dtype_name(p.activation)) + " activations"};
}

}  // namespace

std::optional<Refusal> check_precision(const ModelSpec& spec, const Configuration& configuration) {
  const Precision& p = configuration.precision;
  for (const KernelKindRow& row : kernel_kinds) {
    if (!row.is_linear) continue;
    if (auto refusal = linear_precision(spec, p, row)) return refusal;
  }
  return attention_precision(spec, p);
}

}  // namespace halmark
