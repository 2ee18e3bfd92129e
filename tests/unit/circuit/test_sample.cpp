// Counts against probabilities in closed form, within five standard deviations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "circuit/qasm.hpp"
#include "circuit/rank_request.hpp"
#include "circuit/sample.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::circuit {
namespace {

constexpr std::int64_t shots = 20'000;

double share(const std::map<std::string, std::int64_t>& counts, const std::string& bits) {
  const auto at = counts.find(bits);
  return at == counts.end() ? 0 : static_cast<double>(at->second) / shots;
}

double five_sigma(double p) { return 5 * std::sqrt(p * (1 - p) / shots); }

void expect_shares(const std::map<std::string, std::int64_t>& counts,
                   const std::map<std::string, double>& wanted) {
  for (const auto& [bits, p] : wanted) EXPECT_NEAR(share(counts, bits), p, five_sigma(p)) << bits;
}

Circuit of(const std::string& qubits, const std::string& body) {
  return parse_qasm("OPENQASM 2.0;qreg q[" + qubits + "];" + body, "test");
}

TEST(Sample, a_ghz_state_is_all_zeros_or_all_ones) {
  const auto counts = sample(of("4", "h q[0];cx q[0],q[1];cx q[1],q[2];cx q[2],q[3];"), shots, 3);
  EXPECT_EQ(counts.size(), 2u);
  expect_shares(counts, {{"0000", 0.5}, {"1111", 0.5}});
}

TEST(Sample, the_same_seed_gives_the_same_counts_and_another_does_not) {
  const Circuit circuit = of("3", "h q;");
  EXPECT_EQ(sample(circuit, shots, 1), sample(circuit, shots, 1));
  EXPECT_NE(sample(circuit, shots, 1), sample(circuit, shots, 2));
}

TEST(Sample, bits_are_those_that_the_circuit_measures_into) {
  const auto counts =
      sample(of("3", "creg c[2];x q[2];measure q[2]->c[1];measure q[0]->c[0];"), 10, 1);
  EXPECT_EQ(counts.begin()->first, "10");
  EXPECT_EQ(counts.size(), 1u);
}

TEST(Sample, controlled_gates_have_their_truth_tables) {
  for (const auto& [circuit, bits] :
       {std::pair{of("3", "x q[0];x q[1];ccx q[0],q[1],q[2];"), "111"},
        {of("3", "x q[0];ccx q[0],q[1],q[2];"), "001"},
        {of("3", "x q[0];x q[1];cswap q[0],q[1],q[2];"), "101"},
        {of("2", "x q[0];swap q[0],q[1];"), "10"},
        {of("2", "h q[1];x q[0];cz q[0],q[1];h q[1];"), "11"},
        {of("1", "sx q[0];sx q[0];"), "1"},
        {of("1", "h q[0];s q[0];sdg q[0];t q[0];tdg q[0];h q[0];"), "0"}}) {
    EXPECT_EQ(sample(circuit, 5, 1).begin()->first, bits) << qasm_text(circuit, 3);
  }
}

// Two of three Paulis flip a bit: a gate of average infidelity e leaves a wrong bit with 2/3 * 3/2
// e.
TEST(Sample, depolarising_and_readout_errors_come_as_often_as_said) {
  const Circuit flip = of("1", "x q[0];");
  expect_shares(sample(flip, shots, 5, {.one_qubit_error = 0.1}), {{"0", 0.1}});
  expect_shares(sample(flip, shots, 5, {.readout_error = 0.03}), {{"0", 0.03}});
  // Of fifteen Paulis on two qubits three leave both bits alone: 12/15 * 5/4 e.
  const Circuit pair = of("2", "cx q[0],q[1];");
  const auto counts = sample(pair, shots, 7, {.two_qubit_error = 0.2});
  EXPECT_NEAR(share(counts, "00"), 0.8, five_sigma(0.2));
}

// iqm-garnet states the error of pairs alone; nobody may take the others for none.
TEST(Answer, names_the_errors_that_a_noisy_device_does_not_state) {
  const report::View shown = answer({.path = test::in_source("/tests/data/circuits/ghz.qasm"),
                                     .samples = 10,
                                     .noise = "iqm-garnet"});
  EXPECT_EQ(shown.data["noise_unstated"], (Json{"one-qubit gates", "readout"}));
  EXPECT_THAT(shown.text, testing::HasSubstr("states no error of readout"));
}

// A gate of three qubits fails as one of two; of its 63 Paulis 7 leave all bits alone: 56/63 * 9/8
// e.
TEST(Sample, gates_of_three_qubits_have_the_error_of_pairs) {
  const Circuit toffoli = of("3", "ccx q[0],q[1],q[2];");
  const auto counts = sample(toffoli, shots, 9, {.two_qubit_error = 0.2});
  EXPECT_NEAR(share(counts, "000"), 0.8, five_sigma(0.2));
  EXPECT_EQ(sample(toffoli, 100, 9, {.one_qubit_error = 0.3}).size(), 1u);
}

// X and Y flip a bit, and Z does not: after H, Z flips and X does not.
TEST(Sample, each_pauli_comes_as_often_as_the_others) {
  const auto seen = sample(of("1", "h q[0];h q[0];"), shots, 11, {.one_qubit_error = 0.1});
  // Two gates; either X, Y of the second or Y, Z of the first flip it: p = 0.1 each, not both.
  EXPECT_NEAR(share(seen, "1"), 2 * 0.1 * 0.9, five_sigma(0.18));
  const auto pair = sample(of("2", "id q[0];cx q[0],q[1];"), shots, 13, {.two_qubit_error = 0.3});
  // 15 Paulis, each 0.3 * 5/4 / 15 = 0.025: X or Y flips a bit, I or Z does not, so four of them
  // give each pair of flips.
  for (const char* bits : {"01", "10", "11"}) {
    EXPECT_NEAR(share(pair, bits), 4 * 0.025, five_sigma(0.1)) << bits;
  }
}

TEST(Sample, each_bit_is_read_wrong_by_itself) {
  const auto counts = sample(of("2", "x q[0];"), shots, 17, {.readout_error = 0.2});
  expect_shares(counts, {{"01", 0.64}, {"00", 0.16}, {"11", 0.16}, {"10", 0.04}});
}

TEST(Sample, bits_that_nothing_is_measured_into_are_zero) {
  const auto counts = sample(of("1", "creg c[3];x q[0];measure q[0]->c[1];"), 4, 1);
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"10", 4}}))
      << "as long as the highest that is";
}

TEST(Sample, uneven_amplitudes_come_as_often_as_their_squares) {
  // cos^2 and sin^2 of pi / 6.
  const auto counts = sample(of("2", "ry(pi/3) q[0];ry(pi/3) q[1];"), shots, 19);
  expect_shares(counts, {{"00", 9.0 / 16}, {"01", 3.0 / 16}, {"11", 1.0 / 16}});
}

TEST(Sample, the_refusal_of_too_many_qubits_says_why) {
  EXPECT_THAT(test::error_of([] { sample(of("27", "h q[0];"), 1, 1); }).line(),
              testing::AllOf(testing::HasSubstr("27 qubits is not sampled: its state has 2^27"),
                             testing::HasSubstr("at most 26 qubits are")));
}

}  // namespace
}  // namespace halmark::circuit
