// A circuit as passes over memory: a pass reads every amplitude once and writes it once, and in
// between applies all gates that act within blocks of 2^block amplitudes, fused where that pays.
#pragma once

#include <span>
#include <vector>

#include "gate.hpp"

namespace hm_qpu {

struct PlanShape {
  int qubits = 0;
  int block = 15;     // qubits within a block
  int low = 6;        // of them the lowest: contiguous in memory
  int lane_bits = 4;  // qubits within a vector: gates on them are not fused
  int fusion = 2;     // most qubits of a fused gate
};

struct Phase {
  Mask local = 0, outer = 0;  // bits of the index in the block, and of the state beyond the block
  Complex factor = 1;
};

// In the bits of a block's index: below PlanShape::low those of the state, then Pass::high.
struct Step {
  enum class Kind { dense, phases };
  Kind kind = Kind::dense;
  std::vector<int> qubits;      // dense: bit i of a row of the matrix is qubits[i]
  std::vector<Complex> matrix;  // dense: row-major
  Mask controls = 0;            // dense of one qubit: local bits that must be set
  Mask outer_controls = 0;      // and bits of the state
  std::vector<Phase> phases;
};

struct Pass {
  std::vector<int> high;  // qubits of the block beyond the lowest, ascending
  std::vector<Step> steps;
};

std::vector<Pass> plan_passes(const PlanShape& shape, std::span<const Gate> circuit);

// Of one pass, from gates whose masks are local; `outer` of a gate are its bits beyond the block.
struct LocalGate {
  Gate gate;
  Mask outer = 0;
};
std::vector<Step> fuse(const PlanShape& shape, std::span<const LocalGate> gates);

}  // namespace hm_qpu
