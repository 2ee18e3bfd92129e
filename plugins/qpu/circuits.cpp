// The circuit of each op, gate by gate, and the kernel that plans and runs it. Angles and pairs are
// inputs, so a plan is made in every execution: about a microsecond per gate.
#include <cmath>
#include <numbers>

#include "circuit_kernel.hpp"

namespace hm_qpu {
namespace {

const std::int32_t* ints(const void* p) { return static_cast<const std::int32_t*>(p); }
const double* reals(const void* p) { return static_cast<const double*>(p); }
Mask bit(std::int64_t qubit) { return Mask{1} << qubit; }

void add_rotations(Circuit& circuit, std::int64_t qubits, const double* angles) {
  for (std::int64_t q = 0; q < qubits; ++q, angles += 3) {
    circuit.push_back(rotation(static_cast<int>(q), angles[0], angles[1], angles[2]));
  }
}

class Ghz final : public CircuitKernel {
 public:
  Ghz() : CircuitKernel("ghz", {"qubits", "dtype"}, false) {}

 protected:
  std::vector<Operand> inputs(const Params&) const override {
    return {{"phase", HM_ROLE_INPUT, HM_DTYPE_F64, {1}, 0, ""}};
  }
  Circuit circuit(const Sizes& sizes, void* const* operands) const override {
    Circuit out{hadamard(0), phase_gate(1, std::polar(1.0, reals(operands[0])[0]))};
    for (int q = 1; q < sizes.qubits; ++q) out.push_back(not_gate(q, bit(q - 1)));
    return out;
  }
};

// From the highest qubit down, and the order of the bits turned at the end by three controlled X
// per pair of qubits (Nielsen and Chuang, figure 5.1).
class Qft final : public CircuitKernel {
 public:
  Qft() : CircuitKernel("qft", {"qubits", "dtype"}, true) {}

 protected:
  std::vector<Operand> inputs(const Params& p) const override {
    return {state_operand("src", HM_ROLE_INPUT, p)};
  }
  Circuit circuit(const Sizes& sizes, void* const*) const override {
    Circuit out;
    for (int q = sizes.qubits - 1; q >= 0; --q) {
      out.push_back(hadamard(q));
      for (int lower = q - 1; lower >= 0; --lower) {
        const double angle = std::numbers::pi / static_cast<double>(bit(q - lower));
        out.push_back(phase_gate(bit(q) | bit(lower), std::polar(1.0, angle)));
      }
    }
    for (int a = 0; a < sizes.qubits / 2; ++a) {
      const int b = sizes.qubits - 1 - a;
      for (const auto& [target, control] : {std::pair{a, b}, {b, a}, {a, b}}) {
        out.push_back(not_gate(target, bit(control)));
      }
    }
    return out;
  }
};

std::vector<Operand> layer_inputs(const Params& p) {
  return {{"angles", HM_ROLE_INPUT, HM_DTYPE_F64, {p.at("depth"), p.at("qubits"), 3}, 0, ""}};
}

class RandomCircuit final : public CircuitKernel {
 public:
  RandomCircuit() : CircuitKernel("random_circuit", {"qubits", "depth", "seed", "dtype"}, false) {}

 protected:
  std::vector<Operand> inputs(const Params& p) const override {
    std::vector<Operand> out{
        {"pairs", HM_ROLE_INPUT, HM_DTYPE_S32, {p.at("depth"), p.at("qubits") / 2, 2}, 0, ""}};
    out.push_back(layer_inputs(p).front());
    return out;
  }
  Circuit circuit(const Sizes& sizes, void* const* operands) const override {
    Circuit out;
    const std::int32_t* pairs = ints(operands[0]);
    for (std::int64_t layer = 0; layer < sizes.depth; ++layer) {
      add_rotations(out, sizes.qubits, reals(operands[1]) + 3 * layer * sizes.qubits);
      for (int i = 0; i < sizes.qubits / 2; ++i, pairs += 2) {
        const auto qubits = static_cast<std::int32_t>(sizes.qubits);
        if (pairs[0] < 0 || pairs[1] < 0 || pairs[0] >= qubits || pairs[1] >= qubits) {
          halmark::plugin::invalid("a pair names a qubit that is not there");
        }
        out.push_back(phase_gate(bit(pairs[0]) | bit(pairs[1]), -1));
      }
    }
    return out;
  }
};

class GateLayers final : public CircuitKernel {
 public:
  GateLayers() : CircuitKernel("gate_layers", {"qubits", "depth", "dtype"}, false) {}

 protected:
  std::vector<Operand> inputs(const Params& p) const override { return layer_inputs(p); }
  Circuit circuit(const Sizes& sizes, void* const* operands) const override {
    Circuit out;
    for (std::int64_t layer = 0; layer < sizes.depth; ++layer) {
      add_rotations(out, sizes.qubits, reals(operands[0]) + 3 * layer * sizes.qubits);
      for (auto q = static_cast<int>(layer % 2); q + 1 < sizes.qubits; q += 2) {
        out.push_back(phase_gate(bit(q) | bit(q + 1), -1));
      }
    }
    return out;
  }
};

// e^(-i gamma w) where an edge is cut: on either end, and back twice where both are set.
class QaoaLayer final : public CircuitKernel {
 public:
  QaoaLayer() : CircuitKernel("qaoa_layer", {"qubits", "seed", "dtype"}, true) {}

 protected:
  std::vector<Operand> inputs(const Params& p) const override {
    const std::int64_t edges = p.at("qubits") + p.at("qubits") / 2;
    return {state_operand("src", HM_ROLE_INPUT, p),
            {"edges", HM_ROLE_INPUT, HM_DTYPE_S32, {edges, 2}, 0, ""},
            {"weights", HM_ROLE_INPUT, HM_DTYPE_F64, {edges}, 0, ""},
            {"angles", HM_ROLE_INPUT, HM_DTYPE_F64, {2}, 0, ""}};
  }
  Circuit circuit(const Sizes& sizes, void* const* operands) const override {
    const double gamma = reals(operands[3])[0], beta = reals(operands[3])[1];
    Circuit out;
    for (int e = 0; e < sizes.qubits + sizes.qubits / 2; ++e) {
      const std::int32_t a = ints(operands[1])[2 * e], b = ints(operands[1])[2 * e + 1];
      if (a < 0 || b < 0 || a >= sizes.qubits || b >= sizes.qubits) {
        halmark::plugin::invalid("an edge names a qubit that is not there");
      }
      const double angle = -gamma * reals(operands[2])[e];
      out.push_back(phase_gate(bit(a), std::polar(1.0, angle)));
      out.push_back(phase_gate(bit(b), std::polar(1.0, angle)));
      out.push_back(phase_gate(bit(a) | bit(b), std::polar(1.0, -2 * angle)));
    }
    const Complex turn{0, -std::sin(beta)};
    for (int q = 0; q < sizes.qubits; ++q) {
      out.push_back({.target = q, .m = {std::cos(beta), turn, turn, std::cos(beta)}});
    }
    return out;
  }
};

}  // namespace

const Kernel& ghz_kernel() {
  static const Ghz kernel;
  return kernel;
}
const Kernel& qft_kernel() {
  static const Qft kernel;
  return kernel;
}
const Kernel& random_circuit_kernel() {
  static const RandomCircuit kernel;
  return kernel;
}
const Kernel& gate_layers_kernel() {
  static const GateLayers kernel;
  return kernel;
}
const Kernel& qaoa_layer_kernel() {
  static const QaoaLayer kernel;
  return kernel;
}

}  // namespace hm_qpu
