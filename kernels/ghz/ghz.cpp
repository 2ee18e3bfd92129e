// ghz: the state (|0...0> + e^(i phase) |1...1>) / sqrt(2), from |0...0> by one Hadamard, one phase
// and a chain of controlled X. The phase is an input, so that no answer can be kept.
#include <numbers>

#include "kernels/circuit.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {qubits_spec, complex_dtype_spec};

class Ghz final : public CircuitContract {
 public:
  Ghz()
      : CircuitContract("ghz", "dst[2^qubits,2] = (|0...0> + e^(i phase) |1...1>) / sqrt(2)",
                        specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    return {{.name = "phase",
             .dtype = Dtype::f64,
             .dims = {1},
             .distribution = Distribution::uniform,
             .scale = std::numbers::pi},
            state_operand("dst", Role::output, p)};
  }

  Work work(const Params& p) const override { return circuit_work(p, 1, amplitudes(p) / 2); }

  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const double phase = read_row(inputs, rank, 0, 0, 1)[0];
    const auto last = (std::uint64_t{1} << qubits(p)) - 1;
    const double root = std::numbers::sqrt2 / 2;
    expect_amplitudes(p, 2, elements, out, [&](std::uint64_t i) {
      if (i == 0) return Amplitude{root, 0};
      return i == last ? std::polar(root, phase) : Amplitude{};
    });
  }

 protected:
  std::vector<Params> conformance_shapes() const override {
    std::vector<Params> shapes;
    for (const std::int64_t qubits : {2, 3, 7, 12}) shapes.push_back({{"qubits", qubits}});
    return shapes;
  }
};

}  // namespace

const OpContract& ghz_contract() {
  static const Ghz contract;
  return contract;
}

}  // namespace halmark
