// A circuit as passes over memory: a pass reads every amplitude once and writes it once, and in
// between applies all gates that act within blocks of 2^block amplitudes, fused where that pays.
#pragma once

#include <span>
#include <vector>

#include "gate.hpp"

namespace hm_qpu {

struct PlanShape {
  int qubits = 0;
  int block = 15;  // qubits within a block
  int low = 6;     // of them the lowest: contiguous in memory
  int fusion = 3;  // most rotations above a vector's width in one sweep over a block
};

struct Phase {
  Mask local = 0, outer = 0;  // bits of the index in the block, and of the state beyond the block
  Complex factor = 1;
};

// [1 -ratio; ratio 1], its rows of the state exchanged before where `exchanges`. Every gate of one
// qubit is one between two phases, but for a factor: a multiply-add per number, where a complex
// matrix takes four.
struct Rotation {
  int qubit = 0;
  bool exchanges = false;
  double ratio = 0;
};

// In the bits of a block's index: below PlanShape::low those of the state, then Pass::high.
struct Step {
  enum class Kind { rotations, phases, controlled };
  Kind kind = Kind::rotations;
  std::vector<Rotation> rotations = {};  // of different qubits
  std::vector<Phase> phases = {};
  // controlled: a gate of one qubit where local bits and bits of the state are set.
  int target = 0;
  std::array<Complex, 4> matrix = {};
  Mask controls = 0, outer_controls = 0;
};

struct Pass {
  std::vector<int> high;  // qubits of the block beyond the lowest, ascending
  std::vector<Step> steps;
  double scale = 1;  // of the state, which the rotations leave out
};

std::vector<Pass> plan_passes(const PlanShape& shape, std::span<const Gate> circuit);

// Of one pass, from gates whose masks are local; `outer` of a gate are its bits beyond the block.
struct LocalGate {
  Gate gate;
  Mask outer = 0;
};
// Fills `steps` and `scale`.
void fuse(std::span<const LocalGate> gates, Pass& pass);

}  // namespace hm_qpu
