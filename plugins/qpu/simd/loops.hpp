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

// Zero bits at the first K places in `sorted`, ascending.
template <int K>
inline std::int64_t spread(std::int64_t index, const int* sorted) {
  for (int i = 0; i < K; ++i) {
    const std::int64_t low = (std::int64_t{1} << sorted[i]) - 1;
    index = ((index & ~low) << 1) | (index & low);
  }
  return index;
}

// The partner of every lane: the one whose number differs in bit `Bit`.
template <class T, int Bit>
inline typename Vectors<T>::vector partners(typename Vectors<T>::vector v) {
  typename Vectors<T>::index lane;
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i) lane[i] = i ^ (1 << Bit);
  return __builtin_shuffle(v, lane);
}

// `ratios`: negative in lanes whose bit is not set.
template <class T, int Bit, int Rows>
inline void turn_lanes_of(typename Vectors<T>::vector (&x)[Rows], bool exchanges,
                          typename Vectors<T>::vector ratios) {
  if (exchanges) {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) x[row] = partners<T, Bit>(x[row]) + ratios * x[row];
  } else {
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) x[row] += ratios * partners<T, Bit>(x[row]);
  }
}

template <class T, int Rows>
inline void turn_lanes(typename Vectors<T>::vector (&x)[Rows], const Turn<T>& turn,
                       typename Vectors<T>::vector ratios) {
  if constexpr (lane_bits < T >> 3) {
    if (turn.qubit == 3) return turn_lanes_of<T, 3>(x, turn.exchanges, ratios);
  }
  if constexpr (lane_bits < T >> 2) {
    if (turn.qubit == 2) return turn_lanes_of<T, 2>(x, turn.exchanges, ratios);
  }
  if constexpr (lane_bits < T >> 1) {
    if (turn.qubit == 1) return turn_lanes_of<T, 1>(x, turn.exchanges, ratios);
  }
  turn_lanes_of<T, 0>(x, turn.exchanges, ratios);
}

template <class T, int Rows>
inline void turn_rows(typename Vectors<T>::vector (&x)[Rows], int bit, const Turn<T>& turn) {
  if (turn.exchanges) {
    const T ratio = turn.ratio_exchanged;
#pragma GCC unroll 16
    for (int row = 0; row < Rows; ++row) {
      if ((row & bit) != 0) continue;
      const auto zero = x[row], one = x[row | bit];
      x[row] = one - zero * ratio;
      x[row | bit] = zero + one * ratio;
    }
    return;
  }
  const T ratio = turn.ratio;
#pragma GCC unroll 16
  for (int row = 0; row < Rows; ++row) {
    if ((row & bit) != 0) continue;
    const auto zero = x[row], one = x[row | bit];
    x[row] = zero - one * ratio;
    x[row | bit] = one + zero * ratio;
  }
}

// A gap between the places of a sweep: a loop over it has one step and no other index. The lowest
// is contiguous in memory; where it is short, the widest.
struct Gap {
  int begin = 0, bits = 0, below = 0;  // places below it
};
template <int K>
inline Gap loop_gap(const int* sorted, int top) {
  Gap out;
  for (int i = 0; i <= K; ++i) {
    const int begin = i == 0 ? 0 : sorted[i - 1] + 1, end = i == K ? top : sorted[i];
    if (end - begin > out.bits) out = {begin, end - begin, i};
    if (out.begin == 0 && out.bits >= 3) break;
  }
  return out;
}

// All rotations of a sweep while their vectors are in registers.
template <class T, int K, bool HasLanes>
void turn_of(T* re, T* im, std::int64_t count, const Turns<T>& turns) {
  using V = typename Vectors<T>::vector;
  constexpr int rows = 1 << K;
  int places[K + 1] = {};
  std::int64_t offsets[rows] = {};
  for (int i = 0; i < K; ++i) {
    places[i] = turns.above[i].qubit - lane_bits<T>;
    for (int row = 0; row < rows; ++row) {
      offsets[row] += static_cast<std::int64_t>(row >> i & 1) << places[i];
    }
  }
  V ratios[lane_bits_max];
  for (int i = 0; i < turns.lane_count; ++i) {
    const Turn<T>& turn = turns.lane[i];
    for (int lane = 0; lane < lanes<T>; ++lane) {
      ratios[i][lane] = (lane >> turn.qubit & 1) != 0 ? turn.ratio : -turn.ratio;
    }
  }
  const int top = __builtin_ctzll(static_cast<unsigned long long>(count)) - lane_bits<T>;
  const Gap gap = loop_gap<K>(places, top);
  const std::int64_t step = std::int64_t{1} << gap.begin;
  const std::int64_t below = (std::int64_t{1} << (gap.begin - gap.below)) - 1;
  for (std::int64_t g = 0; g < std::int64_t{1} << (top - K - gap.bits); ++g) {
    const std::int64_t at = spread<K>(((g & ~below) << gap.bits) | (g & below), places);
    // A rotation is real: it treats both parts alike.
    V* const parts[] = {reinterpret_cast<V*>(re) + at, reinterpret_cast<V*>(im) + at};
    for (V* base : parts) {
      V* const end = base + (step << gap.bits);
      for (; base != end; base += step) {
        V x[rows];
#pragma GCC unroll 16
        for (int row = 0; row < rows; ++row) x[row] = base[offsets[row]];
        if constexpr (HasLanes) {
          for (int i = 0; i < turns.lane_count; ++i) turn_lanes<T>(x, turns.lane[i], ratios[i]);
        }
#pragma GCC unroll 4
        for (int i = 0; i < K; ++i) turn_rows<T>(x, 1 << i, turns.above[i]);
#pragma GCC unroll 16
        for (int row = 0; row < rows; ++row) base[offsets[row]] = x[row];
      }
    }
  }
}

template <class T, int K>
void turn_of(T* re, T* im, std::int64_t count, const Turns<T>& turns) {
  if (turns.lane_count > 0) return turn_of<T, K, true>(re, im, count, turns);
  turn_of<T, K, false>(re, im, count, turns);
}

template <class T>
void turn(T* re, T* im, std::int64_t count, const Turns<T>& turns) {
  switch (turns.count) {
    case 0:
      return turn_of<T, 0>(re, im, count, turns);
    case 1:
      return turn_of<T, 1>(re, im, count, turns);
    case 2:
      return turn_of<T, 2>(re, im, count, turns);
    case 3:
      return turn_of<T, 3>(re, im, count, turns);
    default:
      return turn_of<T, 4>(re, im, count, turns);
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
void multiply_by(T* __restrict re, T* __restrict im, const T* __restrict fr, const T* __restrict fi,
                 std::int64_t count, T r, T i) {
  for (std::int64_t at = 0; at < count; ++at) {
    const T a = re[at], b = im[at];
    const T real = fr[at] * r - fi[at] * i, imaginary = fr[at] * i + fi[at] * r;
    re[at] = a * real - b * imaginary;
    im[at] = a * imaginary + b * real;
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
void join(const T* __restrict re, const T* __restrict im, T* __restrict pairs, std::int64_t count,
          T factor) {
  for (std::int64_t i = 0; i < count; ++i) {
    pairs[2 * i] = re[i] * factor;
    pairs[2 * i + 1] = im[i] * factor;
  }
}

template <class T>
constexpr BlockLoops<T> table{.isa = HM_QPU_ISA,
                              .lane_bits = lane_bits<T>,
                              .turn = &turn<T>,
                              .one = &one<T>,
                              .multiply = &multiply<T>,
                              .multiply_by = &multiply_by<T>,
                              .scale = &scale<T>,
                              .split = &split<T>,
                              .join = &join<T>};

}  // namespace
}  // namespace hm_qpu
