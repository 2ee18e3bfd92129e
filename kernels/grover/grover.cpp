// grover: the uniform state after k Grover iterations for one marked element. After k of them its
// amplitude is sin((2k + 1) t) and every other cos((2k + 1) t) / sqrt(N - 1), with sin t = 1 /
// sqrt(N) (Boyer, Brassard, Hoyer and Tapp 1998): both are checked, and with them the probability
// of success. The sign is that of the diffusion 2 |s><s| - 1.
#include <cmath>

#include "core/lists.hpp"
#include "kernels/circuit.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    {.name = "qubits", .low = 2, .high = 30, .meaning = "of the state: 2^qubits amplitudes"},
    {.name = "iterations",
     .low = 0,
     .high = 1 << 20,
     .fallback = 0,
     .meaning = "0 = the number that makes success likeliest"},
    complex_dtype_spec,
};

double rotation(const Params& p) {
  return std::asin(std::pow(2.0, -0.5 * as_double(p.at("qubits"))));
}

double iterations(const Params& p) {
  if (p.at("iterations") > 0) return as_double(p.at("iterations"));
  return std::floor(std::acos(-1.0) / (4 * rotation(p)));
}

class Grover final : public CircuitContract {
 public:
  Grover()
      : CircuitContract(
            "grover",
            "dst[2^qubits,2] = uniform state after `iterations` of Grover's search for marked[1]; "
            "0 = floor(pi / (4 asin(2^(-qubits/2))))",
            specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    return {{.name = "marked",
             .dtype = Dtype::s32,
             .dims = {1},
             .distribution = Distribution::indices,
             .index_bound = std::int64_t{1} << qubits(p)},
            state_operand("dst", Role::output, p)};
  }

  // Per iteration: the diffusion is two layers of Hadamards around two sign flips.
  Work work(const Params& p) const override {
    const auto n = as_double(p.at("qubits"));
    return circuit_work(p, n * (1 + 2 * iterations(p)), 0);
  }

  // An error of one iteration is turned with the state and not enlarged.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto marked = as_uint64(read_row(inputs, rank, 0, 0, 1)[0]);
    const double angle = (2 * iterations(p) + 1) * rotation(p);
    const double other = std::cos(angle) / std::sqrt(amplitudes(p) - 1);
    const double gates = as_double(p.at("qubits")) * (1 + 2 * iterations(p));
    expect_amplitudes(p, gates, elements, out, [&](std::uint64_t i) {
      return Amplitude{i == marked ? std::sin(angle) : other, 0};
    });
  }

 protected:
  std::vector<Params> conformance_shapes() const override {
    return {{{"qubits", 2}, {"iterations", 1}},
            {{"qubits", 5}, {"iterations", 0}},
            {{"qubits", 9}, {"iterations", 3}},
            {{"qubits", 12}, {"iterations", 0}}};
  }
};

}  // namespace

const OpContract& grover_contract() {
  static const Grover contract;
  return contract;
}

}  // namespace halmark
