// Random circuits by what judges them here, the contract of random_circuit (the backend is held
// against it by the conformance suite), and from files, against Qiskit Aer. States are compared up
// to the global phase that rotations of OpenQASM 3 leave out. Needs qiskit-aer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <sstream>

#include "circuit/qasm.hpp"
#include "circuit/sample.hpp"
#include "core/json/json.hpp"
#include "core/numeric/random.hpp"
#include "kernels/inputs.hpp"
#include "kernels/rows.hpp"
#include "tests/integration/process.hpp"

#include "tests/checkout.hpp"
#include "tests/python_with.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::circuit {
namespace {

using State = std::vector<std::complex<double>>;

class CircuitsAgainstAer : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = test::python_with("qiskit, qiskit_aer");
    if (!python_) GTEST_SKIP() << "no Python with qiskit and qiskit_aer";
  }

  // Of circuits, in their order.
  std::vector<State> by_aer(const std::vector<Circuit>& circuits) {
    std::vector<std::string> command = {*python_,
                                        test::in_source("/tests/integration/qpu/aer_states.py")};
    for (std::size_t i = 0; i < circuits.size(); ++i) {
      const std::string path = folder_ / (std::to_string(i) + ".qasm");
      test::write_file(path, qasm_text(circuits[i], 2));
      command.push_back(path);
    }
    const auto ran = integration::Process({.arguments = command, .limit_s = 200}).wait();
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::vector<State> out;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      const auto parts = Json::parse(line).get<std::vector<double>>();
      State state;
      for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
        state.emplace_back(parts[i], parts[i + 1]);
      out.push_back(std::move(state));
    }
    EXPECT_EQ(out.size(), circuits.size());
    out.resize(circuits.size());
    return out;
  }

  std::optional<std::string> python_;
  test::ScratchFolder folder_;
};

// |<a|b>|: 1 where the states differ by a phase alone.
double overlap(const State& a, const State& b) {
  std::complex<double> sum;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += std::conj(a[i]) * b[i];
  return a.size() == b.size() ? std::abs(sum) : 0;
}

struct Drawn {
  Circuit circuit;
  State expected;  // by the contract
};

// The op's circuit on the inputs of a seed, as gates of OpenQASM, and the state that is expected.
Drawn random_circuit(std::int64_t qubits, std::int64_t depth, std::int64_t seed) {
  const OpContract& contract = *find_contract("random_circuit");
  const Problem problem = complete_problem({"random_circuit",
                                            {{"qubits", qubits},
                                             {"depth", depth},
                                             {"seed", seed},
                                             {"dtype", dtype_value(Dtype::c128)}}});
  const auto operands = contract.operands(problem.params);
  const GeneratedInputs inputs(static_cast<std::uint64_t>(seed) + 77, operands, 0);
  std::vector<double> pairs(static_cast<std::size_t>(depth * (qubits / 2) * 2));
  std::vector<double> angles(static_cast<std::size_t>(depth * qubits * 3));
  inputs.read(0, 0, 0, pairs);
  inputs.read(0, 1, 0, angles);
  Drawn out;
  out.circuit.qubits = static_cast<int>(qubits);
  auto pair = pairs.begin();
  auto angle = angles.begin();
  for (std::int64_t layer = 0; layer < depth; ++layer) {
    for (int q = 0; q < qubits; ++q, angle += 3) {
      out.circuit.gates.push_back({"u", {angle[0], angle[1], angle[2]}, {q}});
    }
    for (std::int64_t i = 0; i < qubits / 2; ++i, pair += 2) {
      out.circuit.gates.push_back(
          {"cz", {}, {static_cast<int>(pair[0]), static_cast<int>(pair[1])}});
    }
  }
  std::vector<std::int64_t> elements(std::size_t{2} << qubits);
  std::iota(elements.begin(), elements.end(), 0);
  std::vector<Expected> parts(elements.size());
  contract.reference(problem.params, inputs, 0, 2, elements, parts);
  for (std::size_t i = 0; i < parts.size(); i += 2) {
    out.expected.emplace_back(parts[i].value, parts[i + 1].value);
  }
  return out;
}

TEST_F(CircuitsAgainstAer, the_reference_of_random_circuits_is_their_state) {
  std::vector<Drawn> drawn;
  std::vector<Circuit> circuits;
  for (std::int64_t seed = 0; seed < 12; ++seed) {
    drawn.push_back(random_circuit(2 + seed, 1 + 2 * seed, seed));
    circuits.push_back(drawn.back().circuit);
  }
  const auto states = by_aer(circuits);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_NEAR(overlap(drawn[i].expected, states[i]), 1, 1e-12) << "seed " << i;
  }
}

// Every gate that files may have, in random order on random qubits.
Circuit of_all_gates(int qubits, std::uint64_t seed) {
  Circuit out;
  out.qubits = qubits;
  std::uint64_t next = 0;
  const auto draw = [&](std::uint64_t bound) {
    return uniform_below(hash_u64(seed, next++), bound);
  };
  const auto names = gate_names();
  for (std::size_t i = 0; i < 8 * names.size(); ++i) {
    const GateKind& kind = *find_gate(names[draw(names.size())]);
    GateUse use{std::string(kind.name), {}, {}};
    for (int a = 0; a < kind.angles; ++a) {
      use.angles.push_back(static_cast<double>(draw(1'000'000)) / 1e5 - 5);
    }
    if (kind.name == "u0") use.angles = {1};  // a number of idle cycles
    while (static_cast<int>(use.qubits.size()) < kind.qubits()) {
      const int q = static_cast<int>(draw(static_cast<std::uint64_t>(qubits)));
      if (std::find(use.qubits.begin(), use.qubits.end(), q) == use.qubits.end()) {
        use.qubits.push_back(q);
      }
    }
    out.gates.push_back(std::move(use));
  }
  return out;
}

TEST_F(CircuitsAgainstAer, every_gate_of_a_file_does_what_it_does_there) {
  std::vector<Circuit> circuits;
  for (std::uint64_t seed = 0; seed < 20; ++seed) circuits.push_back(of_all_gates(5, seed));
  const auto states = by_aer(circuits);
  for (std::size_t i = 0; i < circuits.size(); ++i) {
    StateVector own(5);
    for (const GateUse& gate : circuits[i].gates) apply(own, gate);
    const State state(own.amplitudes().begin(), own.amplitudes().end());
    EXPECT_NEAR(overlap(state, states[i]), 1, 1e-12) << "seed " << i;
  }
}

// Pearson's chi-squared over bit strings that are expected 5 times or more, the rest as one; its
// standard deviation is sqrt(2 k), and 6 of them are never reached by chance.
TEST_F(CircuitsAgainstAer, samples_follow_its_probabilities) {
  constexpr std::int64_t shots = 200'000;
  const Drawn drawn = random_circuit(8, 6, 3);
  const State state = by_aer({drawn.circuit}).front();
  ASSERT_EQ(state.size(), 256U);
  const auto counts = sample(drawn.circuit, shots, 5);
  double chi = 0, rest_seen = shots, rest_expected = shots;
  int bins = 0;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const double expected = shots * std::norm(state[i]);
    if (expected < 5) continue;
    std::string bits;
    for (int q = 7; q >= 0; --q) bits += (i >> q & 1) != 0 ? '1' : '0';
    const auto found = counts.find(bits);
    const double seen = found == counts.end() ? 0 : static_cast<double>(found->second);
    chi += (seen - expected) * (seen - expected) / expected;
    rest_seen -= seen;
    rest_expected -= expected;
    ++bins;
  }
  if (rest_expected > 5) chi += std::pow(rest_seen - rest_expected, 2) / rest_expected;
  ASSERT_GT(bins, 100);
  EXPECT_LT(chi, bins + 6 * std::sqrt(2.0 * bins));
}

}  // namespace
}  // namespace halmark::circuit
