// A circuit as OpenQASM text.
#include <charconv>

#include "circuit/qasm.hpp"

namespace halmark::circuit {
namespace {

std::string exact_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

std::string qasm_text(const Circuit& circuit, int version) {
  const std::string qubits = std::to_string(circuit.qubits), bits = std::to_string(circuit.bits);
  std::string out = version == 2
                        ? "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[" + qubits + "];\n"
                        : "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[" + qubits + "] q;\n";
  if (circuit.bits > 0) {
    out += version == 2 ? "creg c[" + bits + "];\n" : "bit[" + bits + "] c;\n";
  }
  for (const GateUse& gate : circuit.gates) {
    out += gate.name;
    for (std::size_t i = 0; i < gate.angles.size(); ++i) {
      out += (i == 0 ? "(" : ",") + exact_text(gate.angles[i]);
    }
    if (!gate.angles.empty()) out += ')';
    for (std::size_t i = 0; i < gate.qubits.size(); ++i) {
      out += (i == 0 ? " q[" : ",q[") + std::to_string(gate.qubits[i]) + ']';
    }
    out += ";\n";
  }
  for (const Measured& m : circuit.measured) {
    const std::string q = "q[" + std::to_string(m.qubit) + ']',
                      c = "c[" + std::to_string(m.bit) + ']';
    out += version == 2 ? "measure " + q + " -> " + c + ";\n" : c + " = measure " + q + ";\n";
  }
  return out;
}

}  // namespace halmark::circuit
