// The two probes of a machine: bytes through memory and multiply-adds in registers.
#pragma once

#include "simd.hpp"
#include "simd_panel.hpp"

namespace hm_cpu {
namespace {

#if defined(__SSE2__)
void stream_copy(const void* src, void* dst, std::int64_t bytes) {
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  for (std::int64_t at = 0; at < bytes; at += 64) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), load_as<__m512i>(from + at));
#elif defined(__AVX2__)
    for (int half = 0; half < 64; half += 32) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at + half),
                          load_as<__m256i>(from + at + half));
    }
#else
    for (int part = 0; part < 64; part += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + part),
                       load_as<__m128i>(from + at + part));
    }
#endif
  }
  // Non-temporal stores are weakly ordered: without the fence another thread may not see them.
  _mm_sfence();
}
#elif defined(__aarch64__)
// stnp only hints that the lines are not wanted again: it is ordered as any other store.
void stream_copy(const void* src, void* dst, std::int64_t bytes) {
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
  for (std::int64_t at = 0; at < bytes; at += 64) {
    __asm__ volatile(
        "ldp q0, q1, [%0]\n\tldp q2, q3, [%0, #32]\n\t"
        "stnp q0, q1, [%1]\n\tstnp q2, q3, [%1, #32]"
        :
        : "r"(from + at), "r"(to + at)
        : "v0", "v1", "v2", "v3", "memory");
  }
}
#endif

// Independent chains hide the latency of one multiply-add: 4 cycles x 2 units on most cores.
constexpr int chains = 10;

template <typename T>
void fma_loop(const T* x, T* dst, std::int64_t count, std::int64_t iterations) {
  typedef T Wide __attribute__((vector_size(lanes * 4)));
  constexpr std::int64_t block = chains * static_cast<std::int64_t>(sizeof(Wide) / sizeof(T));
  for (std::int64_t at = 0; at < count; at += block) {
    const std::int64_t valid = count - at < block ? count - at : block;
    const unsigned bytes = static_cast<unsigned>(valid) * static_cast<unsigned>(sizeof(T));
    Wide values[chains] = {};
    __builtin_memcpy(values, x + at, bytes);
    const Wide half = static_cast<T>(0.5) - Wide{}, quarter = static_cast<T>(0.25) - Wide{};
    for (std::int64_t i = 0; i < iterations; ++i) {
      HM_CPU_UNROLL
      for (int c = 0; c < chains; ++c) values[c] = values[c] * half + quarter;
    }
    __builtin_memcpy(dst + at, values, bytes);
  }
}

constexpr StreamLoops stream_loops = {
#if defined(__SSE2__) || defined(__aarch64__)
    .copy = stream_copy,
#else
    .copy = nullptr,
#endif
    .fma_f32 = fma_loop<float>,
    .fma_f64 = fma_loop<double>,
};

}  // namespace
}  // namespace hm_cpu
