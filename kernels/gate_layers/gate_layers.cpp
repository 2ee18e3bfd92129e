// gate_layers: layers of a rotation on every qubit, then controlled Z on neighbours, even pairs in
// even layers and odd pairs in odd ones (a brickwork), from |0...0>.
#include "kernels/circuit.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {qubits_spec, depth_spec, complex_dtype_spec};

class GateLayers final : public LayeredContract {
 public:
  GateLayers()
      : LayeredContract(
            "gate_layers",
            "dst[2^qubits,2] = |0...0> after `depth` layers of U(angles[depth,qubits,3]) and "
            "controlled Z on neighbours, (0,1) (2,3).. and (1,2) (3,4).. in turn",
            specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    return {angles_operand(p), state_operand("dst", Role::output, p)};
  }

 protected:
  std::vector<QubitPair> pairs(const Params& p, std::int64_t layer) const override {
    std::vector<QubitPair> out;
    for (int q = static_cast<int>(layer % 2); q + 1 < qubits(p); q += 2) out.push_back({q, q + 1});
    return out;
  }
  std::size_t angles_index() const override { return 0; }
  std::vector<Params> conformance_shapes() const override {
    return {{{"qubits", 2}, {"depth", 1}},
            {{"qubits", 5}, {"depth", 4}},
            {{"qubits", 9}, {"depth", 3}},
            {{"qubits", 12}, {"depth", 11}}};
  }
};

}  // namespace

const OpContract& gate_layers_contract() {
  static const GateLayers contract;
  return contract;
}

}  // namespace halmark
