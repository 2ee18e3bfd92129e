// Inputs by counter: any element of any operand, set and rank follows from the seed alone, so the
// worker fills buffers at memcpy speed and the parent recomputes any element without storing them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/contract.hpp"

namespace halmark {

// Values come from a pool of `pool_elements` per (distribution, scale, dtype); chunk c of an
// operand starts at pool offset hash(seed, rank, set, operand, c). So sets differ, rows differ, and
// no set is generated element by element. A pool depends on no seed: a process makes each one once.
//
// normal: N(0, 1); uniform: [-1, 1); integers: -8..8; positive: |N(0, 1)| + 0.1; indices: integers
// in [0, index_bound); all but indices times `scale`, then rounded to the dtype. No value is
// denormal. given: the operand's own values, in every set and on every rank.
class InputPool {
 public:
  static constexpr std::int64_t pool_elements = 1 << 20;
  static constexpr std::int64_t chunk_elements = 4096;

  // Throws Error (exit 2) for a dtype of less than one byte, and where `given` is not as long as
  // the operand.
  InputPool(std::uint64_t seed, const OperandSpec& operand);

  // Writes the operand's bytes for (rank, set, operand index) into `target` (operand.bytes() long).
  void fill(int rank, int set, std::size_t operand_index, void* target) const;
  // The same elements as doubles.
  void read(int rank, int set, std::size_t operand_index, std::int64_t offset,
            std::span<double> out) const;

 private:
  bool is_given() const { return operand_.distribution == Distribution::given; }
  std::int64_t chunk_start(int rank, int set, std::size_t operand_index, std::int64_t chunk) const;
  std::uint64_t seed_;
  OperandSpec operand_;
  // pool_elements + chunk_elements values in the operand's dtype, or the given ones; immutable,
  // hence shared freely.
  std::shared_ptr<const std::vector<unsigned char>> pool_;
};

// Frees the pools that wait for further operands of their kind; gives their bytes. The next one
// that asks for a pool makes it again, with the same values.
std::int64_t forget_input_pools();

// InputReader of one argument set over generated pools.
class GeneratedInputs : public InputReader {
 public:
  GeneratedInputs(std::uint64_t seed, std::span<const OperandSpec> operands, int set);
  void set_index(int set) { set_ = set; }
  void read(int rank, std::size_t operand, std::int64_t offset,
            std::span<double> out) const override;
  const InputPool& pool(std::size_t operand) const { return pools_.at(operand); }

 private:
  std::vector<InputPool> pools_;
  int set_;
};

}  // namespace halmark
