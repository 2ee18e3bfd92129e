// A circuit as OpenQASM text.
#include <charconv>

#include "circuit/qasm.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

std::string exact_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string statement(const GateUse& gate) {
  std::string out = gate_text(gate);
  for (std::size_t i = 0; i < gate.angles.size(); ++i) {
    out += (i == 0 ? "(" : ",") + exact_text(gate.angles[i]);
  }
  if (!gate.angles.empty()) out += ')';
  for (std::size_t i = 0; i < gate.qubits.size(); ++i) {
    out += (i == 0 ? " q[" : ",q[") + std::to_string(gate.qubits[i]) + ']';
  }
  return out + ";\n";
}

// Written by its name where the library of that version has it, else as what it is made of.
std::vector<GateUse> writable(const GateUse& gate, int version) {
  const GateKind& kind = *find_gate(gate.name);
  const bool is_known = kind.where.find(version == 2 ? '2' : '3') != std::string_view::npos;
  if (version == 2 && (gate.controls > 0 || gate.power != 1)) {
    throw refused("OpenQASM 2 has no '" + gate_text(gate) + "'", {}, "--as 3 writes it");
  }
  if (is_known) return {gate};
  std::vector<GateUse> out;
  if (!kind.body.empty()) {
    for (const GateUse& part : definition_of(gate)) {
      for (GateUse& one : writable(part, version)) out.push_back(std::move(one));
    }
    return out;
  }
  // The same gate by a name that is known, or its base under controls.
  for (const std::string& name : gate_names()) {
    const GateKind& other = *find_gate(name);
    if (other.base != kind.base || other.angles != kind.angles ||
        other.where.find(version == 2 ? '2' : '3') == std::string_view::npos) {
      continue;
    }
    GateUse same = gate;
    same.name = name;
    same.controls += kind.controls - other.controls;
    if (same.controls < 0 || (version == 2 && same.controls > 0)) continue;
    if (same.controls == gate.controls || version == 3) return {same};
  }
  if (kind.base == "id") return {{"id", {}, gate.qubits}};
  if (kind.base == "sxdg") return {{"sx", {}, gate.qubits, -gate.power, gate.controls}};
  throw refused("OpenQASM " + std::to_string(version) + " has no '" + gate_text(gate) + "'");
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
  for (const GateUse& use : circuit.gates) {
    for (const GateUse& gate : writable(use, version)) out += statement(gate);
  }
  for (const Measured& m : circuit.measured) {
    const std::string q = "q[" + std::to_string(m.qubit) + ']',
                      c = "c[" + std::to_string(m.bit) + ']';
    out += version == 2 ? "measure " + q + " -> " + c + ";\n" : c + " = measure " + q + ";\n";
  }
  return out;
}

}  // namespace halmark::circuit
