// Which gates a pass takes: in the circuit's order, each whose target lies in the block or still
// finds a place there, and that commutes with what the pass left out.
#include "plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hm_qpu {
namespace {

// Gates that a pass left out. Uses as a control or phase are diagonal and commute among each other.
struct LeftOut {
  Mask targets = 0, diagonals = 0;

  void add(const Gate& gate) {
    targets |= gate.target_bit();
    diagonals |= gate.mask;
  }
  bool lets_pass(const Gate& gate) const {
    return (gate.target_bit() & (targets | diagonals)) == 0 && (gate.mask & targets) == 0;
  }
};

// A gate of one qubit as diag(1, after) * turn * diag(1, before), but for a factor that the pass
// makes good. The turn: [1 -ratio; ratio 1], or of exchanged rows [-ratio 1; 1 ratio].
void add_simple(const Gate& gate, std::vector<Gate>& out) {
  if (gate.is_phase() || gate.mask != 0) return out.push_back(gate);
  const auto unit = [](Complex value, Complex from) {
    return value == Complex{} ? Complex{1} : value / std::abs(value) / from;
  };
  const auto add_phase = [&](Mask bits, Complex factor) {
    if (factor != Complex{1}) out.push_back(phase_gate(bits, factor));
  };
  const auto& m = gate.m;
  const double c = std::abs(m[0]), s = std::abs(m[2]);
  const Complex global = unit(m[0], 1), after = unit(m[2], global);
  // Of two entries, the larger says the phase: the other may be rounding alone.
  if (s <= c) {
    add_phase(0, global);
    add_phase(gate.target_bit(), unit(m[3], global * after));
    if (s > 0) out.push_back({.target = gate.target, .m = {1, -s / c, s / c, 1}});
    add_phase(gate.target_bit(), after);
    return;
  }
  // [c -s; s c] = -s * diag(1, -1) * [-c/s 1; 1 c/s].
  add_phase(0, -global);
  add_phase(gate.target_bit(), unit(-m[1], global));
  out.push_back({.target = gate.target, .m = {-c / s, 1, 1, c / s}});
  add_phase(gate.target_bit(), -after);
}

struct Selection {
  Mask active = 0;  // qubits of the block
  std::vector<Gate> taken, rest;
};

// A diagonal at the end of a pass waits for the next one, which begins with one as well.
void leave_last_phases(std::span<const Gate> gates, std::vector<bool>& is_taken) {
  Mask turned = 0;
  for (std::size_t i = gates.size(); i-- > 0;) {
    if (!is_taken[i]) continue;
    turned |= gates[i].target_bit();
    if (gates[i].is_phase() && (gates[i].mask & turned) == 0) is_taken[i] = false;
  }
}

Selection select(const PlanShape& shape, std::span<const Gate> gates) {
  Selection out;
  out.active = (Mask{1} << shape.low) - 1;
  int room = shape.block - shape.low;
  LeftOut left;
  std::vector<bool> is_taken(gates.size());
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const Gate& gate = gates[i];
    const bool is_new = (gate.target_bit() & ~out.active) != 0;
    is_taken[i] = left.lets_pass(gate) && !(is_new && room == 0);
    if (!is_taken[i]) {
      left.add(gate);
      continue;
    }
    if (is_new) --room;
    out.active |= gate.target_bit();
  }
  if (std::ranges::find(is_taken, false) != is_taken.end()) leave_last_phases(gates, is_taken);
  for (std::size_t i = 0; i < gates.size(); ++i) {
    (is_taken[i] ? out.taken : out.rest).push_back(gates[i]);
  }
  // Places that no gate needs go to the lowest qubits, whose memory is contiguous.
  for (int q = shape.low; room > 0; ++q) {
    const Mask bit = Mask{1} << q;
    if ((out.active & bit) != 0) continue;
    out.active |= bit;
    --room;
  }
  return out;
}

Mask local_bits(const PlanShape& shape, std::span<const int> high, Mask global) {
  Mask local = global & ((Mask{1} << shape.low) - 1);
  for (std::size_t i = 0; i < high.size(); ++i) {
    if ((global >> high[i] & 1) != 0) local |= Mask{1} << (static_cast<std::size_t>(shape.low) + i);
  }
  return local;
}

}  // namespace

std::vector<Pass> plan_passes(const PlanShape& shape, std::span<const Gate> circuit) {
  std::vector<Pass> passes;
  std::vector<Gate> rest;
  for (const Gate& gate : circuit) add_simple(gate, rest);
  do {
    Selection chosen = select(shape, rest);
    Pass pass;
    for (int q = shape.low; q < shape.qubits; ++q) {
      if ((chosen.active >> q & 1) != 0) pass.high.push_back(q);
    }
    std::vector<LocalGate> gates;
    for (const Gate& gate : chosen.taken) {
      LocalGate local{.gate = gate, .outer = gate.mask & ~chosen.active};
      local.gate.mask = local_bits(shape, pass.high, gate.mask & chosen.active);
      if (!gate.is_phase()) {
        local.gate.target = std::countr_zero(local_bits(shape, pass.high, gate.target_bit()));
      }
      gates.push_back(local);
    }
    fuse(gates, pass);
    passes.push_back(std::move(pass));
    rest = std::move(chosen.rest);
  } while (!rest.empty());
  return passes;
}

}  // namespace hm_qpu
