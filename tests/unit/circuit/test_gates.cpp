// Gates by the matrices that the OpenQASM specification and Qiskit's library define, and circuits
// by the gates and layers that they count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <sstream>

#include "circuit/circuit.hpp"
#include "circuit/qasm.hpp"

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
        expect_near(state.amplitudes()[static_cast<std::size_t>(row)],
                    gate.matrix[static_cast<std::size_t>(2 * row + column)], gate.name);
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
          const Amplitude wanted = is_set
                                       ? target.matrix[static_cast<std::size_t>(2 * row + column)]
                                       : Amplitude(row == column ? 1 : 0);
          expect_near(state.amplitudes()[static_cast<std::size_t>((is_set ? 4 : 0) + row)], wanted,
                      name);
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

}  // namespace
}  // namespace halmark::circuit
