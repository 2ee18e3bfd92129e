// inv @, pow(k) @ and ctrl @ of single gates.
#include <algorithm>
#include <array>
#include <numbers>

#include "circuit/circuit.hpp"
#include "core/ranges.hpp"
#include "core/text/text.hpp"

namespace halmark::circuit {
namespace {

constexpr std::array<std::string_view, 9> rotations = {"rx",  "ry",  "rz",  "p", "rxx",
                                                       "ryy", "rzz", "rzx", "r"};
constexpr std::array<std::string_view, 6> own_inverses = {"id", "x", "y", "z", "h", "swap"};
constexpr std::array<std::array<std::string_view, 2>, 3> pairs = {
    {{"s", "sdg"}, {"t", "tdg"}, {"sx", "sxdg"}}};

// What of a gate says how it is undone: its base, or its name where it has a body.
std::string_view root_of(const GateKind& kind) { return kind.base.empty() ? kind.name : kind.base; }

bool is_rotation(const GateKind& kind) { return contains(rotations, root_of(kind)); }

const GateKind* kind_with(std::string_view base, int controls, std::size_t angles) {
  for (const std::string& name : gate_names()) {
    const GateKind* kind = find_gate(name);
    if (kind->base == base && kind->controls == controls &&
        static_cast<std::size_t>(kind->angles) == angles) {
      return kind;
    }
  }
  return nullptr;
}

// A name that stands for all of the gate's controls, or the base and a count of them.
GateUse renamed(GateUse gate, std::string_view base) {
  const int controls = gate.controls + find_gate(gate.name)->controls;
  if (const GateKind* kind = kind_with(base, controls, gate.angles.size())) {
    gate.name = kind->name;
    gate.controls = 0;
  } else if (const GateKind* plain = kind_with(base, 0, gate.angles.size())) {
    gate.name = plain->name;
    gate.controls = controls;
  }
  return gate;
}

}  // namespace

std::string gate_text(const GateUse& gate) {
  std::string out;
  if (gate.controls > 0) {
    out += gate.controls == 1 ? "ctrl @ " : "ctrl(" + std::to_string(gate.controls) + ") @ ";
  }
  if (gate.power == -1) {
    out += "inv @ ";
  } else if (gate.power != 1) {
    out += "pow(" + number_text(gate.power, 17) + ") @ ";
  }
  return out + gate.name;
}

std::vector<GateUse> undone(const std::vector<GateUse>& gates) {
  std::vector<GateUse> out;
  for (auto gate = gates.rbegin(); gate != gates.rend(); ++gate) {
    for (GateUse& one : inverse_of(*gate)) out.push_back(std::move(one));
  }
  return out;
}

std::vector<GateUse> inverse_of(const GateUse& gate) {
  if (gate.name == global_phase) return {{global_phase, {-gate.angles[0]}, {}}};
  const GateKind& kind = *find_gate(gate.name);
  GateUse out = gate;
  if (gate.power != 1) {
    out.power = -gate.power;
    return {out};
  }
  const std::string_view root = root_of(kind);
  if (root == "u" || root == "cu") {
    out.angles[0] = -gate.angles[0];
    out.angles[1] = -gate.angles[2];
    out.angles[2] = -gate.angles[1];
    if (root == "cu") out.angles[3] = -gate.angles[3];
    return {out};
  }
  if (root == "u2") {
    out.angles = {-gate.angles[1] - std::numbers::pi, std::numbers::pi - gate.angles[0]};
    return {out};
  }
  if (root == "r") {
    out.angles[0] = -gate.angles[0];
    return {out};
  }
  if (is_rotation(kind)) {
    for (double& angle : out.angles) angle = -angle;
    return {out};
  }
  if (contains(own_inverses, root)) return {out};
  for (const auto& [one, other] : pairs) {
    if (root != one && root != other) continue;
    const std::string_view wanted = root == one ? other : one;
    GateUse named = renamed(gate, wanted);
    if (find_gate(named.name)->base == wanted) return {named};
  }
  return undone(definition_of(gate));
}

std::vector<GateUse> power_of(const GateUse& gate, double power) {
  const GateKind& kind = *find_gate(gate.name);
  GateUse out = gate;
  const bool scales = is_rotation(kind) && gate.power == 1;
  if (scales) {
    const std::size_t scaled = kind.name == "r" ? 1 : out.angles.size();
    for (std::size_t i = 0; i < scaled; ++i) out.angles[i] *= power;
    return {out};
  }
  if (power == 1) return {gate};
  if (power == -1) return inverse_of(gate);
  out.power *= power;
  return {out};
}

std::vector<GateUse> controlled(const GateUse& gate, const std::vector<int>& controls) {
  const GateKind& kind = *find_gate(gate.name);
  if (kind.base.empty()) {
    std::vector<GateUse> out;
    for (const GateUse& part : definition_of(gate)) {
      for (GateUse& one : controlled(part, controls)) out.push_back(std::move(one));
    }
    return out;
  }
  GateUse out = gate;
  out.qubits.insert(out.qubits.begin(), controls.begin(), controls.end());
  out.controls += static_cast<int>(controls.size());
  return {renamed(out, kind.base)};
}

}  // namespace halmark::circuit
