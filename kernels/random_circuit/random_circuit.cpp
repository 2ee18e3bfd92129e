// random_circuit: layers of a rotation by three random angles on every qubit, then controlled Z on
// qubits paired at random, from |0...0>. Pairs follow from `seed`, angles are inputs.
#include <numeric>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "kernels/circuit.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    qubits_spec,
    depth_spec,
    {.name = "seed",
     .low = 0,
     .high = std::int64_t{1} << 40,
     .fallback = 0,
     .meaning = "of the pairs"},
    complex_dtype_spec,
};

// A random order of the qubits; neighbours in it are pairs (Fisher and Yates).
std::vector<QubitPair> paired(const Params& p, std::int64_t layer) {
  const auto qubits = as_size(p.at("qubits"));
  const auto seed = hash_combine(as_uint64(p.at("seed")), as_uint64(layer));
  std::vector<int> order(qubits);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = qubits - 1; i > 0; --i) {
    std::swap(order[i], order[uniform_below(hash_u64(seed, i), i + 1)]);
  }
  std::vector<QubitPair> out;
  for (std::size_t i = 0; i + 1 < qubits; i += 2) out.push_back({order[i], order[i + 1]});
  return out;
}

std::vector<std::int64_t> all_pairs(const Params& p) {
  std::vector<std::int64_t> values;
  for (std::int64_t layer = 0; layer < p.at("depth"); ++layer) {
    for (const auto& [a, b] : paired(p, layer)) values.insert(values.end(), {a, b});
  }
  return values;
}

class RandomCircuit final : public LayeredContract {
 public:
  RandomCircuit()
      : LayeredContract(
            "random_circuit",
            "dst[2^qubits,2] = |0...0> after `depth` layers of U(angles[depth,qubits,3]) and "
            "controlled Z on pairs[depth,qubits/2,2]",
            specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    return {{.name = "pairs",
             .dtype = Dtype::s32,
             .dims = {p.at("depth"), p.at("qubits") / 2, 2},
             .distribution = Distribution::given,
             .given = std::make_shared<const GivenValues>([p] { return all_pairs(p); })},
            angles_operand(p),
            state_operand("dst", Role::output, p)};
  }

 protected:
  std::vector<QubitPair> pairs(const Params& p, std::int64_t layer) const override {
    return paired(p, layer);
  }
  std::size_t angles_index() const override { return 1; }
  std::vector<Params> conformance_shapes() const override {
    return {{{"qubits", 2}, {"depth", 1}, {"seed", 0}},
            {{"qubits", 3}, {"depth", 5}, {"seed", 1}},
            {{"qubits", 8}, {"depth", 7}, {"seed", 2}},
            {{"qubits", 13}, {"depth", 20}, {"seed", 3}}};
  }
};

}  // namespace

const OpContract& random_circuit_contract() {
  static const RandomCircuit contract;
  return contract;
}

}  // namespace halmark
