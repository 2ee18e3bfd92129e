// Gates by the matrices that the OpenQASM specification and Qiskit's library define, and circuits
// by the gates and layers that they count.
// The plain simulator that contracts trust: norm, inverses, and the DFT by its circuit.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <sstream>

#include "circuit/circuit.hpp"
#include "circuit/qasm.hpp"
#include "core/numeric/cast.hpp"

namespace halmark::circuit {
namespace {

constexpr double pi = std::numbers::pi;
using Matrix = std::array<Amplitude, 4>;  // row by row

Amplitude turn(double angle) { return std::polar(1.0, angle); }

Matrix u(double theta, double phi, double lambda) {
  const double c = std::cos(theta / 2), s = std::sin(theta / 2);
  return {c, -turn(lambda) * s, turn(phi) * s, turn(phi + lambda) * c};
}

struct Named {
  std::string name;
  std::vector<double> angles;
  Matrix matrix;
};

const double r = 1 / std::sqrt(2.0);
const Amplitude i{0, 1};

const std::vector<Named> one_qubit = {
    {"id", {}, {1, 0, 0, 1}},
    {"x", {}, {0, 1, 1, 0}},
    {"y", {}, {0, -i, i, 0}},
    {"z", {}, {1, 0, 0, -1}},
    {"h", {}, {r, r, r, -r}},
    {"s", {}, {1, 0, 0, i}},
    {"sdg", {}, {1, 0, 0, -i}},
    {"t", {}, {1, 0, 0, Amplitude(r, r)}},
    {"tdg", {}, {1, 0, 0, Amplitude(r, -r)}},
    {"sx", {}, {0.5 + 0.5 * i, 0.5 - 0.5 * i, 0.5 - 0.5 * i, 0.5 + 0.5 * i}},
    {"rx", {0.7}, {std::cos(0.35), -i* std::sin(0.35), -i* std::sin(0.35), std::cos(0.35)}},
    {"ry", {0.7}, {std::cos(0.35), -std::sin(0.35), std::sin(0.35), std::cos(0.35)}},
    {"rz", {0.7}, {turn(-0.35), 0, 0, turn(0.35)}},
    {"p", {0.7}, {1, 0, 0, turn(0.7)}},
    {"u1", {0.7}, {1, 0, 0, turn(0.7)}},
    {"u2", {0.3, 0.9}, u(pi / 2, 0.3, 0.9)},
    {"u3", {0.7, 0.3, 0.9}, u(0.7, 0.3, 0.9)},
    {"u", {0.7, 0.3, 0.9}, u(0.7, 0.3, 0.9)},
    {"U", {0.7, 0.3, 0.9}, u(0.7, 0.3, 0.9)}};

void expect_near(const Amplitude& got, const Amplitude& wanted, const std::string& what) {
  EXPECT_NEAR(std::abs(got - wanted), 0, 1e-14) << what;
}

// Column by column: what becomes of |0> and of |1>.
TEST(Gates, of_one_qubit_are_their_matrices) {
  for (const Named& gate : one_qubit) {
    for (const int column : {0, 1}) {
      StateVector state(1);
      if (column == 1) apply(state, {"x", {}, {0}});
      apply(state, {gate.name, gate.angles, {0}});
      for (const int row : {0, 1}) {
        expect_near(state.amplitudes()[as_size(row)], gate.matrix[as_size(2 * row + column)],
                    gate.name);
      }
    }
  }
}

// On qubits 2 (control) and 0 (target) of three: nothing without the control, the matrix with it.
TEST(Gates, with_a_control_act_where_it_is_one) {
  for (const std::string name : {"cx", "CX", "cy", "cz", "ch", "cp", "cu1", "crx", "cry", "crz"}) {
    const Named& target =
        *std::ranges::find(one_qubit, name == "CX" ? "x" : name.substr(1), &Named::name);
    for (const bool is_set : {false, true}) {
      for (const int column : {0, 1}) {
        StateVector state(3);
        if (is_set) apply(state, {"x", {}, {2}});
        if (column == 1) apply(state, {"x", {}, {0}});
        apply(state, {name, target.angles, {2, 0}});
        for (const int row : {0, 1}) {
          const Amplitude wanted =
              is_set ? target.matrix[as_size(2 * row + column)] : Amplitude(row == column ? 1 : 0);
          expect_near(state.amplitudes()[as_size((is_set ? 4 : 0) + row)], wanted, name);
        }
      }
    }
  }
}

TEST(Gates, of_three_and_swaps_permute_the_basis) {
  const auto image = [](const GateUse& gate, std::size_t basis) {
    StateVector state(3);
    for (int q = 0; q < 3; ++q) {
      if ((basis >> q & 1) != 0) apply(state, {"x", {}, {q}});
    }
    apply(state, gate);
    std::size_t out = 8;
    for (std::size_t k = 0; k < 8; ++k) {
      if (std::abs(state.amplitudes()[k]) > 0.5) out = k;
    }
    return out;
  };
  for (std::size_t basis = 0; basis < 8; ++basis) {
    const std::size_t a = basis & 1, b = basis >> 1 & 1, c = basis >> 2 & 1;
    EXPECT_EQ(image({"swap", {}, {0, 2}}, basis), c | b << 1 | a << 2);
    EXPECT_EQ(image({"ccx", {}, {0, 1, 2}}, basis), basis ^ (a & b) << 2);
    EXPECT_EQ(image({"cswap", {}, {0, 1, 2}}, basis), a != 0 ? a | c << 1 | b << 2 : basis);
  }
}

// Qiskit's circuit library (num_params and num_qubits of its classes), qelib1.inc, stdgates.inc.
TEST(Gates, have_as_many_angles_and_qubits_as_the_library_says) {
  struct Shape {
    const char* names;
    int angles, qubits;
  };
  std::size_t names = 0;
  for (const auto& [all, angles, qubits] : {Shape{"id x y z h s sdg t tdg sx sxdg", 0, 1},
                                            {"rx ry rz p u1 u0 phase", 1, 1},
                                            {"u2 r", 2, 1},
                                            {"u3 u U", 3, 1},
                                            {"cx CX cy cz ch csx cs csdg swap iswap ecr dcx", 0, 2},
                                            {"cp cu1 cphase crx cry crz rxx ryy rzz rzx", 1, 2},
                                            {"cu3", 3, 2},
                                            {"cu", 4, 2},
                                            {"ccx ccz cswap rccx", 0, 3},
                                            {"c3x c3sqrtx c3sx rc3x", 0, 4},
                                            {"c4x", 0, 5}}) {
    std::istringstream words(all);
    for (std::string name; words >> name; ++names) {
      const GateKind* kind = find_gate(name);
      ASSERT_NE(kind, nullptr) << name;
      EXPECT_EQ(kind->angles, angles) << name;
      EXPECT_EQ(kind->qubits(), qubits) << name;
    }
  }
  EXPECT_EQ(gate_names().size(), names);
  EXPECT_EQ(find_gate(""), nullptr);
  EXPECT_EQ(find_gate("ccccz"), nullptr);
}

void expect_counts(const std::string& body, std::int64_t one, std::int64_t two, std::int64_t depth,
                   std::int64_t two_depth) {
  const GateCounts got = count_gates(parse_qasm("qreg q[4];" + body, "test"));
  EXPECT_THAT((std::vector{got.one_qubit, got.two_qubit, got.depth, got.two_qubit_depth}),
              testing::ElementsAre(one, two, depth, two_depth))
      << body;
}

// A swap is three controlled X, a Toffoli gate six and nine of one qubit, a controlled swap eight.
TEST(GateCounts, are_those_of_what_gates_decompose_into) {
  expect_counts("", 0, 0, 0, 0);
  expect_counts("h q[0];", 1, 0, 1, 0);
  expect_counts("crx(1) q[0],q[1];", 0, 1, 1, 1);
  expect_counts("swap q[0],q[1];", 0, 3, 3, 3);
  expect_counts("ccx q[0],q[1],q[2];", 9, 6, 6, 6);
  expect_counts("cswap q[0],q[1],q[2];", 9, 8, 8, 8);
}

TEST(GateCounts, depth_is_the_longest_way_through_the_qubits) {
  expect_counts("h q[0];h q[1];h q[2];", 3, 0, 1, 0);
  expect_counts("h q[0];h q[0];cx q[0],q[1];h q[1];", 3, 1, 4, 1);
  expect_counts("cx q[0],q[1];cx q[2],q[3];", 0, 2, 1, 1);
  expect_counts("cx q[0],q[1];cx q[1],q[2];cx q[2],q[3];", 0, 3, 3, 3);
  expect_counts("cx q[0],q[1];h q[3];h q[3];h q[3];h q[3];cx q[0],q[3];", 4, 2, 5, 2);
  expect_counts("swap q[0],q[1];cx q[2],q[3];cx q[1],q[2];", 0, 5, 4, 4);
}

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
  for (int q = 12; q >= 0; --q) apart.apply(gates[as_size(q)], q);
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
      sum +=
          before.amplitudes()[j] * std::polar(0.25, 2 * std::numbers::pi * as_double(j * k) / 16);
    }
    EXPECT_NEAR(std::abs(after.amplitudes()[k] - sum), 0, 1e-14);
  }
}

}  // namespace
}  // namespace halmark::circuit
