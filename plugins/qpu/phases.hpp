// A product of phases as one diagonal over a block. The block is cut into segments of 2^low
// amplitudes: within one, phases of bits beyond the segment are a factor, those of one bit of the
// segment double a table, and those of two such bits are a table of their own, made once.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "plan.hpp"
#include "simd/block_loops.hpp"

namespace hm_qpu {

template <class T>
class Diagonal {
 public:
  Diagonal() = default;
  Diagonal(std::span<const Phase> phases, int block_bits)
      : low_(std::min(block_bits, segment_bits)), segments_(Mask{1} << (block_bits - low_)) {
    const Mask inside = (Mask{1} << low_) - 1;
    by_bit_.resize(static_cast<std::size_t>(low_));
    for (const Phase& phase : phases) {
      const Condition rest{phase.local & ~inside, phase.outer, phase.factor};
      const Mask low = phase.local & inside;
      if (low == 0) {
        whole_.push_back(rest);
      } else if (std::has_single_bit(low) && !(rest.local == 0 && rest.outer == 0)) {
        by_bit_[static_cast<std::size_t>(std::countr_zero(low))].push_back(rest);
      } else {
        always_.push_back({.local = low, .factor = phase.factor});
      }
    }
    make_table();
  }

  void apply(const BlockLoops<T>& loops, Mask base, T* re, T* im) const {
    alignas(64) T real[std::size_t{1} << segment_bits];
    alignas(64) T imaginary[std::size_t{1} << segment_bits];
    const std::int64_t size = std::int64_t{1} << low_;
    for (Mask segment = 0; segment < segments_; ++segment) {
      const Mask local = segment << low_;
      Complex factors[segment_bits];
      bool is_flat = true;  // the same factor for the whole segment
      for (std::size_t bit = 0; bit < by_bit_.size(); ++bit) {
        factors[bit] = product(by_bit_[bit], local, base);
        is_flat = is_flat && factors[bit] == Complex{1};
      }
      const Complex whole = product(whole_, local, base);
      T* const part_re = re + local;
      T* const part_im = im + local;
      if (is_flat && whole == Complex{1}) {
        if (!always_.empty()) {
          loops.multiply(part_re, part_im, table_re_.data(), table_im_.data(), size);
        }
        continue;
      }
      real[0] = static_cast<T>(whole.real());
      imaginary[0] = static_cast<T>(whole.imag());
      for (std::size_t bit = 0; bit < by_bit_.size(); ++bit) {
        const std::int64_t half = std::int64_t{1} << bit;
        loops.scale(real, imaginary, real + half, imaginary + half, half,
                    static_cast<T>(factors[bit].real()), static_cast<T>(factors[bit].imag()));
      }
      if (!always_.empty()) {
        loops.multiply(real, imaginary, table_re_.data(), table_im_.data(), size);
      }
      loops.multiply(part_re, part_im, real, imaginary, size);
    }
  }

 private:
  static constexpr int segment_bits = 8;
  struct Condition {
    Mask local = 0, outer = 0;
    Complex factor;
  };

  static Complex product(std::span<const Condition> conditions, Mask local, Mask base) {
    Complex out{1};
    for (const Condition& c : conditions) {
      if ((local & c.local) == c.local && (base & c.outer) == c.outer) {
        out = {out.real() * c.factor.real() - out.imag() * c.factor.imag(),
               out.real() * c.factor.imag() + out.imag() * c.factor.real()};
      }
    }
    return out;
  }

  void make_table() {
    if (always_.empty()) return;
    for (Mask i = 0; i < Mask{1} << low_; ++i) {
      Complex value{1};
      for (const Phase& phase : always_) {
        if ((i & phase.local) == phase.local) value *= phase.factor;
      }
      table_re_.push_back(static_cast<T>(value.real()));
      table_im_.push_back(static_cast<T>(value.imag()));
    }
  }

  int low_ = 0;
  Mask segments_ = 0;
  std::vector<Condition> whole_;
  std::vector<std::vector<Condition>> by_bit_;
  std::vector<Phase> always_;
  std::vector<T> table_re_, table_im_;
};

}  // namespace hm_qpu
