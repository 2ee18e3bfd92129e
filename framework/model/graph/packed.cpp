// The verbs of GraphBuilder for packed weights. Which linears have them the precision says; their
// block and scales are those of the checkpoint, or of the recipe that the precision names.
#include <algorithm>
#include <map>
#include <utility>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

// What the precision does not take as it is stored says nothing; layers with the same rest are of
// one class.
void GraphBuilder::keep_stored_otherwise() {
  std::vector<StoredOtherwise>& all = graph_.spec.stored_otherwise;
  std::erase_if(all, [&](const StoredOtherwise& one) {
    return !takes_stored(graph_.spec, precision(), one.kind);
  });
  std::map<std::vector<bool>, std::int32_t> classes;
  for (std::int64_t layer = 0; layer < graph_.spec.layers && !all.empty(); ++layer) {
    std::vector<bool> apart;
    for (const StoredOtherwise& one : all) {
      const bool is_head = one.kind == KernelKind::head;
      apart.push_back(!is_head && one.layers[as_size(layer)]);
    }
    const auto next = static_cast<std::int32_t>(classes.size());
    storage_classes_.push_back(classes.try_emplace(std::move(apart), next).first->second);
  }
}

std::int32_t GraphBuilder::storage_class(std::int64_t layer) const {
  return storage_classes_.empty() ? 0 : storage_classes_[as_size(layer)];
}

const StoredOtherwise* GraphBuilder::stored_apart(std::string_view linear) const {
  for (const StoredOtherwise& one : graph_.spec.stored_otherwise) {
    const bool is_head = one.kind == KernelKind::head;
    if (one.linear == linear && (is_head || (layer_ && one.layers[*layer_]))) return &one;
  }
  return nullptr;
}

bool GraphBuilder::stores_alike(std::string_view one, std::string_view other) const {
  const StoredOtherwise* a = stored_apart(one);
  const StoredOtherwise* b = stored_apart(other);
  return a == nullptr || b == nullptr ? a == b : a->format == b->format;
}

GraphBuilder::Stored GraphBuilder::stored(std::string_view linear, Dtype asked) const {
  const StoredOtherwise* apart = stored_apart(linear);
  // One product of q, k and v is chosen, not stored.
  if (apart == nullptr && linear == "qkv_proj") apart = stored_apart("q_proj");
  if (apart == nullptr) return {asked, is_packed(precision(), asked)};
  if (!apart->format) return {precision().activation};
  const Dtype dtype = apart->format->weights;
  return {dtype, dtype_bits(dtype) < 8 || !apart->format->quantizes_inputs, apart->format};
}

GraphBuilder::Stored GraphBuilder::stored_behind(std::string_view quantize, Dtype asked) const {
  const std::string base(quantize.substr(0, quantize.rfind("_quantize")));
  for (const std::string& linear :
       {base + "_proj", base, std::string("q_proj"), std::string("q_a_proj")}) {
    const bool is_other = linear.starts_with("q_") && base != "qkv" && !base.starts_with("q_");
    if (!is_other && stored_apart(linear) != nullptr) return stored(linear, asked);
  }
  return {asked, is_packed(precision(), asked)};
}

// Only what is stored in 4-bit floats has kernels for inputs of the same type.
bool GraphBuilder::packs_activations(const Stored& linear) const {
  if (linear.format) return linear.format->quantizes_inputs;
  return precision().packed != PackedWeights::weights_only && format_of(linear).quantizes_inputs;
}

bool GraphBuilder::quantizes_for(const Stored& linear) const {
  if (linear.is_packed) return linear.dtype == Dtype::f4_e2m1 && packs_activations(linear);
  return draft::is_quantized(linear.dtype);
}

Quantization GraphBuilder::format_of(const Stored& linear) const {
  if (linear.format) return *linear.format;
  return packed_format(graph_.spec, precision(), linear.dtype)
      .value_or(Quantization{.weights = linear.dtype, .scale_bits = 16});
}

// f8 with quantised inputs has the blocks of DeepSeek-V3 unless the checkpoint states others; s8
// has its scales in the dequantize behind it.
Size GraphBuilder::scale_bytes_of(const Stored& linear, const Size& columns_out,
                                  const Size& columns_in) const {
  const auto& stated = graph_.spec.quantization;
  const bool is_stated = linear.format || (stated && stated->weights == linear.dtype);
  const bool is_f8 = linear.dtype == Dtype::f8_e4m3fn;
  if (linear.is_packed || (is_f8 && is_stated)) {
    return format_of(linear).scale_bytes(columns_out.constant(), columns_in.constant());
  }
  return is_f8 ? draft::block_scale_bytes(columns_out, columns_in) : 0;
}

// Of a table of embeddings that the checkpoint quantises too; nothing for others.
Extent GraphBuilder::stored_table_bytes(const Extent& rows, std::int64_t columns) const {
  const auto& stated = graph_.spec.quantization;
  const bool is_taken = stated && stated->packs_embedding && !stated->kinds.empty() &&
                        takes_stored(graph_.spec, precision(), stated->kinds.front());
  if (!is_taken) return {};
  const std::vector<StoredOtherwise>& all = graph_.spec.stored_otherwise;
  // A layer may have a matrix of that name.
  const auto* apart = find_or_null(all, true, [](const StoredOtherwise& one) {
    return one.linear == "embed_tokens" && one.format && !contains(one.layers, true);
  });
  const Quantization& format = !apart ? *stated : *apart->format;
  const auto bytes = [&](const Size& of) {
    const std::int64_t count = of.constant();
    return dtype_bytes(format.weights, count * columns) + format.scale_bytes(count, columns);
  };
  return {bytes(rows.whole), bytes(rows.local)};
}

SizedProblem GraphBuilder::quantize_problem(const Size& rows, const Size& columns,
                                            const Stored& linear) const {
  if (linear.dtype != Dtype::f4_e2m1) {
    return draft::quantize_problem(rows, columns, precision().activation, linear.dtype);
  }
  return sized_problem("block_quantize", {{"rows", rows},
                                          {"cols", columns},
                                          {"block", format_of(linear).block},
                                          {"src_dtype", number(precision().activation)},
                                          {"dst_dtype", number(linear.dtype)}});
}

void GraphBuilder::set_packed(Sizing& params, const Stored& linear, const Size& columns_in) const {
  const Quantization format = format_of(linear);
  const bool is_narrow = linear.dtype == Dtype::f4_e2m1 && packs_activations(linear);
  params.set("block", format.block > 0 ? Size(format.block) : columns_in);
  params.set("src_dtype", number(is_narrow ? linear.dtype : precision().activation));
  params.set("dst_dtype", number(precision().activation));
  params.set("wei_dtype", number(linear.dtype));
  params.set("scale_bits", (format.scale_bits + format.block_rows - 1) / format.block_rows);
}

void GraphBuilder::packed_linear(const LinearSpec& spec, const Stored& linear) {
  add({.name = spec.name,
       .kind = spec.kind,
       .split = spec.split,
       .shape_in = shape({spec.rows.whole, spec.columns_in.whole}),
       .shape_out = shape({spec.rows.whole, spec.columns_out.whole}),
       .active_parameters = (spec.columns_in.whole * spec.columns_out.whole).constant(),
       .bias = draft::bias_of(spec),
       .bias_dtype = precision().activation,
       .scale_bytes = {scale_bytes_of(linear, spec.columns_out.whole, spec.columns_in.whole),
                       scale_bytes_of(linear, spec.columns_out.local, spec.columns_in.local)},
       .shares_embedding = spec.shares_embedding},
      "packed_gemm", [&](auto side) {
        Sizing params = {
            {"m", spec.rows.*side}, {"n", spec.columns_out.*side}, {"k", spec.columns_in.*side}};
        set_packed(params, linear, spec.columns_in.*side);
        return params;
      });
}

}  // namespace halmark
