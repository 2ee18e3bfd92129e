// Tensor-core products of 16x8x16 with f32 sums, and what feeds them: pairs of 16-bit values, tiles
// in shared memory, asynchronous copies. Only for sm_80 and later; elsewhere the bodies are empty
// and the host refuses the kernels.
//
// Fragments (PTX, "mma.m16n8k16"), with g = lane / 4 and t = lane % 4:
//   a[0..3]: rows g, g+8, g, g+8; columns 2t, 2t+1 (first two), 2t+8, 2t+9 (last two)
//   b[0..1]: rows 2t, 2t+1 and 2t+8, 2t+9; column g
//   c[0..3]: row g columns 2t, 2t+1; row g+8 columns 2t, 2t+1
#pragma once

#include "elements.hpp"

namespace hm_cuda {

// Two neighbours in one register, the first in the low half.
template <class T>
GPU_DEVICE std::uint32_t packed(float first, float second) {
  const T low = from_float<T>(first), high = from_float<T>(second);
  return static_cast<std::uint32_t>(high.bits) << 16 | low.bits;
}
#if HM_CUDA_MMA
template <>
GPU_DEVICE std::uint32_t packed<bf16>(float first, float second) {
  std::uint32_t out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
template <>
GPU_DEVICE std::uint32_t packed<f16>(float first, float second) {
  std::uint32_t out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
#endif

// c += a b
template <class T>
GPU_DEVICE void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                             std::uint32_t b1);
template <>
GPU_DEVICE void multiply_add<bf16>(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                   std::uint32_t b1) {
#if HM_CUDA_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}
template <>
GPU_DEVICE void multiply_add<f16>(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                  std::uint32_t b1) {
#if HM_CUDA_MMA
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// Four 8x8 matrices of 16-bit values from shared memory; lane l gives the address of row l % 8 of
// matrix l / 8.
GPU_DEVICE void load_matrices(std::uint32_t (&out)[4], const void* row) {
#if HM_CUDA_MMA
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
#endif
}
GPU_DEVICE void load_matrices_turned(std::uint32_t (&out)[4], const void* row) {
#if HM_CUDA_MMA
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(address)
               : "memory");
#endif
}

// 16 bytes into shared memory, zeros where not `is_there`; `from` is a valid address either way.
GPU_DEVICE void copy_async(void* to, const void* from, bool is_there) {
#if HM_CUDA_MMA
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = is_there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes)
               : "memory");
#endif
}
GPU_DEVICE void commit_copies() {
#if HM_CUDA_MMA
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Until at most `pending` committed groups are under way.
template <int pending>
GPU_DEVICE void wait_for_copies() {
#if HM_CUDA_MMA
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

// 2^x with a relative error of 2 units in the last place.
GPU_DEVICE float exp2_fast(float x) {
#if defined(__CUDA_ARCH__)
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
#else
  return exp2f(x);
#endif
}

// A tile of 16-bit values in shared memory, rows of Columns values (a multiple of 64) in chunks of
// 16 bytes. The chunks of eight neighbouring rows are permuted so that reading one column of chunks
// meets every bank once.
template <class T, int Columns>
GPU_DEVICE T* chunk_at(T* tile, int row, int chunk) {
  return tile + row * Columns + (chunk ^ (row & 7)) * 8;
}

}  // namespace hm_cuda
