// Gates of a block become few steps: one matrix of up to `fusion` qubits, or one diagonal of any
// number of phases. A gate joins the last step that it does not commute past.
#include <algorithm>
#include <bit>

#include "plan.hpp"

namespace hm_qpu {
namespace {

Mask bits_of(const Step& step) {
  Mask bits = step.controls;
  for (const int q : step.qubits) bits |= Mask{1} << q;
  for (const Phase& phase : step.phases) bits |= phase.local;
  return bits;
}

class Fuser {
 public:
  explicit Fuser(const PlanShape& shape)
      : fusion_(shape.fusion), lanes_((Mask{1} << shape.lane_bits) - 1) {}

  void add(const LocalGate& gate) {
    if (gate.gate.is_phase()) return add_phase(gate);
    const Mask bits = gate.gate.mask | gate.gate.target_bit();
    if ((bits & lanes_) != 0 || gate.outer != 0) return add_alone(gate);
    add_dense(gate.gate, bits);
  }
  std::vector<Step> take() { return std::move(steps_); }

 private:
  // Phases of one qubit or two; those beyond the block as well.
  void add_phase(const LocalGate& gate) {
    const Mask bits = gate.gate.mask;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      Step& step = steps_[i];
      if (step.kind == Step::Kind::phases) return append(step, gate);
      if ((bits_of(step) & bits) == 0) continue;
      if (gate.outer == 0 && takes(step, bits)) return multiply(step, gate.gate);
      break;
    }
    steps_.push_back({.kind = Step::Kind::phases});
    append(steps_.back(), gate);
  }

  // Within a vector, or controlled from outside the block: only equal ones are fused.
  void add_alone(const LocalGate& gate) {
    const Mask bits = gate.gate.mask | gate.gate.target_bit();
    for (std::size_t i = steps_.size(); i-- > 0;) {
      Step& step = steps_[i];
      if ((bits_of(step) & bits) == 0) continue;
      const bool is_same = step.kind == Step::Kind::dense &&
                           step.qubits == std::vector{gate.gate.target} &&
                           step.controls == gate.gate.mask && step.outer_controls == gate.outer;
      if (!is_same) break;
      return multiply(step, {.target = gate.gate.target, .m = gate.gate.m});
    }
    steps_.push_back({.qubits = {gate.gate.target},
                      .matrix = {gate.gate.m.begin(), gate.gate.m.end()},
                      .controls = gate.gate.mask,
                      .outer_controls = gate.outer});
  }

  void add_dense(const Gate& gate, Mask bits) {
    Step* place = nullptr;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      Step& step = steps_[i];
      const bool meets = (bits_of(step) & bits) != 0;
      if (takes(step, bits) && (meets || place == nullptr)) place = &step;
      if (meets) break;
    }
    if (place == nullptr && std::popcount(bits) > fusion_) return add_alone({.gate = gate});
    if (place == nullptr) {
      steps_.push_back({.qubits = {gate.target}, .matrix = {1, 0, 0, 1}});
      place = &steps_.back();
    }
    multiply(*place, gate);
  }

  bool takes(const Step& step, Mask bits) const {
    const Mask all = bits_of(step) | bits;
    return step.kind == Step::Kind::dense && step.controls == 0 && step.outer_controls == 0 &&
           (all & lanes_) == 0 && std::popcount(all) <= fusion_;
  }

  static void append(Step& step, const LocalGate& gate) {
    for (Phase& phase : step.phases) {
      if (phase.local != gate.gate.mask || phase.outer != gate.outer) continue;
      phase.factor *= gate.gate.m[0];
      return;
    }
    step.phases.push_back({gate.gate.mask, gate.outer, gate.gate.m[0]});
  }

  // A new qubit becomes the highest bit of a row: the matrix twice along the diagonal.
  static void widen(Step& step, int qubit) {
    const std::size_t size = std::size_t{1} << step.qubits.size();
    std::vector<Complex> wide(4 * size * size);
    for (std::size_t row = 0; row < size; ++row) {
      for (std::size_t column = 0; column < size; ++column) {
        const Complex value = step.matrix[row * size + column];
        wide[row * 2 * size + column] = value;
        wide[(row + size) * 2 * size + column + size] = value;
      }
    }
    step.matrix = std::move(wide);
    step.qubits.push_back(qubit);
  }

  static Mask rows_of(Step& step, Mask bits) {
    Mask rows = 0;
    for (; bits != 0; bits &= bits - 1) {
      const int qubit = std::countr_zero(bits);
      auto at = std::ranges::find(step.qubits, qubit);
      if (at == step.qubits.end()) {
        widen(step, qubit);
        at = step.qubits.end() - 1;
      }
      rows |= Mask{1} << (at - step.qubits.begin());
    }
    return rows;
  }

  // matrix = gate * matrix.
  static void multiply(Step& step, const Gate& gate) {
    const Mask mask = rows_of(step, gate.mask), target = rows_of(step, gate.target_bit());
    const std::size_t size = std::size_t{1} << step.qubits.size();
    for (std::size_t row = 0; row < size; ++row) {
      if ((row & mask) != mask || (row & target) != 0) continue;
      for (std::size_t column = 0; column < size; ++column) {
        Complex& zero = step.matrix[row * size + column];
        if (gate.is_phase()) {
          zero *= gate.m[0];
          continue;
        }
        Complex& one = step.matrix[(row | target) * size + column];
        const Complex a = zero, b = one;
        zero = gate.m[0] * a + gate.m[1] * b;
        one = gate.m[2] * a + gate.m[3] * b;
      }
    }
  }

  int fusion_;
  Mask lanes_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> fuse(const PlanShape& shape, std::span<const LocalGate> gates) {
  Fuser fuser(shape);
  for (const LocalGate& gate : gates) fuser.add(gate);
  return fuser.take();
}

}  // namespace hm_qpu
