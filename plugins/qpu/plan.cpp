// Which gates a pass takes: in the circuit's order, each whose target lies in the block or still
// finds a place there, and that commutes with what the pass left out.
#include "plan.hpp"

#include <algorithm>
#include <bit>

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

struct Selection {
  Mask active = 0;  // qubits of the block
  std::vector<Gate> taken, rest;
};

Selection select(const PlanShape& shape, std::span<const Gate> gates) {
  Selection out;
  out.active = (Mask{1} << shape.low) - 1;
  int room = shape.block - shape.low;
  LeftOut left;
  for (const Gate& gate : gates) {
    const bool is_new = (gate.target_bit() & ~out.active) != 0;
    if (!left.lets_pass(gate) || (is_new && room == 0)) {
      left.add(gate);
      out.rest.push_back(gate);
      continue;
    }
    if (is_new) --room;
    out.active |= gate.target_bit();
    out.taken.push_back(gate);
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
  std::vector<Gate> rest(circuit.begin(), circuit.end());
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
    pass.steps = fuse(shape, gates);
    passes.push_back(std::move(pass));
    rest = std::move(chosen.rest);
  } while (!rest.empty());
  return passes;
}

}  // namespace hm_qpu
