#include "kernels/state_vector.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>

#include "core/lists.hpp"

namespace halmark {
namespace {

// Products by hand: those of std::complex look for infinities in every one.
Amplitude product(Amplitude a, Amplitude b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void apply_to(Amplitude* block, std::size_t count, const Gate2& g, int target) {
  const std::size_t stride = std::size_t{1} << target;
  for (std::size_t begin = 0; begin < count; begin += 2 * stride) {
    for (std::size_t i = begin; i < begin + stride; ++i) {
      const Amplitude zero = block[i], one = block[i + stride];
      block[i] = product(g[0], zero) + product(g[1], one);
      block[i + stride] = product(g[2], zero) + product(g[3], one);
    }
  }
}

}  // namespace

Gate2 rotation_gate(double theta, double phi, double lambda) {
  const double c = std::cos(theta / 2), s = std::sin(theta / 2);
  return {Amplitude{c, 0}, -std::polar(1.0, lambda) * s, std::polar(1.0, phi) * s,
          std::polar(1.0, phi + lambda) * c};
}

Gate2 hadamard_gate() {
  const double h = std::numbers::sqrt2 / 2;
  return {Amplitude{h, 0}, Amplitude{h, 0}, Amplitude{h, 0}, Amplitude{-h, 0}};
}

StateVector::StateVector(int qubits) : qubits_(qubits), amplitudes_(std::size_t{1} << qubits) {
  amplitudes_[0] = 1;
}

StateVector::StateVector(std::vector<Amplitude> amplitudes)
    : qubits_(std::countr_zero(amplitudes.size())), amplitudes_(std::move(amplitudes)) {
  assert(std::has_single_bit(amplitudes_.size()) && "a state has a power of two of amplitudes");
}

double StateVector::norm() const {
  double sum = 0;
  for (const Amplitude& a : amplitudes_) sum += std::norm(a);
  return sum;
}

void StateVector::apply(const Gate2& gate, int target, std::uint64_t controls) {
  if (controls == 0) return apply_to(amplitudes_.data(), amplitudes_.size(), gate, target);
  const std::uint64_t stride = std::uint64_t{1} << target;
  for (const std::uint64_t i : below(amplitudes_.size())) {
    if ((i & stride) != 0 || (i & controls) != controls) continue;
    const Amplitude zero = amplitudes_[i], one = amplitudes_[i + stride];
    amplitudes_[i] = product(gate[0], zero) + product(gate[1], one);
    amplitudes_[i + stride] = product(gate[2], zero) + product(gate[3], one);
  }
}

void StateVector::apply_layer(std::span<const Gate2> gates) {
  constexpr std::size_t block_amplitudes = 1 << 11;  // 32 KiB
  const std::size_t block = std::min(block_amplitudes, amplitudes_.size());
  const auto low = std::min<std::size_t>(as_size(std::countr_zero(block)), gates.size());
  for (std::size_t begin = 0; begin < amplitudes_.size(); begin += block) {
    for (const auto q : indices(low)) {
      apply_to(amplitudes_.data() + begin, block, gates[q], as_int(q));
    }
  }
  for (std::size_t q = low; q < gates.size(); ++q) apply(gates[q], as_int(q));
}

void StateVector::multiply(std::uint64_t mask, Amplitude factor) {
  for (const std::uint64_t i : below(amplitudes_.size())) {
    if ((i & mask) == mask) amplitudes_[i] = product(amplitudes_[i], factor);
  }
}

void StateVector::flip_signs(std::span<const QubitPair> pairs) {
  for (const std::uint64_t i : below(amplitudes_.size())) {
    std::uint64_t flips = 0;
    for (const QubitPair& pair : pairs) flips ^= (i >> pair.a) & (i >> pair.b) & 1;
    if (flips != 0) amplitudes_[i] = -amplitudes_[i];
  }
}

}  // namespace halmark
