// The verbs of GraphBuilder for packed 4-bit weights, and which linears of a graph have them.
#include <algorithm>
#include <utility>

#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

Dtype GraphBuilder::dtype_of(bool is_packed_here) const {
  const Precision& stated = graph_.configuration.precision;
  return is_packed_here ? stated.linear : stated.activation;
}

// Modules that the checkpoint does not pack stay in the activations' type.
void GraphBuilder::plan_precision() {
  precision_ = graph_.configuration.precision;
  feed_forward_dtype_ = expert_dtype_ = precision_.linear;
  if (!is_packed(precision_)) return;
  const PackedFormat& format = *graph_.spec.packed;
  precision_.linear = dtype_of(format.packs_attention);
  feed_forward_dtype_ = dtype_of(format.packs_feed_forward);
  expert_dtype_ = dtype_of(format.packs_experts);
}

bool GraphBuilder::quantizes_for(Dtype linear) const {
  if (linear == Dtype::f4_e2m1) return graph_.spec.packed->packs_activations;
  return draft::is_quantized(linear);
}

Problem GraphBuilder::quantize_problem(std::int64_t rows, std::int64_t columns,
                                       Dtype linear) const {
  if (linear != Dtype::f4_e2m1) {
    return draft::quantize_problem(rows, columns, precision_.activation, linear);
  }
  return complete_problem({"block_quantize", Params{{"rows", rows},
                                                    {"cols", columns},
                                                    {"block", graph_.spec.packed->block},
                                                    {"src_dtype", number(precision_.activation)},
                                                    {"dst_dtype", number(linear)}}});
}

void GraphBuilder::packed_linear(const LinearSpec& spec) {
  const PackedFormat& format = *graph_.spec.packed;
  auto [whole, local] = draft::problems("packed_gemm", [&](auto side) {
    return Params{
        {"m", spec.rows.*side},
        {"n", spec.columns_out.*side},
        {"k", spec.columns_in.*side},
        {"block", format.block},
        {"src_dtype", number(format.packs_activations ? spec.dtype : precision_.activation)},
        {"dst_dtype", number(precision_.activation)}};
  });
  add({.name = spec.name,
       .kind = spec.kind,
       .split = spec.split,
       .whole = std::move(whole),
       .local = std::move(local),
       .shape_in = shape({spec.rows.whole, spec.columns_in.whole}),
       .shape_out = shape({spec.rows.whole, spec.columns_out.whole}),
       .active_parameters = spec.columns_in.whole * spec.columns_out.whole,
       .bias = spec.has_bias ? spec.columns_out : Extent{},
       .bias_dtype = precision_.activation,
       .scale_bytes = {format.scale_bytes(spec.columns_out.whole, spec.columns_in.whole),
                       format.scale_bytes(spec.columns_out.local, spec.columns_in.local)}});
}

}  // namespace halmark
