// Element types of device code: conversions to f32 and back, and vectors of 16 bytes.
#pragma once

#include <cstring>

#include "gpu_runtime.hpp"

namespace hm_cuda {

struct bf16 {
  std::uint16_t bits;
};
struct f16 {
  std::uint16_t bits;
};
struct f8_e4m3 {
  std::uint8_t bits;
};

GPU_INLINE float to_float(float x) { return x; }

GPU_INLINE float to_float(bf16 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits) << 16;
  float out;
  memcpy(&out, &bits, sizeof out);
  return out;
}

GPU_INLINE float to_float(f16 x) {
  __half_raw raw;
  raw.x = x.bits;
  return __half2float(__half(raw));
}

// The exponent of 4 bits lies where f32 has its own, too small by the difference of the biases,
// 120: a product puts that right, for subnormal values too. There is no infinity; NaN is not looked
// for.
GPU_INLINE float to_float(f8_e4m3 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x.bits & 0x7fu) << 20;
  float out;
  memcpy(&out, &bits, sizeof out);
  out *= 0x1p120f;
  return (x.bits & 0x80u) != 0 ? -out : out;
}

template <class T>
GPU_INLINE T from_float(float x);

template <>
GPU_INLINE float from_float<float>(float x) {
  return x;
}

// To the nearest, ties to even; a NaN stays one.
template <>
GPU_INLINE bf16 from_float<bf16>(float x) {
  bf16 out;
#if HM_CUDA_MMA
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(x));
#else
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const std::uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  out.bits = static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16);
#endif
  return out;
}

template <>
GPU_INLINE f16 from_float<f16>(float x) {
  const __half_raw raw = __float2half_rn(x);
  f16 out;
  out.bits = raw.x;
  return out;
}

// Elements of a vector that a thread moves: 16 bytes of the narrower type.
template <class A, class B>
constexpr int vector_width = sizeof(A) == 2 || sizeof(B) == 2 ? 8 : 4;

#if defined(__CUDACC__) || defined(__HIPCC__)

template <int bytes>
struct RawBytes;
template <>
struct RawBytes<1> {
  using type = unsigned char;
};
template <>
struct RawBytes<2> {
  using type = unsigned short;
};
template <>
struct RawBytes<4> {
  using type = unsigned int;
};
template <>
struct RawBytes<8> {
  using type = uint2;
};
template <>
struct RawBytes<16> {
  using type = uint4;
};

// Data that is read once should not push out what is read again.
template <class Unit>
GPU_DEVICE Unit load_once(const Unit* from) {
#if defined(__CUDACC__)
  return __ldcs(from);
#else
  return *from;
#endif
}

// N neighbouring elements; the address is a multiple of their size, or of 16 bytes where they are
// more.
template <int N, class T>
GPU_DEVICE void load_raw(const T* from, T (&out)[N]) {
  constexpr int bytes = N * static_cast<int>(sizeof(T)), unit = bytes < 16 ? bytes : 16;
  using Unit = typename RawBytes<unit>::type;
#pragma unroll
  for (int i = 0; i < bytes / unit; ++i) {
    const Unit raw = reinterpret_cast<const Unit*>(from)[i];
    memcpy(reinterpret_cast<char*>(out) + i * unit, &raw, unit);
  }
}

template <int N, class T>
GPU_DEVICE void store_raw(T* to, const T (&values)[N]) {
  constexpr int bytes = N * static_cast<int>(sizeof(T)), unit = bytes < 16 ? bytes : 16;
  using Unit = typename RawBytes<unit>::type;
#pragma unroll
  for (int i = 0; i < bytes / unit; ++i) {
    Unit raw;
    memcpy(&raw, reinterpret_cast<const char*>(values) + i * unit, unit);
    reinterpret_cast<Unit*>(to)[i] = raw;
  }
}

template <int N, class T>
GPU_DEVICE void load(const T* from, float (&out)[N]) {
  T raw[N];
  load_raw<N>(from, raw);
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = to_float(raw[i]);
}

template <int N, class T>
GPU_DEVICE void store(T* to, const float (&values)[N]) {
  T raw[N];
#pragma unroll
  for (int i = 0; i < N; ++i) raw[i] = from_float<T>(values[i]);
  store_raw<N>(to, raw);
}

#endif

}  // namespace hm_cuda
