// Loops over a block of amplitudes, real and imaginary parts apart: one table per instruction set.
#pragma once

#include <cstdint>

namespace hm_qpu {

inline constexpr int fusion_max = 4;
inline constexpr int lane_bits_max = 4;

// [1 -ratio; ratio 1], rows exchanged before where `exchanges`: one multiply-add per number. The
// ratio is there twice: with one, compilers share the products of both cases and lose the fusing.
template <class T>
struct Turn {
  int qubit = 0;
  bool exchanges = false;
  T ratio = 0, ratio_exchanged = 0;
};

// Rotations of different qubits in one sweep: those within a vector, then up to fusion_max above,
// of ascending qubits.
template <class T>
struct Turns {
  int lane_count = 0, count = 0;
  Turn<T> lane[lane_bits_max], above[fusion_max];
};

// A gate of one qubit anywhere, with controls anywhere in the block.
template <class T>
struct OneArguments {
  int target = 0;
  std::uint64_t controls = 0;
  T real[4] = {}, imaginary[4] = {};
};

template <class T>
struct BlockLoops {
  const char* isa = "";
  int lane_bits = 0;
  void (*turn)(T* re, T* im, std::int64_t count, const Turns<T>&);
  void (*one)(T* re, T* im, std::int64_t count, const OneArguments<T>&);
  // (re, im) *= (fr, fi), element by element; and with a factor for all.
  void (*multiply)(T* re, T* im, const T* fr, const T* fi, std::int64_t count);
  void (*multiply_by)(T* re, T* im, const T* fr, const T* fi, std::int64_t count, T r, T i);
  // to = from * factor.
  void (*scale)(const T* re, const T* im, T* to_re, T* to_im, std::int64_t count, T fr, T fi);
  void (*split)(const T* pairs, T* re, T* im, std::int64_t count);
  void (*join)(const T* re, const T* im, T* pairs, std::int64_t count, T factor);
};

struct AllLoops {
  BlockLoops<float> f32;
  BlockLoops<double> f64;
};

extern const AllLoops loops_generic;
#if defined(__x86_64__)
extern const AllLoops loops_avx2;
extern const AllLoops loops_avx512;
#endif

// 0 generic, 1 avx2, 2 avx512_core: the best of this machine that the ceiling allows.
const AllLoops& loops_for(int ceiling);

}  // namespace hm_qpu
