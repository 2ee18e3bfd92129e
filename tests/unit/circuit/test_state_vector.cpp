// The plain simulator that contracts trust: norm, inverses, and the DFT by its circuit.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "circuit/qasm.hpp"

namespace halmark::circuit {
namespace {

StateVector some_state(int qubits) {
  StateVector state(qubits);
  for (int q = 0; q < qubits; ++q) {
    state.apply(rotation_gate(0.3 + q, 0.7 * q, 1.1 - q), q);
    if (q > 0) state.multiply((std::uint64_t{1} << q) | 1, std::polar(1.0, 0.4 * q));
  }
  return state;
}

TEST(StateVector, the_norm_stays_one) { EXPECT_NEAR(some_state(9).norm(), 1, 1e-12); }

TEST(StateVector, a_gate_and_its_inverse_leave_the_state) {
  const StateVector before = some_state(6);
  StateVector after = before;
  const Gate2 gate = rotation_gate(0.9, 0.2, -1.3), inverse = rotation_gate(-0.9, 1.3, -0.2);
  after.apply(gate, 3, 0b10001);
  double moved = 0;
  for (std::size_t i = 0; i < 64; ++i)
    moved += std::abs(after.amplitudes()[i] - before.amplitudes()[i]);
  EXPECT_GT(moved, 0.1);
  after.apply(inverse, 3, 0b10001);
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(std::abs(after.amplitudes()[i] - before.amplitudes()[i]), 0, 1e-14);
  }
}

TEST(StateVector, a_layer_is_its_gates_one_by_one) {
  StateVector together = some_state(13), apart = together;
  std::vector<Gate2> gates;
  for (int q = 0; q < 13; ++q) gates.push_back(rotation_gate(0.2 * q, q, 0.5));
  together.apply_layer(gates);
  for (int q = 12; q >= 0; --q) apart.apply(gates[static_cast<std::size_t>(q)], q);
  for (std::size_t i = 0; i < together.amplitudes().size(); ++i) {
    ASSERT_NEAR(std::abs(together.amplitudes()[i] - apart.amplitudes()[i]), 0, 1e-13);
  }
}

// The circuit of the quantum Fourier transform, from text, against the sum of the DFT.
TEST(StateVector, the_circuit_of_the_qft_is_the_dft) {
  std::string text = "qreg q[4];";
  for (int q = 3; q >= 0; --q) {
    text += "h q[" + std::to_string(q) + "];";
    for (int lower = q - 1; lower >= 0; --lower) {
      text += "cp(pi/" + std::to_string(1 << (q - lower)) + ") q[" + std::to_string(lower) +
              "],q[" + std::to_string(q) + "];";
    }
  }
  text += "swap q[0],q[3];swap q[1],q[2];";
  const StateVector before = some_state(4);
  StateVector after = before;
  for (const GateUse& gate : parse_qasm(text, "qft").gates) apply(after, gate);
  for (std::size_t k = 0; k < 16; ++k) {
    Amplitude sum;
    for (std::size_t j = 0; j < 16; ++j) {
      sum += before.amplitudes()[j] *
             std::polar(0.25, 2 * std::numbers::pi * static_cast<double>(j * k) / 16);
    }
    EXPECT_NEAR(std::abs(after.amplitudes()[k] - sum), 0, 1e-14);
  }
}

}  // namespace
}  // namespace halmark::circuit
