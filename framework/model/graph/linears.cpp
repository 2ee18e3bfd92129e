// The verbs of GraphBuilder for linear layers and what their inputs are quantised to; packed ones
// are in packed.cpp, those of routed experts in experts.cpp.
#include <utility>

#include "model/graph/draft.hpp"

namespace halmark {

using draft::number;
using draft::shape;

void GraphBuilder::quantize_input(std::string name, Extent rows, Extent columns, Dtype linear,
                                  Split split) {
  const Stored stored = stored_behind(name, linear);
  if (!quantizes_for(stored)) return;
  const auto on = [&](Side side) { return quantize_problem(rows.*side, columns.*side, stored); };
  add({.name = std::move(name),
       .kind = OperatorKind::quantize,
       .split = split,
       .whole = on(&Extent::whole).problem,
       .local = on(&Extent::local),
       .shape_in = shape({rows.whole, columns.whole})});
}

void GraphBuilder::linear(const LinearSpec& asked) {
  const Stored stored = this->stored(asked.name, asked.dtype);
  LinearSpec spec = asked;
  spec.dtype = stored.dtype;
  if (stored.is_packed) return packed_linear(spec, stored);
  const bool is_int8 = spec.dtype == Dtype::s8;
  const std::int64_t dst = number(is_int8 ? Dtype::s32 : precision().activation);
  const std::string dims_in = shape({spec.rows.whole, spec.columns_in.whole});
  const std::string dims_out = shape({spec.rows.whole, spec.columns_out.whole});
  const Extent bias = draft::bias_of(spec);
  const Extent scales = {scale_bytes_of(stored, spec.columns_out.whole, spec.columns_in.whole),
                         scale_bytes_of(stored, spec.columns_out.local, spec.columns_in.local)};
  add({.name = spec.name,
       .kind = spec.kind,
       .split = spec.split,
       .shape_in = dims_in,
       .shape_out = dims_out,
       .active_parameters = (spec.columns_in.whole * spec.columns_out.whole).constant(),
       .bias = bias,
       .bias_dtype = precision().activation,
       .scale_bytes = scales,
       .shares_embedding = spec.shares_embedding},
      "gemm", [&](auto side) {
        return Sizing{{"m", spec.rows.*side},
                      {"n", spec.columns_out.*side},
                      {"k", spec.columns_in.*side},
                      {"src_dtype", number(spec.dtype)},
                      {"wei_dtype", number(spec.dtype)},
                      {"dst_dtype", dst},
                      {"wei_trans", 1}};
      });
  if (!is_int8) return;

  // Partial sums of a row split are dequantized before the all-reduce: the row scales differ.
  const Split split = spec.split == Split::row ? Split::replicated : spec.split;
  add({.name = spec.name + "_dequantize",
       .kind = OperatorKind::quantize,
       .split = split,
       .shape_in = dims_out,
       .shape_out = dims_out,
       .has_parameters = false},
      "dequantize", [&](auto side) {
        return Sizing{{"rows", spec.rows.*side},
                      {"cols", spec.columns_out.*side},
                      {"src_dtype", number(Dtype::s32)},
                      {"dst_dtype", number(precision().activation)}};
      });
}

void GraphBuilder::batched_linear(const BatchedLinearSpec& spec) {
  const std::int64_t weights = spec.columns_in * spec.columns_out;
  const Size scale_bytes = spec.dtype == Dtype::f8_e4m3fn
                               ? draft::block_scale_bytes(spec.columns_out, spec.columns_in)
                               : 0;
  op({.name = spec.name,
      .op = "batched_gemm",
      .kind = OperatorKind::linear,
      .split = spec.split,
      .shape_in = shape({spec.rows.whole, spec.groups.whole, spec.columns_in}),
      .shape_out = shape({spec.rows.whole, spec.groups.whole, spec.columns_out}),
      .active_parameters = (spec.groups.whole * weights).constant(),
      .scale_bytes = spec.groups * scale_bytes},
     [&](Side side) {
       return Sizing{{"groups", spec.groups.*side},
                     {"m", spec.rows.*side},
                     {"n", spec.columns_out},
                     {"k", spec.columns_in},
                     {"src_dtype", number(spec.dtype)},
                     {"wei_dtype", number(spec.dtype)},
                     {"dst_dtype", number(precision().activation)}};
     });
}

}  // namespace halmark
