// Gates as circuits state them: everything is a dense gate of one qubit, perhaps controlled, or a
// phase. Qubit q is bit q of an amplitude's index.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

namespace hm_qpu {

using Complex = std::complex<double>;
using Mask = std::uint64_t;

struct Gate {
  int target = -1;                // -1 = a phase
  Mask mask = 0;                  // controls of a dense gate; the qubits of a phase, at most two
  std::array<Complex, 4> m = {};  // row-major; a phase multiplies by m[0] where all bits are set

  bool is_phase() const { return target < 0; }
  Mask target_bit() const { return is_phase() ? 0 : Mask{1} << target; }
};

using Circuit = std::vector<Gate>;

Gate phase_gate(Mask mask, Complex factor);
Gate hadamard(int target);
Gate not_gate(int target, Mask controls);
// U(theta, phi, lambda) of OpenQASM 3 without its global phase.
Gate rotation(int target, double theta, double phi, double lambda);

}  // namespace hm_qpu
