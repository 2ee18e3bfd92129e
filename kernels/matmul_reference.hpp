// Reference of listed elements of a product in f64: what gemm and grouped_gemm share.
#pragma once

#include "kernels/rows.hpp"

namespace halmark {

// dst[m,n] = src[m,k] wei[k,n] somewhere inside two operands; wei is stored [n,k] when transposed.
struct MatmulBlock {
  std::size_t src = 0, wei = 1;                 // operand indices
  std::int64_t src_offset = 0, wei_offset = 0;  // first element of the block
  std::int64_t n = 0, k = 0;
  bool transposed = false;
  Dtype src_dtype = Dtype::f32, dst_dtype = Dtype::f32;
};

// `elements` are flat in [m, n] of the block. |out - ref| <= u_dst |ref| + 4 sqrt(k) u_f32
// (|src||wei|)_ij: products are exact in f32 for 8 and 16 bit sources, sums round like a random
// walk, those of 8-bit floats in fewer bits. Integer results are exact.
void matmul_reference(const InputReader& inputs, int rank, const MatmulBlock& block,
                      std::span<const std::int64_t> elements, std::span<Expected> out);

// Input scales of matmuls. s8 activations fill their 8 bits (3.5 sigma = 112). Weights keep to 7
// bits (4.2 sigma = 64), the range libraries document for CPUs without VNNI: there two full-range
// products saturate the 16-bit sum of a pair, so 8-bit weights are wrong on such machines with
// every library.
inline double matmul_source_scale(Dtype dtype) { return dtype == Dtype::s8 ? 32 : 1; }
inline double matmul_weight_scale(Dtype dtype) { return dtype == Dtype::s8 ? 15 : 1; }

inline constexpr std::array<std::int64_t, 4> matmul_result_dtypes{
    dtype_value(Dtype::f32), dtype_value(Dtype::bf16), dtype_value(Dtype::f16),
    dtype_value(Dtype::s32)};
// Why the types of src, wei and dst are no product's; nothing when they are one's.
std::optional<std::string> matmul_types_fault(const Params& p);

// What `source` products may be stored as, of `dtypes`: s32 of s8, f32 and their own type of
// floats.
std::vector<Dtype> matmul_results(Dtype source, std::span<const Dtype> dtypes);

}  // namespace halmark
