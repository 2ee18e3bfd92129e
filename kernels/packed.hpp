// What the products with packed weights share: values of 4 bits (mxfp4, nvfp4, AWQ, GPTQ), of 2, or
// of 8 beside wider inputs, with a scale per `block` of them along k. Activations are 16-bit, or
// packed the same way.
#pragma once

#include "kernels/priced.hpp"

namespace halmark {

inline constexpr std::array<std::int64_t, 4> packed_sources{
    dtype_value(Dtype::bf16), dtype_value(Dtype::f16), dtype_value(Dtype::f32),
    dtype_value(Dtype::f4_e2m1)};
inline constexpr std::array<std::int64_t, 5> packed_weights{
    dtype_value(Dtype::f4_e2m1), dtype_value(Dtype::s4), dtype_value(Dtype::s2),
    dtype_value(Dtype::s8), dtype_value(Dtype::f8_e4m3fn)};
inline constexpr ParamSpec packed_block_spec{
    .name = "block", .high = size_max, .meaning = "values along k that share a scale"};
inline constexpr ParamSpec packed_src_spec{
    .name = "src_dtype", .kind = ParamKind::dtype, .allowed = packed_sources, .meaning = "of src"};
inline constexpr ParamSpec packed_wei_spec{.name = "wei_dtype",
                                           .kind = ParamKind::dtype,
                                           .fallback = dtype_value(Dtype::f4_e2m1),
                                           .allowed = packed_weights,
                                           .meaning = "of wei"};
inline constexpr ParamSpec packed_scale_spec{.name = "scale_bits",
                                             .low = 0,
                                             .high = 64,
                                             .fallback = 8,
                                             .meaning = "of a block: its scale and zero point"};

// Scale bytes of `rows` rows of k values.
inline double packed_scale_bytes(double rows, std::int64_t k, std::int64_t block,
                                 std::int64_t bits) {
  return rows * static_cast<double>((k + block - 1) / block * bits) / 8;
}
inline double packed_weight_scale_bytes(const Params& p, double rows) {
  return packed_scale_bytes(rows, p.at("k"), p.at("block"), p.at("scale_bits"));
}

// Scale bytes of src: none where it is not packed.
inline double packed_source_scale_bytes(const Params& p, double rows) {
  if (p.dtype("src_dtype") != Dtype::f4_e2m1) return 0;
  return packed_scale_bytes(rows, p.at("k"), p.at("block"), 8);
}

// 4-bit floats are multiplied as such where a device can, whatever the inputs are stored in.
// Weights of other types are widened to the type of the inputs: no device multiplies the pair.
inline Dtype packed_compute_dtype(const Params& p) {
  return p.dtype("wei_dtype") == Dtype::f4_e2m1 ? Dtype::f4_e2m1 : p.dtype("src_dtype");
}

}  // namespace halmark
