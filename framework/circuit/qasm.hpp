// OpenQASM 2 and 3 as far as a circuit is known before it runs: gates of the standard libraries and
// of the file with their modifiers, constants, loops with constant bounds, conditions on constants,
// measurements at the end. Everything else is refused by name and place.
#pragma once

#include <string>
#include <string_view>

#include "circuit/circuit.hpp"

namespace halmark::circuit {

inline constexpr std::int64_t circuit_qubits_max = 4096;
inline constexpr std::size_t circuit_gates_max = 1'000'000;

// Throws Error (exit 2) with where:line:column.
Circuit parse_qasm(std::string_view text, const std::string& where);
Circuit read_qasm(const std::string& path);

// Text that parse_qasm reads back to the same circuit; version 2 or 3. Gates that the library of
// that version has not are written as what they are made of.
std::string qasm_text(const Circuit& circuit, int version);

}  // namespace halmark::circuit
