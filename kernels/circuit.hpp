// Shared parts of the contracts of quantum circuits: states as operands, counted work, tolerances.
//
// A state of n qubits is an operand [2^n, 2] of real and imaginary parts, f32 for c64 and f64 for
// c128: the same bytes as complex elements, and each part has an expected value and a tolerance of
// its own, as every other element that is checked.
#pragma once

#include <string>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/state_vector.hpp"

namespace halmark {

inline constexpr std::array<std::int64_t, 2> complex_dtypes{dtype_value(Dtype::c64),
                                                            dtype_value(Dtype::c128)};
// 2^36 amplitudes of c128 are 1 TiB.
inline constexpr ParamSpec qubits_spec{
    .name = "qubits", .low = 2, .high = 36, .meaning = "of the state: 2^qubits amplitudes"};
inline constexpr ParamSpec depth_spec{
    .name = "depth", .high = 1 << 16, .meaning = "layers of gates"};
inline constexpr ParamSpec complex_dtype_spec{.name = "dtype",
                                              .kind = ParamKind::dtype,
                                              .allowed = complex_dtypes,
                                              .meaning = "of an amplitude"};

// A dense gate of one qubit takes a pair of amplitudes to a pair: four products (6 FLOPs each) and
// two sums (2 each) would be 28; a matrix of a rotation up to a phase has a real diagonal, and the
// literature counts 14 per pair. Phases take one product of an amplitude; sign flips and
// permutations none.
inline constexpr double flops_per_pair = 14;
inline constexpr double flops_per_phase = 6;

class CircuitContract : public NamedContract {
 public:
  using NamedContract::NamedContract;
  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override;
  Params twin(const Params& p) const override;

 protected:
  static int qubits(const Params& p) { return static_cast<int>(p.at("qubits")); }
  static double amplitudes(const Params& p);
  static Dtype part_dtype(const Params& p);  // f32 of c64, f64 of c128
  static OperandSpec state_operand(std::string name, Role role, const Params& p);

  // Bytes are those of the operands, each moved once: what no way of fusing gates can avoid, so a
  // clever kernel is never below its bound. FLOPs are those of the circuit gate by gate; there is
  // no peak of complex types, so they make a rate and bound nothing.
  Work circuit_work(const Params& p, double one_qubit_gates, double phase_amplitudes) const;

  // Each gate rounds every part once or a few times, independently: a walk of sqrt(gates) steps of
  // u times the amplitude. `magnitude` is the larger of the amplitude and the root of the mean
  // 2^(-n/2), because errors of large amplitudes reach small ones. The factor 16: four roundings
  // per part and gate, and four standard deviations.
  static double part_tolerance(const Params& p, double gates, double value);

  // Fills `out` from amplitude(index), once per amplitude however many of its parts are listed.
  template <class At>
  static void expect_amplitudes(const Params& p, double gates,
                                std::span<const std::int64_t> elements, std::span<Expected> out,
                                At amplitude) {
    for_each_row(elements, 2, [&](std::int64_t index, std::span<const std::size_t> listed) {
      const Amplitude a = amplitude(static_cast<std::uint64_t>(index));
      for (const auto i : listed) {
        const double value = elements[i] % 2 == 0 ? a.real() : a.imag();
        out[i] = {.value = value, .tolerance = part_tolerance(p, gates, std::abs(a))};
      }
    });
  }

  // The sum of term(0) .. term(count - 1), in parts: the rounding of one long sum in f64 would be
  // larger than what a state of c128 may err by.
  template <class Term>
  static Amplitude sum_in_parts(std::uint64_t count, Term term) {
    constexpr std::uint64_t part_terms = 1024;
    Amplitude sum;
    for (std::uint64_t begin = 0; begin < count; begin += part_terms) {
      Amplitude part;
      for (std::uint64_t i = begin; i < std::min(count, begin + part_terms); ++i) part += term(i);
      sum += part;
    }
    return sum;
  }

  static std::vector<Amplitude> read_state(const Params& p, const InputReader& inputs, int rank,
                                           std::size_t operand);
  // The sizes of the conformance suite beside qubits and dtype.
  virtual std::vector<Params> conformance_shapes() const = 0;
};

// Layers of a rotation on every qubit, from angles[depth,qubits,3], each followed by controlled Z
// on pairs, from |0...0>. Held against the plain simulation of the whole circuit.
class LayeredContract : public CircuitContract {
 public:
  using CircuitContract::CircuitContract;
  Work work(const Params& p) const override;
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override;

 protected:
  static OperandSpec angles_operand(const Params& p);
  virtual std::vector<QubitPair> pairs(const Params& p, std::int64_t layer) const = 0;
  virtual std::size_t angles_index() const = 0;

 private:
  std::vector<Amplitude> simulated(const Params& p, std::span<const double> angles) const;
};

}  // namespace halmark
