// qft: the quantum Fourier transform of a state: the unitary DFT of its amplitudes,
// dst_k = 2^(-n/2) sum_j src_j e^(2 pi i jk / 2^n) (Nielsen and Chuang, 5.1).
#include <cmath>
#include <numbers>

#include "core/lists.hpp"
#include "kernels/circuit.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {qubits_spec, complex_dtype_spec};

class Qft final : public CircuitContract {
 public:
  Qft() : CircuitContract("qft", "dst[2^qubits,2] = unitary DFT of src[2^qubits,2]", specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    return {state_operand("src", Role::input, p), state_operand("dst", Role::output, p)};
  }

  // n Hadamards and n (n - 1) / 2 controlled phases, each on a quarter of the amplitudes.
  Work work(const Params& p) const override {
    const auto n = as_double(p.at("qubits"));
    return circuit_work(p, n, n * (n - 1) / 8 * amplitudes(p));
  }

  std::optional<double> element_flops(const Params& p) const override { return 8 * amplitudes(p); }

  // The sum as it stands, its angles reduced to one turn in integers.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto src = read_state(p, inputs, rank, 0);
    const auto mask = as_uint64(src.size()) - 1;
    const double step = 2 * std::numbers::pi / as_double(src.size());
    const double scale = 1 / std::sqrt(as_double(src.size()));
    const auto n = as_double(p.at("qubits"));
    expect_amplitudes(p, n * (n + 1) / 2, elements, out, [&](std::uint64_t k) {
      const auto sum = sum_in_parts(src.size(), [&](std::uint64_t j) {
        const double angle = step * as_double((j * k) & mask);
        const double c = std::cos(angle), s = std::sin(angle);
        return Amplitude{src[j].real() * c - src[j].imag() * s,
                         src[j].real() * s + src[j].imag() * c};
      });
      return sum * scale;
    });
  }

 protected:
  std::vector<Params> conformance_shapes() const override {
    std::vector<Params> shapes;
    for (const std::int64_t qubits : {2, 3, 7, 10, 11}) shapes.push_back({{"qubits", qubits}});
    return shapes;
  }
};

}  // namespace

const OpContract& qft_contract() {
  static const Qft contract;
  return contract;
}

}  // namespace halmark
