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

// What a name of a gate means: a gate of `base` with the first `controls` qubits as controls, or
// what `body` says of angles t0, t1, ... and qubits a, b, c, d.
struct GateKind {
  std::string_view name;
  int angles = 0, controls = 0;
  std::string_view base;          // x, h, u, ..., or swap; "" with a body
  std::string_view where = "23";  // the versions of OpenQASM whose library has it
  std::string_view body = {};
  int targets = 1;
  int qubits() const { return controls + targets; }
};
const GateKind* find_gate(std::string_view name);
std::vector<std::string> gate_names();

struct GateUse {
  std::string name;  // of a GateKind
  std::vector<double> angles;
  std::vector<int> qubits;  // controls first
  double power = 1;         // of the gate itself, without its controls
  int controls = 0;         // beside those of its kind
};
// "h", "pow(0.5) @ h", "ctrl(2) @ sx": as OpenQASM 3 writes it.
std::string gate_text(const GateUse& gate);

// A gate without qubits: a global phase, which says something under a control alone.
inline constexpr const char* global_phase = "gphase";

// The modifiers of OpenQASM 3. A gate that has a name of its own afterwards gets it. Several gates
// where one is not enough.
std::vector<GateUse> inverse_of(const GateUse& gate);
std::vector<GateUse> undone(const std::vector<GateUse>& gates);
std::vector<GateUse> power_of(const GateUse& gate, double power);  // of one qubit
std::vector<GateUse> controlled(const GateUse& gate, const std::vector<int>& controls);
// What the body of its kind says; the gate alone where its kind has none.
std::vector<GateUse> definition_of(const GateUse& gate);

struct Measured {
  int qubit = 0, bit = 0;
};

struct Circuit {
  int qubits = 0, bits = 0;
  std::vector<GateUse> gates;
  std::vector<Measured> measured;  // empty = nothing is
};

// How often each gate stands there, gates that the file defines as what they are made of.
std::map<std::string, std::int64_t> counts_by_name(const Circuit& circuit);

struct GateCounts {
  std::int64_t one_qubit = 0, two_qubit = 0;  // larger gates as what they decompose into
  std::int64_t depth = 0, two_qubit_depth = 0;
};
// A Toffoli gate is 6 controlled X and 9 gates of one qubit (Nielsen and Chuang, figure 4.9), k
// controls by a Gray code are 2^(k+1) - 2 and 2^(k+1) + 1 (Barenco et al. 1995, lemma 7.1), a
// controlled swap 8 and 9. A swap is 3 controlled X, another two-qubit gate one native gate.
GateCounts count_gates(const Circuit& circuit);

void apply(StateVector& state, const GateUse& gate);

}  // namespace halmark::circuit
