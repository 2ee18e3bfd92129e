// What the products with packed 4-bit weights share: values of f4_e2m1, a scale of one byte per
// `block` of them along k. Activations are 16-bit, or packed the same way.
#pragma once

#include "kernels/priced.hpp"

namespace halmark {

inline constexpr std::array<std::int64_t, 3> packed_sources{
    dtype_value(Dtype::bf16), dtype_value(Dtype::f16), dtype_value(Dtype::f4_e2m1)};
inline constexpr ParamSpec packed_block_spec{
    .name = "block", .high = size_max, .meaning = "values along k that share a scale of one byte"};
inline constexpr ParamSpec packed_src_spec{
    .name = "src_dtype", .kind = ParamKind::dtype, .allowed = packed_sources, .meaning = "of src"};

// Scale bytes of `rows` rows of k values.
inline double packed_scale_bytes(double rows, std::int64_t k, std::int64_t block) {
  return rows * static_cast<double>((k + block - 1) / block);
}

// Scale bytes of src: none where it is not packed.
inline double packed_source_scale_bytes(const Params& p, double rows) {
  if (p.dtype("src_dtype") != Dtype::f4_e2m1) return 0;
  return packed_scale_bytes(rows, p.at("k"), p.at("block"));
}

}  // namespace halmark
