// Gates of a block become few steps: rotations of different qubits, or phases that are one
// diagonal. A part of a gate joins the earliest step that it commutes back to.
#include <cmath>

#include "plan.hpp"

namespace hm_qpu {
namespace {

class Fuser {
 public:
  void add(const LocalGate& local) {
    const Gate& gate = local.gate;
    if (gate.is_phase()) return add_phase({gate.mask, local.outer, gate.m[0]});
    if (gate.mask != 0 || local.outer != 0) {
      push({.kind = Step::Kind::controlled,
            .target = gate.target,
            .matrix = gate.m,
            .controls = gate.mask,
            .outer_controls = local.outer});
      bits_.back() = {gate.mask | gate.target_bit(), gate.target_bit()};
      return;
    }
    // A turn, as the planner makes them.
    const bool exchanges = gate.m[0] != Complex{1};
    const double ratio = gate.m[exchanges ? 3 : 2].real();
    scale_ /= std::sqrt(1 + ratio * ratio);
    const std::size_t at = place(Step::Kind::rotations, gate.target_bit());
    steps_[at].rotations.push_back({gate.target, exchanges, ratio});
    bits_[at].turned |= gate.target_bit();
  }
  void take(Pass& pass) {
    pass.steps = std::move(steps_);
    pass.scale = scale_;
  }

 private:
  void add_phase(const Phase& phase) {
    if (phase.local == 0 && phase.outer == 0 && phase.factor.imag() == 0) {
      scale_ *= phase.factor.real();
      return;
    }
    const std::size_t at = place(Step::Kind::phases, phase.local);
    for (Phase& other : steps_[at].phases) {
      if (other.local != phase.local || other.outer != phase.outer) continue;
      other.factor *= phase.factor;
      return;
    }
    steps_[at].phases.push_back(phase);
  }

  // The earliest step of this kind that is reached without passing one that `bits` do not commute
  // with: a new one at the end where there is none.
  std::size_t place(Step::Kind kind, Mask bits) {
    std::size_t found = steps_.size();
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const Mask blocked = kind == Step::Kind::phases ? bits_[i].turned : bits_[i].all;
      if ((blocked & bits) != 0) break;
      if (steps_[i].kind == kind) found = i;
    }
    if (found == steps_.size()) push({.kind = kind});
    bits_[found].all |= bits;
    return found;
  }

  void push(Step step) {
    steps_.push_back(std::move(step));
    bits_.emplace_back();
  }

  // Bits of a step, and of them those that phases do not commute with.
  struct Bits {
    Mask all = 0, turned = 0;
  };
  std::vector<Step> steps_;
  std::vector<Bits> bits_;
  double scale_ = 1;
};

}  // namespace

void fuse(std::span<const LocalGate> gates, Pass& pass) {
  Fuser fuser;
  for (const LocalGate& gate : gates) fuser.add(gate);
  fuser.take(pass);
}

}  // namespace hm_qpu
