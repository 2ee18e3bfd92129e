// Which set of its inputs an operand is read from, by its role, the mode and who shares constants.
#include "kernels/staged_inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernels/state_vector.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

using enum CacheMode;

TEST(SourceSet, of_inputs_and_outputs_rotates_only_where_everything_does) {
  for (const Role role : {Role::input, Role::output, Role::in_out}) {
    for (const auto& [mode, set] :
         {std::pair(rotate_all, 3), {flush, 3}, {hot, 0}, {rotate_const, 0}}) {
      EXPECT_EQ(source_set(role, mode, true, 3), set);
    }
  }
}

TEST(SourceSet, of_states_is_their_own_and_of_constants_unless_they_are_shared) {
  EXPECT_EQ(source_set(Role::state, hot, true, 3), 3);
  EXPECT_EQ(source_set(Role::constant, hot, false, 3), 3);
  EXPECT_EQ(source_set(Role::constant, rotate_all, true, 3), 0);
}

OperandSpec operand(Role role) {
  return {.name = "x", .role = role, .dtype = Dtype::f32, .dims = {64}};
}

TEST(StagedInputs, are_those_of_the_set_that_the_role_names) {
  const std::vector<OperandSpec> operands = {operand(Role::input), operand(Role::constant),
                                             operand(Role::state)};
  const GeneratedInputs first(5, operands, 0), third(5, operands, 2);
  StagedInputs staged(5, operands, rotate_const, true);
  staged.set_index(2);
  const auto read = [&](const InputReader& from, std::size_t index) {
    return values(from, operands[index], index);
  };
  EXPECT_EQ(read(staged, 0), read(first, 0));
  EXPECT_EQ(read(staged, 1), read(first, 1)) << "shared by all sets";
  EXPECT_EQ(read(staged, 2), read(third, 2));
  StagedInputs apart(5, operands, rotate_all, false);
  apart.set_index(2);
  for (const std::size_t index : {0u, 1u, 2u}) {
    EXPECT_EQ(read(apart, index), read(third, index));
    EXPECT_NE(read(apart, index), read(first, index));
  }
}

TEST(StagedInputs, one_set_may_have_constants_of_its_own_and_inputs_may_be_filled_anew) {
  const std::vector<OperandSpec> operands = {operand(Role::input), operand(Role::constant)};
  const GeneratedInputs third(5, operands, 2), seventh(5, operands, 6);
  StagedInputs staged(5, operands, rotate_const, true);
  staged.set_witness(2);
  staged.replace_inputs(6);
  staged.set_index(2);
  EXPECT_EQ(values(staged, operands[1], 1), values(third, operands[1], 1));
  EXPECT_EQ(values(staged, operands[0], 0), values(seventh, operands[0], 0));
  staged.set_index(3);
  EXPECT_NE(values(staged, operands[1], 1), values(third, operands[1], 1));
}

using Amplitudes = std::vector<Amplitude>;

Amplitudes of(const StateVector& state) {
  return {state.amplitudes().begin(), state.amplitudes().end()};
}

// Amplitudes 1, 2, ... 8 of three qubits: each is its index and one.
StateVector counted() {
  Amplitudes out;
  for (int i = 1; i <= 8; ++i) out.emplace_back(i, 0);
  return StateVector(out);
}

TEST(StateVector, begins_as_zero_and_knows_its_qubits) {
  EXPECT_EQ(of(StateVector(2)), (Amplitudes{1, 0, 0, 0}));
  EXPECT_EQ(counted().norm(), 204) << "1 + 4 + 9 + ... + 64";
}

TEST(StateVector, a_gate_mixes_pairs_that_differ_in_its_qubit) {
  const Gate2 swap_with_sign = {0, 1, -1, 0};
  StateVector state = counted();
  state.apply(swap_with_sign, 1);
  EXPECT_EQ(of(state), (Amplitudes{3, 4, -1, -2, 7, 8, -5, -6}));
  state = counted();
  state.apply(swap_with_sign, 0, 0b100);
  EXPECT_EQ(of(state), (Amplitudes{1, 2, 3, 4, 6, -5, 8, -7})) << "where qubit 2 is one";
  state.apply(swap_with_sign, 2, 0b011);
  EXPECT_EQ(of(state), (Amplitudes{1, 2, 3, -7, 6, -5, 8, -4})) << "where both others are";
}

TEST(StateVector, complex_gates_multiply_as_complex_numbers_do) {
  const Amplitude a{1, 2}, b{3, -1}, c{0.5, 4}, d{-2, 0.25};
  for (const std::uint64_t controls : {0u, 2u}) {
    StateVector state(Amplitudes{{1, 1}, {2, -3}, {1, 1}, {2, -3}});
    state.apply({a, b, c, d}, 0, controls);
    const Amplitudes got = of(state);
    const Amplitude zero{1, 1}, one{2, -3};
    EXPECT_EQ(got[2], a * zero + b * one);
    EXPECT_EQ(got[3], c * zero + d * one);
    EXPECT_EQ(got[0], controls == 0 ? got[2] : zero);
  }
}

TEST(StateVector, phases_and_signs_go_where_their_bits_are_one) {
  StateVector state = counted();
  state.multiply(0b101, {0, 2});
  EXPECT_EQ(of(state), (Amplitudes{1, 2, 3, 4, 5, {0, 12}, 7, {0, 16}}));
  state = counted();
  const std::vector<QubitPair> pairs = {{0, 1}, {1, 2}};
  state.flip_signs(pairs);
  EXPECT_EQ(of(state), (Amplitudes{1, 2, 3, -4, 5, 6, -7, 8})) << "twice is not at all";
}

// One amplitude of 8192 that is one, beyond the first block that is read at a time.
class OneAmplitude : public InputReader {
 public:
  explicit OneAmplitude(std::int64_t at) : at_(at) {}
  void read(int, std::size_t, std::int64_t offset, std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = offset + static_cast<std::int64_t>(i) == 2 * at_ ? 1 : 0;
    }
  }

 private:
  std::int64_t at_;
};

// e^(2 pi i j k / N) / sqrt(N), of |j> at k.
TEST(Qft, of_one_amplitude_is_a_wave) {
  const Params params = written("qubits=13 dtype=c128");
  for (const std::int64_t j : {3, 5000, 8191}) {
    const std::vector<std::int64_t> elements = {2 * 7, 2 * 7 + 1, 2 * 6001, 2 * 6001 + 1};
    std::vector<Expected> out(elements.size());
    op("qft").reference(params, OneAmplitude(j), 0, 1, elements, out);
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const double turn = static_cast<double>(j * (elements[e] / 2) % 8192) / 8192;
      const Amplitude wave = std::polar(1 / std::sqrt(8192.0), 2 * std::numbers::pi * turn);
      EXPECT_NEAR(out[e].value, elements[e] % 2 == 0 ? wave.real() : wave.imag(), 1e-14) << j;
    }
  }
}

}  // namespace
}  // namespace halmark::testing
