// Hopper's products of a warpgroup (four warps, sm_90a): 64 rows of a from shared memory or
// registers times b from shared memory, summed in registers while the warps go on.
//
// Tiles lie in rows of 128 bytes, eight rows to an atom of 1024 bytes whose chunks of 16 bytes are
// permuted (chunk ^ row % 8); atoms begin at multiples of 1024 bytes. Fragments of sums are those
// of mma.cuh: sum n of a warp's 16 rows has columns 8 n .. 8 n + 7.
#pragma once

#include "elements.hpp"

namespace hm_cuda {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HM_CUDA_WGMMA 1
#else
#define HM_CUDA_WGMMA 0
#endif

constexpr int warpgroup_threads = 128, atom_bytes = 1024;

// A matrix descriptor (PTX, "matrix-descriptor"): address, distance of atoms and the swizzle of 128
// bytes, distances in units of 16 bytes. Along depth a tile is one atom wide; depth goes on within
// it by moving the address.
GPU_DEVICE std::uint64_t tile_descriptor(const void* tile) {
#if HM_CUDA_WGMMA
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62, one = std::uint64_t{1} << 16;
  constexpr std::uint64_t atoms_apart = std::uint64_t{atom_bytes / 16} << 32;
  return (address & 0x3ffffu) >> 4 | one | atoms_apart | swizzle_128;
#else
  return 0;
#endif
}

// The same of values, [keys, columns] with 64 columns to an atom's row, where keys are the depth:
// the next 64 columns lie `panel_bytes` on, the next eight keys one atom.
GPU_DEVICE std::uint64_t value_descriptor(const void* tile, int panel_bytes) {
#if HM_CUDA_WGMMA
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  constexpr std::uint64_t swizzle_128 = std::uint64_t{1} << 62;
  constexpr std::uint64_t atoms_apart = std::uint64_t{atom_bytes / 16} << 32;
  return (address & 0x3ffffu) >> 4 | static_cast<std::uint64_t>(panel_bytes / 16) << 16 |
         atoms_apart | swizzle_128;
#else
  return 0;
#endif
}

// Where the first atom of a block's shared memory can begin; one atom more is asked for.
GPU_DEVICE unsigned char* first_atom(unsigned char* shared) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  return shared + (atom_bytes - address % atom_bytes) % atom_bytes;
}

// Registers and shared memory that products are about to use are as the warps left them.
GPU_DEVICE void begin_products() {
#if HM_CUDA_WGMMA
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
GPU_DEVICE void commit_products() {
#if HM_CUDA_WGMMA
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Until at most `pending` committed groups are under way.
template <int pending>
GPU_DEVICE void wait_for_products() {
#if HM_CUDA_WGMMA
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#endif
}
// The compiler takes sums for made where a product was started: here it may neither have read them
// yet nor write them later.
template <int N>
GPU_DEVICE void settle(float (&d)[N][4]) {
#if HM_CUDA_WGMMA
#pragma unroll
  for (int i = 0; i < N; ++i) {
#pragma unroll
    for (int c = 0; c < 4; ++c) asm volatile("" : "+f"(d[i][c])::"memory");
  }
#endif
}

// Of the registers that a block was started with, a warpgroup that needs few leaves the rest to the
// others.
template <int count>
GPU_DEVICE void leave_registers() {
#if HM_CUDA_WGMMA
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
template <int count>
GPU_DEVICE void take_registers() {
#if HM_CUDA_WGMMA
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}

// What this thread has written to shared memory (copies that have arrived too) is seen by products.
GPU_DEVICE void show_to_products() {
#if HM_CUDA_WGMMA
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#if HM_CUDA_WGMMA
// Operands of the instructions: sums of 8 columns by two fragments, of 64 columns, of 128.
#define HM_SUMS_16(d, i)                                                         \
  "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3]), "+f"(d[i + 1][0]), \
      "+f"(d[i + 1][1]), "+f"(d[i + 1][2]), "+f"(d[i + 1][3])
#define HM_SUMS_64(d, i) \
  HM_SUMS_16(d, i), HM_SUMS_16(d, i + 2), HM_SUMS_16(d, i + 4), HM_SUMS_16(d, i + 6)
#define HM_SUMS_128(d) HM_SUMS_64(d, 0), HM_SUMS_64(d, 8)
#define HM_NEW_SUMS_16(d, i)                                                     \
  "=f"(d[i][0]), "=f"(d[i][1]), "=f"(d[i][2]), "=f"(d[i][3]), "=f"(d[i + 1][0]), \
      "=f"(d[i + 1][1]), "=f"(d[i + 1][2]), "=f"(d[i + 1][3])
#define HM_NEW_SUMS_64(d, i) \
  HM_NEW_SUMS_16(d, i), HM_NEW_SUMS_16(d, i + 2), HM_NEW_SUMS_16(d, i + 4), HM_NEW_SUMS_16(d, i + 6)
#define HM_NEW_SUMS_128(d) HM_NEW_SUMS_64(d, 0), HM_NEW_SUMS_64(d, 8)
#define HM_NAMES_64                                                                        \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23," \
  "%24,%25,%26,%27,%28,%29,%30,%31"
#define HM_NAMES_128                                                                         \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,"   \
  "%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45," \
  "%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
// d += a b, or d = a b with `adds` "0"; the tail names a, b and what is turned.
#define HM_WGMMA(shape, types, names, adds, tail)         \
  "{.reg .pred adds; .reg .b32 flag; mov.b32 flag, " adds \
  "; setp.ne.b32 adds, flag, 0;"                          \
  " wgmma.mma_async.sync.aligned." shape ".f32." types " {" names "}, " tail "}"
#define HM_PRODUCT_N128(type, types)                                                             \
  template <>                                                                                    \
  GPU_DEVICE void product_n128<type>(float(&d)[16][4], std::uint64_t a, std::uint64_t b) {       \
    asm volatile(HM_WGMMA("m64n128k16", types, HM_NAMES_128, "1", "%64, %65, adds, 1, 1, 0, 0;") \
                 : HM_SUMS_128(d)                                                                \
                 : "l"(a), "l"(b));                                                              \
  }
#define HM_PRODUCT_OF_ROWS(name, type, types, adds, sums)                                     \
  template <>                                                                                 \
  GPU_DEVICE void name<type>(float(&d)[16][4], const std::uint32_t(&a)[4], std::uint64_t b) { \
    asm volatile(HM_WGMMA("m64n128k16", types, HM_NAMES_128, adds,                            \
                          "{%64,%65,%66,%67}, %68, adds, 1, 1, 0;")                           \
                 : sums(d)                                                                    \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                       \
  }
#define HM_PRODUCT_OF_VALUES(type, types)                                                          \
  template <>                                                                                      \
  GPU_DEVICE void product_of_values<type>(float(&d)[16][4], const std::uint32_t(&a)[4],            \
                                          std::uint64_t b) {                                       \
    asm volatile(                                                                                  \
        HM_WGMMA("m64n128k16", types, HM_NAMES_128, "1", "{%64,%65,%66,%67}, %68, adds, 1, 1, 1;") \
        : HM_SUMS_128(d)                                                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                     \
  }                                                                                                \
  template <>                                                                                      \
  GPU_DEVICE void product_of_values<type>(float(&d)[8][4], const std::uint32_t(&a)[4],             \
                                          std::uint64_t b) {                                       \
    asm volatile(                                                                                  \
        HM_WGMMA("m64n64k16", types, HM_NAMES_64, "1", "{%32,%33,%34,%35}, %36, adds, 1, 1, 1;")   \
        : HM_SUMS_64(d, 0)                                                                         \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                     \
  }
#else
#define HM_PRODUCT_N128(type, types)
#define HM_PRODUCT_OF_ROWS(name, type, types, adds, sums)
#define HM_PRODUCT_OF_VALUES(type, types)
#endif

// d += a b^T over 16 values of depth: a has 64 rows, b 128, both by tile_descriptor.
template <class T>
GPU_DEVICE void product_n128(float (&d)[16][4], std::uint64_t a, std::uint64_t b);
HM_PRODUCT_N128(bf16, "bf16.bf16")
HM_PRODUCT_N128(f16, "f16.f16")

// The same, or d = a b^T, with a from registers, as fragments of mma.cuh.
template <class T>
GPU_DEVICE void product_of_rows(float (&d)[16][4], const std::uint32_t (&a)[4], std::uint64_t b);
template <class T>
GPU_DEVICE void new_product_of_rows(float (&d)[16][4], const std::uint32_t (&a)[4],
                                    std::uint64_t b);
HM_PRODUCT_OF_ROWS(product_of_rows, bf16, "bf16.bf16", "1", HM_SUMS_128)
HM_PRODUCT_OF_ROWS(product_of_rows, f16, "f16.f16", "1", HM_SUMS_128)
HM_PRODUCT_OF_ROWS(new_product_of_rows, bf16, "bf16.bf16", "0", HM_NEW_SUMS_128)
HM_PRODUCT_OF_ROWS(new_product_of_rows, f16, "f16.f16", "0", HM_NEW_SUMS_128)

// d += a b with a from registers, as fragments of mma.cuh, and b by value_descriptor.
template <class T>
GPU_DEVICE void product_of_values(float (&d)[16][4], const std::uint32_t (&a)[4], std::uint64_t b);
template <class T>
GPU_DEVICE void product_of_values(float (&d)[8][4], const std::uint32_t (&a)[4], std::uint64_t b);
HM_PRODUCT_OF_VALUES(bf16, "bf16.bf16")
HM_PRODUCT_OF_VALUES(f16, "f16.f16")

}  // namespace hm_cuda
