// Counts of measured bits: from the exact state, or from Monte-Carlo trajectories with noise.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "circuit/circuit.hpp"

namespace halmark::circuit {

inline constexpr int sampled_qubits_max = 26;  // 1 GiB of amplitudes

// After each gate a Pauli that is not the identity, drawn evenly from those of its qubits, with
// probability error * (d + 1) / d: `error` is the average infidelity, as benchmarking states it,
// and d = 2^qubits (Nielsen 2002, quant-ph/0205035). Bits are read wrong with `readout_error`.
struct Noise {
  double one_qubit_error = 0, two_qubit_error = 0, readout_error = 0;
};

// Bit strings, the highest bit first, to how often they came. A circuit that measures nothing is
// measured whole. Throws Error (exit 2) for more qubits than can be simulated.
std::map<std::string, std::int64_t> sample(const Circuit& circuit, std::int64_t shots,
                                           std::uint64_t seed, const Noise& noise = {});

}  // namespace halmark::circuit
