// The verbs of GraphBuilder for packed 4-bit weights. Which linears have them the precision says;
// their block and scales are those of the checkpoint.
#include <algorithm>
#include <utility>

#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

bool GraphBuilder::packs_activations() const {
  return precision().packed != PackedWeights::weights_only && graph_.spec.packed->packs_activations;
}

bool GraphBuilder::quantizes_for(Dtype linear) const {
  return linear == Dtype::f4_e2m1 ? packs_activations() : draft::is_quantized(linear);
}

SizedProblem GraphBuilder::quantize_problem(const Size& rows, const Size& columns,
                                            Dtype linear) const {
  if (linear != Dtype::f4_e2m1) {
    return draft::quantize_problem(rows, columns, precision().activation, linear);
  }
  return sized_problem("block_quantize", {{"rows", rows},
                                          {"cols", columns},
                                          {"block", graph_.spec.packed->block},
                                          {"src_dtype", number(precision().activation)},
                                          {"dst_dtype", number(linear)}});
}

void GraphBuilder::packed_linear(const LinearSpec& spec) {
  const PackedFormat& format = *graph_.spec.packed;
  auto [whole, local] = draft::problems("packed_gemm", [&](auto side) {
    return Sizing{{"m", spec.rows.*side},
                  {"n", spec.columns_out.*side},
                  {"k", spec.columns_in.*side},
                  {"block", format.block},
                  {"src_dtype", number(packs_activations() ? spec.dtype : precision().activation)},
                  {"dst_dtype", number(precision().activation)}};
  });
  add({.name = spec.name,
       .kind = spec.kind,
       .split = spec.split,
       .whole = std::move(whole),
       .local = std::move(local),
       .shape_in = shape({spec.rows.whole, spec.columns_in.whole}),
       .shape_out = shape({spec.rows.whole, spec.columns_out.whole}),
       .active_parameters = (spec.columns_in.whole * spec.columns_out.whole).constant(),
       .bias = spec.has_bias ? spec.columns_out : Extent{},
       .bias_dtype = precision().activation,
       .scale_bytes = {
           format.scale_bytes(spec.columns_out.whole.constant(), spec.columns_in.whole.constant()),
           format.scale_bytes(spec.columns_out.local.constant(),
                              spec.columns_in.local.constant())}});
}

}  // namespace halmark
