// OpenQASM 2 and 3, the subset that both share: registers, gates of the standard library with
// constant angles, barriers, measurements at the end. Everything else is refused by name and place.
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

// Text that parse_qasm reads back to the same circuit; version 2 or 3.
std::string qasm_text(const Circuit& circuit, int version);

}  // namespace halmark::circuit
