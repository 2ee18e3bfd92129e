// The verbs of GraphBuilder for packed weights. Which linears have them the precision says; their
// block and scales are those of the checkpoint, or of the recipe that the precision names.
#include <algorithm>
#include <utility>

#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

// Only what is stored in 4-bit floats has kernels for inputs of the same type.
bool GraphBuilder::packs_activations() const {
  return precision().packed != PackedWeights::weights_only &&
         format_of(Dtype::f4_e2m1).quantizes_inputs;
}

bool GraphBuilder::quantizes_for(Dtype linear) const {
  if (is_packed(precision(), linear)) return linear == Dtype::f4_e2m1 && packs_activations();
  return draft::is_quantized(linear);
}

Quantization GraphBuilder::format_of(Dtype dtype) const {
  return packed_format(graph_.spec, precision(), dtype)
      .value_or(Quantization{.weights = dtype, .scale_bits = 16});
}

// f8 with quantised inputs has the blocks of DeepSeek-V3 unless the checkpoint states others; s8
// has its scales in the dequantize behind it.
Size GraphBuilder::scale_bytes_of(Dtype dtype, const Size& columns_out,
                                  const Size& columns_in) const {
  const auto& stated = graph_.spec.quantization;
  const bool is_stated = stated && stated->weights == dtype;
  if (is_packed(precision(), dtype) || (dtype == Dtype::f8_e4m3fn && is_stated)) {
    return format_of(dtype).scale_bytes(columns_out.constant(), columns_in.constant());
  }
  return dtype == Dtype::f8_e4m3fn ? draft::block_scale_bytes(columns_out, columns_in) : 0;
}

SizedProblem GraphBuilder::quantize_problem(const Size& rows, const Size& columns,
                                            Dtype linear) const {
  if (linear != Dtype::f4_e2m1) {
    return draft::quantize_problem(rows, columns, precision().activation, linear);
  }
  return sized_problem("block_quantize", {{"rows", rows},
                                          {"cols", columns},
                                          {"block", format_of(linear).block},
                                          {"src_dtype", number(precision().activation)},
                                          {"dst_dtype", number(linear)}});
}

void GraphBuilder::set_packed(Sizing& params, Dtype dtype, const Size& columns_in) const {
  const Quantization format = format_of(dtype);
  params.set("block", format.block > 0 ? Size(format.block) : columns_in);
  params.set(
      "src_dtype",
      number(dtype == Dtype::f4_e2m1 && packs_activations() ? dtype : precision().activation));
  params.set("dst_dtype", number(precision().activation));
  params.set("wei_dtype", number(dtype));
  params.set("scale_bits", (format.scale_bits + format.block_rows - 1) / format.block_rows);
}

void GraphBuilder::packed_linear(const LinearSpec& spec) {
  auto [whole, local] = draft::problems("packed_gemm", [&](auto side) {
    Sizing params = {
        {"m", spec.rows.*side}, {"n", spec.columns_out.*side}, {"k", spec.columns_in.*side}};
    set_packed(params, spec.dtype, spec.columns_in.*side);
    return params;
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
       .scale_bytes = {scale_bytes_of(spec.dtype, spec.columns_out.whole, spec.columns_in.whole),
                       scale_bytes_of(spec.dtype, spec.columns_out.local, spec.columns_in.local)},
       .shares_embedding = spec.shares_embedding});
}

}  // namespace halmark
