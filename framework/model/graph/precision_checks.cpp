// Judged kind by kind, so that a refusal names the one that is in the way: a precision is eight
// choices, and a sweep may set each of them.
#include "model/graph/precision_checks.hpp"

#include <string>

#include "model/graph/draft.hpp"

namespace halmark {

namespace {

Refusal dtype_refusal(const KernelKindRow& row, Dtype dtype, const std::string& why) {
  return {"dtype_unsupported",
          std::string(row.name) + " in " + std::string(dtype_name(dtype)) + ": " + why};
}

// Packed weights are those that the checkpoint has; a precision may ask for one format.
std::optional<Refusal> packed_linear(const ModelSpec& spec, const Precision& p,
                                     const KernelKindRow& row) {
  const auto refusal = [&](const std::string& why) {
    return dtype_refusal(row, Dtype::f4_e2m1, "the configuration of " + spec.id + ' ' + why);
  };
  if (!spec.packed) {
    return refusal("states no 4-bit weights: 'quantization_config' would say mxfp4 or nvfp4");
  }
  const bool names_format = p.packed == PackedWeights::mxfp4 || p.packed == PackedWeights::nvfp4;
  if (names_format && p.packed != spec.packed->weights) {
    return refusal("states " + spec.packed->name() + ", not " +
                   std::string(packed_weights_name(p.packed)));
  }
  if (!spec.packed->packs(row.kind)) return refusal("does not pack these linears");
  return std::nullopt;
}

// A linear reads its input in its own type; s8 and f8 have the conversion in the graph.
std::optional<Refusal> linear_precision(const ModelSpec& spec, const Precision& p,
                                        const KernelKindRow& row) {
  if (row.kind == KernelKind::experts && !spec.moe) return std::nullopt;
  const Dtype dtype = p.*row.field;
  if (dtype == Dtype::f4_e2m1) return packed_linear(spec, p, row);
  if (dtype == p.activation || draft::is_quantized(dtype)) return std::nullopt;
  return dtype_refusal(row, dtype,
                       "the activations are " + std::string(dtype_name(p.activation)) +
                           ", and no conversion between them is modelled");
}

// Rotation writes queries in attention's type; where nothing rotates them they are activations.
std::optional<Refusal> attention_precision(const ModelSpec& spec, const Precision& p) {
  if (p.attention == p.activation) return std::nullopt;
  bool is_rotated = true;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
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
