// The inputs that a worker staged, recomputed in the parent from the seed alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/kernel_case.hpp"
#include "kernels/inputs.hpp"

namespace halmark {

// Which generated set fills an operand of argument set `set`: constants and state have one per set
// (constants may share set 0, copied byte-wise); inputs stay warm, except when everything rotates.
int source_set(Role role, CacheMode mode, bool constants_shared, int set);

// InputReader over one argument set of a staged case. Pools are generated once; set_index() moves
// to another set.
class StagedInputs : public InputReader {
 public:
  StagedInputs(std::uint64_t seed, std::span<const OperandSpec> operands, CacheMode mode,
               bool constants_shared);
  void set_index(int set) { set_ = set; }
  // This set has constants of its own, though the others share theirs.
  void set_witness(int set) { witness_ = set; }
  // Inputs were filled anew as those of set `set`; see protocol::Reveal.
  void replace_inputs(int set) { inputs_from_ = set; }
  void read(int rank, std::size_t operand, std::int64_t offset,
            std::span<double> out) const override;

 private:
  std::vector<InputPool> pools_;
  std::vector<Role> roles_;
  CacheMode mode_;
  bool constants_shared_;
  int set_ = 0;
  std::optional<int> inputs_from_, witness_;
};

}  // namespace halmark
