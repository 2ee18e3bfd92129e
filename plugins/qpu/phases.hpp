// A product of phases as one diagonal over a block. The block is cut into segments of 2^low
// amplitudes. Phases of bits within a segment are a table; those of one such bit and one beyond
// change it, so segments that agree in these bits beyond (their key) share a table per block; and
// phases of bits beyond alone are a factor of a segment.
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
      : low_(std::min(block_bits, segment_bits)),
        by_segment_(std::size_t{1} << (block_bits - low_), Complex{1}) {
    const Mask inside = (Mask{1} << low_) - 1;
    std::vector<Complex> table(std::size_t{1} << low_, Complex{1});
    by_bit_.resize(static_cast<std::size_t>(low_));
    for (const Phase& phase : phases) {
      const Mask low = phase.local & inside;
      const Condition rest{phase.local >> low_, phase.outer, phase.factor};
      if (low == 0 && rest.outer == 0) {
        multiply_where(by_segment_, rest.segment, phase.factor);
      } else if (low == 0) {
        by_block_.push_back(rest);
      } else if (rest.segment == 0 && rest.outer == 0) {
        multiply_where(table, low, phase.factor);
        has_table_ = true;
      } else {
        by_bit_[static_cast<std::size_t>(std::countr_zero(low))].push_back(rest);
        key_ |= rest.segment;
      }
    }
    for (const Complex& value : table) {
      table_re_.push_back(static_cast<T>(value.real()));
      table_im_.push_back(static_cast<T>(value.imag()));
    }
  }

  // To the block at `base`.
  void apply(const BlockLoops<T>& loops, Mask base, T* re, T* im) const {
    alignas(64) T real[std::size_t{1} << segment_bits];
    alignas(64) T imaginary[std::size_t{1} << segment_bits];
    const std::int64_t size = std::int64_t{1} << low_;
    Mask key = 0;
    do {
      const bool is_changed = change(loops, key, base, real, imaginary);
      const T* const table_re = is_changed ? real : table_re_.data();
      const T* const table_im = is_changed ? imaginary : table_im_.data();
      for (Mask s = 0; s < by_segment_.size(); ++s) {
        if ((s & key_) != key) continue;
        const Complex factor = product(by_block_, s, base, by_segment_[s]);
        T* const part_re = re + (s << low_);
        T* const part_im = im + (s << low_);
        if (factor != Complex{1}) {
          loops.multiply_by(part_re, part_im, table_re, table_im, size,
                            static_cast<T>(factor.real()), static_cast<T>(factor.imag()));
        } else if (is_changed || has_table_) {
          loops.multiply(part_re, part_im, table_re, table_im, size);
        }
      }
      key = (key - key_) & key_;
    } while (key != 0);
  }

 private:
  static constexpr int segment_bits = 8;
  struct Condition {
    Mask segment = 0, outer = 0;
    Complex factor;
  };

  static void multiply_where(std::vector<Complex>& values, Mask bits, Complex factor) {
    for (Mask i = 0; i < values.size(); ++i) {
      if ((i & bits) == bits) values[i] *= factor;
    }
  }

  static Complex product(std::span<const Condition> conditions, Mask segment, Mask base,
                         Complex out) {
    for (const Condition& c : conditions) {
      if ((segment & c.segment) == c.segment && (base & c.outer) == c.outer) {
        out = {out.real() * c.factor.real() - out.imag() * c.factor.imag(),
               out.real() * c.factor.imag() + out.imag() * c.factor.real()};
      }
    }
    return out;
  }

  // The table as segments of `key` see it, in (real, imaginary); false where that is the table.
  bool change(const BlockLoops<T>& loops, Mask key, Mask base, T* real, T* imaginary) const {
    Complex factors[segment_bits];
    bool is_changed = false;
    for (std::size_t bit = 0; bit < by_bit_.size(); ++bit) {
      factors[bit] = product(by_bit_[bit], key, base, 1);
      is_changed = is_changed || factors[bit] != Complex{1};
    }
    if (!is_changed) return false;
    real[0] = 1;
    imaginary[0] = 0;
    for (std::size_t bit = 0; bit < by_bit_.size(); ++bit) {
      const std::int64_t half = std::int64_t{1} << bit;
      loops.scale(real, imaginary, real + half, imaginary + half, half,
                  static_cast<T>(factors[bit].real()), static_cast<T>(factors[bit].imag()));
    }
    if (has_table_) {
      loops.multiply(real, imaginary, table_re_.data(), table_im_.data(), std::int64_t{1} << low_);
    }
    return true;
  }

  int low_ = 0;
  bool has_table_ = false;
  std::vector<T> table_re_, table_im_;          // of bits within a segment
  std::vector<std::vector<Condition>> by_bit_;  // of one bit within and others beyond
  Mask key_ = 0;                                // bits of a segment's number in by_bit_
  std::vector<Complex> by_segment_;             // of bits beyond, within the block
  std::vector<Condition> by_block_;             // and of those beyond the block
};

}  // namespace hm_qpu
