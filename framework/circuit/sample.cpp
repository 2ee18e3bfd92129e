#include "circuit/sample.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark::circuit {
namespace {

// Cumulative probabilities of a state, searched once per shot.
class Outcomes {
 public:
  explicit Outcomes(const StateVector& state) {
    double sum = 0;
    for (const Amplitude& a : state.amplitudes()) cumulative_.push_back(sum += std::norm(a));
  }
  std::uint64_t draw(double uniform) const {
    const auto at = std::ranges::upper_bound(cumulative_, uniform * cumulative_.back());
    return static_cast<std::uint64_t>(
        std::min<std::ptrdiff_t>(at - cumulative_.begin(), std::ssize(cumulative_) - 1));
  }

 private:
  std::vector<double> cumulative_;
};

class Sampler {
 public:
  Sampler(const Circuit& circuit, std::uint64_t seed, const Noise& noise)
      : circuit_(circuit), seed_(seed), noise_(noise), measured_(circuit.measured) {
    for (int q = 0; measured_.empty() && q < circuit.qubits; ++q) all_.push_back({q, q});
    if (measured_.empty()) measured_ = all_;
    for (const Measured& m : measured_) width_ = std::max(width_, m.bit + 1);
  }

  std::string shot(std::int64_t number, const Outcomes& ideal) {
    counter_ = 0;
    stream_ = hash_combine(seed_, static_cast<std::uint64_t>(number));
    const auto errors = draw_errors();
    const std::uint64_t state =
        errors.empty() ? ideal.draw(uniform()) : Outcomes(trajectory(errors)).draw(uniform());
    std::string bits(as_size(width_), '0');
    for (const Measured& m : measured_) {
      const bool is_wrong = noise_.readout_error > 0 && uniform() < noise_.readout_error;
      const bool is_one = ((state >> m.qubit) & 1) != 0;
      bits[as_size(width_ - 1 - m.bit)] = is_one != is_wrong ? '1' : '0';
    }
    return bits;
  }

 private:
  double uniform() { return uniform_01(hash_u64(stream_, counter_++)); }

  // Of each gate that fails in this shot, which Pauli follows it: two bits per qubit.
  std::map<std::size_t, std::uint64_t> draw_errors() {
    std::map<std::size_t, std::uint64_t> out;
    for (std::size_t g = 0; g < circuit_.gates.size(); ++g) {
      const std::size_t qubits = circuit_.gates[g].qubits.size();
      const double error = qubits == 1 ? noise_.one_qubit_error : noise_.two_qubit_error;
      if (error <= 0) continue;
      const double size = std::ldexp(1.0, static_cast<int>(qubits));
      if (uniform() >= error * (size + 1) / size) continue;
      const std::uint64_t paulis = (std::uint64_t{1} << (2 * qubits)) - 1;
      out[g] = 1 + uniform_below(hash_u64(stream_, counter_++), paulis);
    }
    return out;
  }

  StateVector trajectory(const std::map<std::size_t, std::uint64_t>& errors) const {
    static constexpr const char* paulis[] = {"id", "x", "y", "z"};
    StateVector state(circuit_.qubits);
    for (std::size_t g = 0; g < circuit_.gates.size(); ++g) {
      apply(state, circuit_.gates[g]);
      const auto error = errors.find(g);
      if (error == errors.end()) continue;
      std::uint64_t rest = error->second;
      for (const int q : circuit_.gates[g].qubits) {
        apply(state, {paulis[rest & 3], {}, {q}});
        rest >>= 2;
      }
    }
    return state;
  }

  const Circuit& circuit_;
  std::uint64_t seed_;
  Noise noise_;
  std::vector<Measured> measured_, all_;
  int width_ = 0;
  std::uint64_t stream_ = 0, counter_ = 0;
};

}  // namespace

std::map<std::string, std::int64_t> sample(const Circuit& circuit, std::int64_t shots,
                                           std::uint64_t seed, const Noise& noise) {
  if (circuit.qubits > sampled_qubits_max) {
    throw refused("a circuit of " + std::to_string(circuit.qubits) +
                  " qubits is not sampled: its state has 2^" + std::to_string(circuit.qubits) +
                  " amplitudes; at most " + std::to_string(sampled_qubits_max) + " qubits are");
  }
  StateVector state(circuit.qubits);
  for (const GateUse& gate : circuit.gates) apply(state, gate);
  const Outcomes ideal(state);
  Sampler sampler(circuit, seed, noise);
  std::map<std::string, std::int64_t> counts;
  for (std::int64_t i = 0; i < shots; ++i) ++counts[sampler.shot(i, ideal)];
  return counts;
}

}  // namespace halmark::circuit
