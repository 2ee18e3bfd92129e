// One pass over memory, reading or copying. Inline assembly where the compiler could drop a load
// whose value nobody uses.
#include <cstring>

#include "core/lists.hpp"
#include "measure/probe/peak_paths.hpp"

namespace halmark {
namespace {

// Not all loads may be elided: the sum is handed to an empty asm.
void read_portable(const std::byte* from, std::byte*, std::size_t bytes) {
  std::uint64_t sums[8] = {};
  for (std::size_t at = 0; at + sizeof sums <= bytes; at += sizeof sums) {
    std::uint64_t words[8];
    std::memcpy(words, from + at, sizeof words);
    for (const int i : below(8)) sums[i] += words[i];
  }
  for (const std::uint64_t sum : sums) asm volatile("" : : "r"(sum));
}

void copy_portable(const std::byte* from, std::byte* to, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#if defined(__x86_64__)
constexpr std::size_t stride = 512;

#define HALMARK_READ_PASS(function, target_name, width, step)                                     \
  __attribute__((target(target_name), noinline)) void function(const std::byte* from, std::byte*, \
                                                               std::size_t bytes) {               \
    const std::byte* end = from + bytes / stride * stride;                                        \
    for (; from != end; from += 8 * step) {                                                       \
      asm volatile("vmovups 0*" #step "(%0), %%" width "0\n\tvmovups 1*" #step "(%0), %%" width   \
                   "1\n\tvmovups 2*" #step "(%0), %%" width "2\n\tvmovups 3*" #step               \
                   "(%0), %%" width "3\n\tvmovups 4*" #step "(%0), %%" width                      \
                   "4\n\tvmovups 5*" #step "(%0), %%" width "5\n\tvmovups 6*" #step               \
                   "(%0), %%" width "6\n\tvmovups 7*" #step "(%0), %%" width "7\n\t"              \
                   :                                                                              \
                   : "r"(from)                                                                    \
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory");   \
    }                                                                                             \
    asm volatile("vzeroupper");                                                                   \
  }

#define HALMARK_COPY_PASS(function, target_name, width, step, store, fence)                        \
  __attribute__((target(target_name), noinline)) void function(const std::byte* from,              \
                                                               std::byte* to, std::size_t bytes) { \
    const std::byte* end = from + bytes / stride * stride;                                         \
    for (; from != end; from += 4 * step, to += 4 * step) {                                        \
      asm volatile("vmovups 0*" #step "(%0), %%" width "0\n\tvmovups 1*" #step "(%0), %%" width    \
                   "1\n\tvmovups 2*" #step "(%0), %%" width "2\n\tvmovups 3*" #step                \
                   "(%0), %%" width "3\n\t" store " %%" width "0, 0*" #step "(%1)\n\t" store       \
                   " %%" width "1, 1*" #step "(%1)\n\t" store " %%" width "2, 2*" #step            \
                   "(%1)\n\t" store " %%" width "3, 3*" #step "(%1)\n\t"                           \
                   :                                                                               \
                   : "r"(from), "r"(to)                                                            \
                   : "xmm0", "xmm1", "xmm2", "xmm3", "memory");                                    \
    }                                                                                              \
    asm volatile(fence "\n\tvzeroupper" : : : "memory");                                           \
  }

HALMARK_READ_PASS(read_avx2, "avx2", "ymm", 32)
HALMARK_READ_PASS(read_avx512, "avx512f", "zmm", 64)
HALMARK_COPY_PASS(copy_avx2, "avx2", "ymm", 32, "vmovups", "")
HALMARK_COPY_PASS(copy_avx512, "avx512f", "zmm", 64, "vmovups", "")
HALMARK_COPY_PASS(stream_avx2, "avx2", "ymm", 32, "vmovntps", "sfence")
HALMARK_COPY_PASS(stream_avx512, "avx512f", "zmm", 64, "vmovntps", "sfence")
#elif defined(__aarch64__)
constexpr std::size_t stride = 512;

void read_asimd(const std::byte* from, std::byte*, std::size_t bytes) {
  const std::byte* end = from + bytes / stride * stride;
  for (; from != end; from += 128) {
    asm volatile(
        "ldp q0, q1, [%0]\n\tldp q2, q3, [%0, #32]\n\t"
        "ldp q4, q5, [%0, #64]\n\tldp q6, q7, [%0, #96]"
        :
        : "r"(from)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "memory");
  }
}

// stnp tells the caches that the line is not wanted again.
#define HALMARK_COPY_PASS(function, store)                                                         \
  void function(const std::byte* from, std::byte* to, std::size_t bytes) {                         \
    const std::byte* end = from + bytes / stride * stride;                                         \
    for (; from != end; from += 64, to += 64) {                                                    \
      asm volatile("ldp q0, q1, [%0]\n\tldp q2, q3, [%0, #32]\n\t" store " q0, q1, [%1]\n\t" store \
                   " q2, q3, [%1, #32]"                                                            \
                   :                                                                               \
                   : "r"(from), "r"(to)                                                            \
                   : "v0", "v1", "v2", "v3", "memory");                                            \
    }                                                                                              \
  }

HALMARK_COPY_PASS(copy_asimd, "stp")
HALMARK_COPY_PASS(stream_asimd, "stnp")
#endif

}  // namespace

MemoryPasses memory_passes([[maybe_unused]] const CpuFeatures& has) {
#if defined(__x86_64__)
  if (has.avx512_core) return {read_avx512, copy_avx512, stream_avx512};
  if (has.avx2_fma) return {read_avx2, copy_avx2, stream_avx2};
#elif defined(__aarch64__)
  return {read_asimd, copy_asimd, stream_asimd};
#endif
  return {read_portable, copy_portable, copy_portable};
}

}  // namespace halmark
