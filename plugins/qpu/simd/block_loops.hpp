// Loops over a block of amplitudes, real and imaginary parts apart: one table per instruction set.
#pragma once

#include <cstdint>

namespace hm_qpu {

inline constexpr int fusion_max = 4;

// A dense gate of `qubits` qubits at or above the vector's width.
template <class T>
struct DenseArguments {
  int count = 1;
  int qubits[fusion_max] = {};  // bit i of a row of the matrix
  const T* real = nullptr;      // row-major
  const T* imaginary = nullptr;
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
  void (*dense)(T* re, T* im, std::int64_t count, const DenseArguments<T>&);
  void (*one)(T* re, T* im, std::int64_t count, const OneArguments<T>&);
  // (re, im) *= (fr, fi), element by element.
  void (*multiply)(T* re, T* im, const T* fr, const T* fi, std::int64_t count);
  // to = from * factor.
  void (*scale)(const T* re, const T* im, T* to_re, T* to_im, std::int64_t count, T fr, T fi);
  void (*split)(const T* pairs, T* re, T* im, std::int64_t count);
  void (*join)(const T* re, const T* im, T* pairs, std::int64_t count);
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
