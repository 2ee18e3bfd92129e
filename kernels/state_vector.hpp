// A plain simulator of states of qubits in f64: what contracts of circuits are held against, and
// what samples circuits from files. It fuses nothing and uses no vector instructions by hand.
// Qubit q is bit q of an amplitude's index.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace halmark {

using Amplitude = std::complex<double>;
using Gate2 = std::array<Amplitude, 4>;  // row-major, of one qubit

// U(theta, phi, lambda) of OpenQASM 3 without its global phase:
// [[cos(t/2), -e^(il) sin(t/2)], [e^(ip) sin(t/2), e^(i(p+l)) cos(t/2)]].
Gate2 rotation_gate(double theta, double phi, double lambda);
Gate2 hadamard_gate();

struct QubitPair {
  int a = 0, b = 0;
};

class StateVector {
 public:
  explicit StateVector(int qubits);  // |0...0>
  explicit StateVector(std::vector<Amplitude> amplitudes);

  int qubits() const { return qubits_; }
  std::span<const Amplitude> amplitudes() const { return amplitudes_; }
  double norm() const;  // sum of |a|^2

  // The gate on `target` where all bits of `controls` are set.
  void apply(const Gate2& gate, int target, std::uint64_t controls = 0);
  // One gate per qubit, qubit 0 first; a block that fits a cache meets all gates of its qubits.
  void apply_layer(std::span<const Gate2> gates);
  // Amplitudes with all bits of `mask` set are multiplied.
  void multiply(std::uint64_t mask, Amplitude factor);
  // A controlled Z per pair.
  void flip_signs(std::span<const QubitPair> pairs);

 private:
  int qubits_;
  std::vector<Amplitude> amplitudes_;
};

}  // namespace halmark
