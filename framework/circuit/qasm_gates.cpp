#include "circuit/qasm_gates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "circuit/qasm.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

constexpr int definitions_deep = 64;

std::size_t controls_of(const std::vector<Modifier>& modifiers) {
  double out = 0;
  for (const Modifier& one : modifiers) {
    const bool is_control =
        one.kind == Modifier::Kind::control || one.kind == Modifier::Kind::negative_control;
    if (is_control) out += one.number;
  }
  return as_size(out);
}

std::vector<GateUse> under_controls(const std::vector<GateUse>& gates,
                                    const std::vector<int>& controls) {
  std::vector<GateUse> out;
  for (const GateUse& gate : gates) {
    if (gate.name == global_phase) {
      GateUse phase{"p", gate.angles, {controls.back()}};
      const std::vector<int> others(controls.begin(), controls.end() - 1);
      for (GateUse& one : others.empty() ? std::vector{phase} : controlled(phase, others)) {
        out.push_back(std::move(one));
      }
      continue;
    }
    for (GateUse& one : controlled(gate, controls)) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

void GateUses::define(const Token& name, GateDefinition definition) {
  if (definitions_.contains(name.text)) {
    tokens_.refuse(name, "'" + name.text + "' is there already");
  }
  definitions_[name.text] = std::move(definition);
}

void GateUses::require_known(const Token& name) const {
  if (definitions_.contains(name.text) || find_gate(name.text) != nullptr ||
      name.text == global_phase) {
    return;
  }
  std::vector<std::string> known = gate_names();
  for (const auto& [own, definition] : definitions_) known.push_back(own);
  tokens_.refuse(name, "unknown gate '" + name.text + "'", suggestion(name.text, known));
}

void GateUses::check_shape(const GateCall& call) const {
  std::size_t angles = 1, qubits = 0;
  const auto own = definitions_.find(call.at.text);
  if (own != definitions_.end()) {
    angles = own->second.parameters.size();
    qubits = own->second.qubits.size();
  } else if (const GateKind* kind = find_gate(call.at.text)) {
    angles = as_size(kind->angles);
    qubits = as_size(kind->qubits());
  }
  qubits += controls_of(call.modifiers);
  if (call.angles.size() == angles && call.operands.size() == qubits) return;
  tokens_.refuse(call.at, "'" + call.at.text + "' takes " + std::to_string(angles) +
                              " angles and " + std::to_string(qubits) + " qubits, got " +
                              std::to_string(call.angles.size()) + " and " +
                              std::to_string(call.operands.size()));
}

// Registers stand for their elements one by one; single qubits are repeated.
void GateUses::use(const GateCall& call) {
  check_shape(call);
  std::size_t width = 1;
  for (const auto& each : call.operands) {
    if (each.size() != 1 && width != 1 && each.size() != width) {
      tokens_.refuse(call.at, "registers of different sizes in one gate");
    }
    width = std::max(width, each.size());
  }
  for (std::size_t i = 0; i < width; ++i) {
    std::vector<int> qubits;
    for (const auto& each : call.operands) qubits.push_back(each[each.size() == 1 ? 0 : i]);
    for (std::size_t a = 0; a < qubits.size(); ++a) {
      if (std::count(qubits.begin(), qubits.end(), qubits[a]) > 1) {
        tokens_.refuse(call.at, "a gate on the same qubit twice");
      }
    }
    for (GateUse& gate : modified(call, qubits)) add(call.at, std::move(gate));
  }
}

GateUses::Gates GateUses::plain(const Token& name, const std::vector<double>& angles,
                                const std::vector<int>& qubits) {
  const auto own = definitions_.find(name.text);
  if (own == definitions_.end()) {
    Gates out{{name.text, angles, qubits}};
    // Version 3 has it with a phase, which says something under a control.
    if (name.text == "U") out.push_back({global_phase, {angles[0] / 2}, {}});
    return out;
  }
  if (depth_ == definitions_deep) tokens_.refuse(name, "gates are defined by more than 64 others");
  const std::size_t outer = scopes_.enter_gate();
  const GateDefinition& definition = own->second;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    scopes_.declare(definition.parameters[i], {.number = angles[i], .type = "float"});
  }
  for (std::size_t i = 0; i < qubits.size(); ++i) {
    scopes_.declare(definition.qubits[i], {.kind = Value::Kind::qubits, .places = {qubits[i]}});
  }
  Gates out;
  Gates* const before = std::exchange(into_, &out);
  const std::size_t back = tokens_.at();
  ++depth_;
  bodies_.read_body(definition);
  --depth_;
  tokens_.go_to(back);
  into_ = before;
  scopes_.leave_gate(outer);
  return out;
}

// The modifier that stands next to the gate comes first; controls of the ones before it stand
// before its own.
GateUses::Gates GateUses::modified(const GateCall& call, const std::vector<int>& qubits) {
  std::size_t left = controls_of(call.modifiers);
  Gates out = plain(call.at, call.angles, {qubits.begin() + std::ptrdiff_t(left), qubits.end()});
  for (auto one = call.modifiers.rbegin(); one != call.modifiers.rend(); ++one) {
    if (one->kind == Modifier::Kind::inverse) {
      out = undone(out);
    } else if (one->kind == Modifier::Kind::power) {
      out = raised(call, out, one->number);
    } else {
      const auto count = as_size(one->number);
      const std::vector<int> controls(qubits.begin() + std::ptrdiff_t(left - count),
                                      qubits.begin() + std::ptrdiff_t(left));
      left -= count;
      out = under_controls(out, controls);
      if (one->kind == Modifier::Kind::control) continue;
      Gates flips;
      for (const int control : controls) flips.push_back({"x", {}, {control}});
      out.insert(out.begin(), flips.begin(), flips.end());
      out.insert(out.end(), flips.begin(), flips.end());
    }
  }
  return out;
}

GateUses::Gates GateUses::raised(const GateCall& call, const Gates& gates, double power) const {
  const bool is_whole = power == std::floor(power) && std::fabs(power) <= 1e6;
  if (gates.size() == 1 && gates[0].name == global_phase) {
    return {{global_phase, {gates[0].angles[0] * power}, {}}};
  }
  // (U^a)^b is U^(a b) where b is whole, or where a leaves the phases of U on their branch.
  const bool is_single =
      gates.size() == 1 && find_gate(gates[0].name)->qubits() == 1 && gates[0].controls == 0;
  if (is_single && (is_whole || (gates[0].power > -1 && gates[0].power <= 1))) {
    return power_of(gates[0], power);
  }
  if (!is_whole) {
    tokens_.refuse(call.at,
                   "not read: a power that is not whole, of a gate of several or of another power",
                   "write the circuit out");
  }
  const Gates once = power < 0 ? undone(gates) : gates;
  Gates out;
  if (once.empty()) return out;
  for (auto i = std::llround(std::fabs(power)); i > 0; --i) {
    out.insert(out.end(), once.begin(), once.end());
    if (out.size() > circuit_gates_max) tokens_.refuse(call.at, "more than 10^6 gates");
  }
  return out;
}

void GateUses::add(const Token& at, GateUse gate) {
  tokens_.spend(statement_steps);
  Gates& into = into_ != nullptr ? *into_ : gates_;
  if (into.size() >= circuit_gates_max) tokens_.refuse(at, "more than 10^6 gates");
  if (into_ == nullptr) {
    if (gate.qubits.empty()) return;
    for (const int qubit : gate.qubits) {
      flag(touched_, qubit) = true;
      if (!flag(measured_, qubit)) continue;
      tokens_.refuse(at, "a gate on a qubit that was measured before",
                     "only measurements at the end are read");
    }
  }
  into.push_back(std::move(gate));
}

}  // namespace halmark::circuit
