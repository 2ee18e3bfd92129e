// A quantum circuit as a value: gates in order, then measurements. Qubit q is bit q of an
// amplitude's index; registers of a file are numbered one behind the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/state_vector.hpp"

namespace halmark::circuit {

// What a name of a gate means: a gate of `base` with the first `controls` qubits as controls.
struct GateKind {
  std::string_view name;
  int angles = 0, controls = 0;
  std::string_view base;  // x, h, u, ..., or swap
  int qubits() const { return controls + (base == "swap" ? 2 : 1); }
};
const GateKind* find_gate(std::string_view name);
std::vector<std::string> gate_names();

struct GateUse {
  std::string name;  // of a GateKind
  std::vector<double> angles;
  std::vector<int> qubits;
};

struct Measured {
  int qubit = 0, bit = 0;
};

struct Circuit {
  int qubits = 0, bits = 0;
  std::vector<GateUse> gates;
  std::vector<Measured> measured;  // empty = nothing is
};

struct GateCounts {
  std::int64_t one_qubit = 0, two_qubit = 0;  // three-qubit gates as what they decompose into
  std::int64_t depth = 0, two_qubit_depth = 0;
};
// A Toffoli gate is 6 controlled X and 9 gates of one qubit (Nielsen and Chuang, figure 4.9), a
// controlled swap 8 and 9. A swap is 3 controlled X, another two-qubit gate one native gate.
GateCounts count_gates(const Circuit& circuit);

void apply(StateVector& state, const GateUse& gate);

}  // namespace halmark::circuit
