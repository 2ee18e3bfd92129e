// The loops themselves, compiled once per instruction set by a file that defines HM_QPU_BYTES and
// HM_QPU_ISA. Nothing here comes from the standard library but integers: a function shared with
// other files could carry instructions that the machine lacks.
#pragma once

#include "block_loops.hpp"

namespace hm_qpu {
namespace {

template <class T>
struct Vectors;
template <>
struct Vectors<float> {
  typedef float vector __attribute__((vector_size(HM_QPU_BYTES)));
  typedef std::int32_t index __attribute__((vector_size(HM_QPU_BYTES)));
};
template <>
struct Vectors<double> {
  typedef double vector __attribute__((vector_size(HM_QPU_BYTES)));
  typedef std::int64_t index __attribute__((vector_size(HM_QPU_BYTES)));
};

template <class T>
inline constexpr int lanes = HM_QPU_BYTES / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int lane_bits = __builtin_ctz(static_cast<unsigned>(lanes<T>));

// Zero bits at the places in `sorted`, ascending.
template <int K>
inline std::int64_t spread(std::int64_t index, const int (&sorted)[K]) {
  for (int i = 0; i < K; ++i) {
    const std::int64_t low = (std::int64_t{1} << sorted[i]) - 1;
    index = ((index & ~low) << 1) | (index & low);
  }
  return index;
}

template <class T, int K>
void dense_of(T* re, T* im, std::int64_t count, const DenseArguments<T>& gate) {
  using V = typename Vectors<T>::vector;
  constexpr int rows = 1 << K;
  int places[K];
  std::int64_t offsets[rows] = {};
  for (int i = 0; i < K; ++i) {
    places[i] = gate.qubits[i] - lane_bits<T>;
    for (int row = 0; row < rows; ++row) {
      if ((row >> i & 1) != 0) offsets[row] += std::int64_t{1} << places[i];
    }
  }
  for (int i = 1; i < K; ++i) {
    for (int j = i; j > 0 && places[j - 1] > places[j]; --j) {
      const int higher = places[j - 1];
      places[j - 1] = places[j];
      places[j] = higher;
    }
  }
  auto* const vr = reinterpret_cast<V*>(re);
  auto* const vi = reinterpret_cast<V*>(im);
  const std::int64_t groups = count >> (lane_bits<T> + K);
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::int64_t base = spread<K>(g, places);
    V a[rows], b[rows];
    for (int row = 0; row < rows; ++row) {
      a[row] = vr[base + offsets[row]];
      b[row] = vi[base + offsets[row]];
    }
    const T* mr = gate.real;
    const T* mi = gate.imaginary;
    for (int row = 0; row < rows; ++row, mr += rows, mi += rows) {
      V real = a[0] * mr[0] - b[0] * mi[0], imaginary = b[0] * mr[0] + a[0] * mi[0];
#pragma GCC unroll 16
      for (int c = 1; c < rows; ++c) {
        real += a[c] * mr[c];
        imaginary += b[c] * mr[c];
        real -= b[c] * mi[c];
        imaginary += a[c] * mi[c];
      }
      vr[base + offsets[row]] = real;
      vi[base + offsets[row]] = imaginary;
    }
  }
}

template <class T>
void dense(T* re, T* im, std::int64_t count, const DenseArguments<T>& gate) {
  switch (gate.count) {
    case 1:
      return dense_of<T, 1>(re, im, count, gate);
    case 2:
      return dense_of<T, 2>(re, im, count, gate);
    case 3:
      return dense_of<T, 3>(re, im, count, gate);
    default:
      return dense_of<T, 4>(re, im, count, gate);
  }
}

// The target lies within a vector: the partner of a lane comes by a shuffle. A lane whose controls
// are not set keeps its value by factors 1 and 0.
template <class T>
void one_in_lanes(T* re, T* im, std::int64_t count, const OneArguments<T>& gate) {
  using V = typename Vectors<T>::vector;
  typename Vectors<T>::index partner;
  V own_r, own_i, other_r, other_i;
  const auto lane_controls = gate.controls & static_cast<std::uint64_t>(lanes<T> - 1);
  for (int lane = 0; lane < lanes<T>; ++lane) {
    const bool is_on = (static_cast<std::uint64_t>(lane) & lane_controls) == lane_controls;
    const int bit = lane >> gate.target & 1;
    partner[lane] = lane ^ (1 << gate.target);
    own_r[lane] = is_on ? gate.real[3 * bit] : T{1};
    own_i[lane] = is_on ? gate.imaginary[3 * bit] : T{0};
    other_r[lane] = is_on ? gate.real[1 + bit] : T{0};
    other_i[lane] = is_on ? gate.imaginary[1 + bit] : T{0};
  }
  const auto high = static_cast<std::int64_t>(gate.controls >> lane_bits<T>);
  auto* const vr = reinterpret_cast<V*>(re);
  auto* const vi = reinterpret_cast<V*>(im);
  for (std::int64_t i = 0; i < count / lanes<T>; ++i) {
    if ((i & high) != high) continue;
    const V a = vr[i], b = vi[i];
    const V pa = __builtin_shuffle(a, partner), pb = __builtin_shuffle(b, partner);
    vr[i] = own_r * a - own_i * b + other_r * pa - other_i * pb;
    vi[i] = own_r * b + own_i * a + other_r * pb + other_i * pa;
  }
}

template <class T>
void one_above_lanes(T* re, T* im, std::int64_t count, const OneArguments<T>& gate) {
  using V = typename Vectors<T>::vector;
  V r[4], m[4];
  const auto lane_controls = gate.controls & static_cast<std::uint64_t>(lanes<T> - 1);
  for (int lane = 0; lane < lanes<T>; ++lane) {
    const bool is_on = (static_cast<std::uint64_t>(lane) & lane_controls) == lane_controls;
    for (int e = 0; e < 4; ++e) {
      r[e][lane] = is_on ? gate.real[e] : static_cast<T>(e == 0 || e == 3);
      m[e][lane] = is_on ? gate.imaginary[e] : T{0};
    }
  }
  const auto high = static_cast<std::int64_t>(gate.controls >> lane_bits<T>);
  const std::int64_t stride = std::int64_t{1} << (gate.target - lane_bits<T>);
  auto* const vr = reinterpret_cast<V*>(re);
  auto* const vi = reinterpret_cast<V*>(im);
  for (std::int64_t begin = 0; begin < count / lanes<T>; begin += 2 * stride) {
    for (std::int64_t i = begin; i < begin + stride; ++i) {
      if ((i & high) != high) continue;
      const V a = vr[i], b = vi[i], c = vr[i + stride], d = vi[i + stride];
      vr[i] = r[0] * a - m[0] * b + r[1] * c - m[1] * d;
      vi[i] = r[0] * b + m[0] * a + r[1] * d + m[1] * c;
      vr[i + stride] = r[2] * a - m[2] * b + r[3] * c - m[3] * d;
      vi[i + stride] = r[2] * b + m[2] * a + r[3] * d + m[3] * c;
    }
  }
}

template <class T>
void one(T* re, T* im, std::int64_t count, const OneArguments<T>& gate) {
  if (gate.target < lane_bits<T>) return one_in_lanes(re, im, count, gate);
  one_above_lanes(re, im, count, gate);
}

template <class T>
void multiply(T* __restrict re, T* __restrict im, const T* __restrict fr, const T* __restrict fi,
              std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T a = re[i], b = im[i];
    re[i] = a * fr[i] - b * fi[i];
    im[i] = a * fi[i] + b * fr[i];
  }
}

template <class T>
void scale(const T* __restrict re, const T* __restrict im, T* __restrict to_re, T* __restrict to_im,
           std::int64_t count, T fr, T fi) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T a = re[i], b = im[i];
    to_re[i] = a * fr - b * fi;
    to_im[i] = a * fi + b * fr;
  }
}

template <class T>
void split(const T* __restrict pairs, T* __restrict re, T* __restrict im, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    re[i] = pairs[2 * i];
    im[i] = pairs[2 * i + 1];
  }
}

template <class T>
void join(const T* __restrict re, const T* __restrict im, T* __restrict pairs, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    pairs[2 * i] = re[i];
    pairs[2 * i + 1] = im[i];
  }
}

template <class T>
constexpr BlockLoops<T> table{.isa = HM_QPU_ISA,
                              .lane_bits = lane_bits<T>,
                              .dense = &dense<T>,
                              .one = &one<T>,
                              .multiply = &multiply<T>,
                              .scale = &scale<T>,
                              .split = &split<T>,
                              .join = &join<T>};

}  // namespace
}  // namespace hm_qpu
