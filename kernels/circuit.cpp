#include "kernels/circuit.hpp"
#include "core/lists.hpp"

#include <cmath>
#include <mutex>

#include "kernels/rowwise.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {

double CircuitContract::amplitudes(const Params& p) {
  return std::ldexp(1.0, as_int(p.at("qubits")));
}

Dtype CircuitContract::part_dtype(const Params& p) {
  return p.dtype("dtype") == Dtype::c64 ? Dtype::f32 : Dtype::f64;
}

// Drawn parts have the mean square that makes the state's norm 1.
OperandSpec CircuitContract::state_operand(std::string name, Role role, const Params& p) {
  return {.name = std::move(name),
          .role = role,
          .dtype = part_dtype(p),
          .dims = {std::int64_t{1} << qubits(p), 2},
          .scale = std::pow(2.0, -0.5 * (qubits(p) + 1))};
}

Work CircuitContract::circuit_work(const Params& p, double one_qubit_gates,
                                   double phase_amplitudes) const {
  Work work = operand_traffic(operands(p));
  work.vector_flops =
      flops_per_pair * one_qubit_gates * amplitudes(p) / 2 + flops_per_phase * phase_amplitudes;
  work.compute_dtype = p.dtype("dtype");
  return work;
}

double CircuitContract::part_tolerance(const Params& p, double gates, double magnitude) {
  constexpr double factor = 16;
  const double typical = std::pow(2.0, -0.5 * qubits(p));
  return factor * unit_roundoff(part_dtype(p)) * std::sqrt(gates) * std::max(typical, magnitude);
}

std::vector<Amplitude> CircuitContract::read_state(const Params& p, const InputReader& inputs,
                                                   int rank, std::size_t operand) {
  constexpr std::size_t block = 1 << 12;
  std::vector<Amplitude> state(std::size_t{1} << qubits(p));
  std::vector<double> parts(2 * std::min(block, state.size()));
  for (std::size_t begin = 0; begin < state.size(); begin += parts.size() / 2) {
    inputs.read(rank, operand, as_int64(2 * begin), parts);
    for (const auto i : indices(parts.size() / 2)) {
      state[begin + i] = {parts[2 * i], parts[2 * i + 1]};
    }
  }
  return state;
}

std::vector<Params> CircuitContract::conformance_params(std::span<const Dtype> dtypes) const {
  std::vector<Params> cases;
  for (const auto dtype : common_dtypes(complex_dtypes, dtypes)) {
    for (Params shape : conformance_shapes()) {
      shape.set("dtype", dtype_value(dtype));
      cases.push_back(std::move(shape));
    }
  }
  return cases;
}

// 2^10 amplitudes are checked one by one in milliseconds.
Params CircuitContract::twin(const Params& p) const {
  Params reduced = p;
  reduced.set("qubits", std::min<std::int64_t>(p.at("qubits"), 10));
  return reduced;
}

OperandSpec LayeredContract::angles_operand(const Params& p) {
  constexpr double pi = 3.14159265358979323846;
  return {.name = "angles",
          .dtype = Dtype::f64,
          .dims = {p.at("depth"), p.at("qubits"), 3},
          .distribution = Distribution::uniform,
          .scale = pi};
}

Work LayeredContract::work(const Params& p) const {
  const auto gates = product(p, {"depth", "qubits"});
  return circuit_work(p, gates, 0);
}

std::vector<Amplitude> LayeredContract::simulated(const Params& p,
                                                  std::span<const double> angles) const {
  StateVector state(qubits(p));
  std::vector<Gate2> gates(as_size(qubits(p)));
  for (std::int64_t layer = 0; layer < p.at("depth"); ++layer) {
    for (const auto q : indices(gates)) {
      const double* a = &angles[3 * (as_size(layer) * gates.size() + q)];
      gates[q] = rotation_gate(a[0], a[1], a[2]);
    }
    state.apply_layer(gates);
    state.flip_signs(pairs(p, layer));
  }
  const auto all = state.amplitudes();
  return {all.begin(), all.end()};
}

// Elements are asked for in blocks, and every block needs the whole state: the last one is kept.
void LayeredContract::reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                                std::span<const std::int64_t> elements,
                                std::span<Expected> out) const {
  struct Kept {
    std::string key;
    std::vector<double> angles;
    std::vector<Amplitude> state;
  };
  static std::mutex guard;
  static Kept kept;
  const auto angles = read_row(inputs, rank, angles_index(), 0, angles_operand(p).elements());
  const std::string key = std::string(name()) + ' ' + p.text();
  const std::lock_guard lock(guard);
  if (kept.key != key || kept.angles != angles) {
    kept = {};  // frees the other state before this one is made
    kept = {key, angles, simulated(p, angles)};
  }
  const auto gates = as_double(angles.size()) / 3;
  expect_amplitudes(p, gates, elements, out, [&](std::uint64_t i) { return kept.state[i]; });
}

}  // namespace halmark
