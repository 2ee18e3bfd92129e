// qaoa_layer: one layer of QAOA for MaxCut (Farhi, Goldstone and Gutmann 2014): phases e^(-i gamma
// C(z)) with C(z) = sum of the weights of edges that z cuts, then e^(-i beta X) on every qubit.
#include <bit>
#include <cmath>
#include <numbers>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "kernels/circuit.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    qubits_spec,
    {.name = "seed",
     .low = 0,
     .high = std::int64_t{1} << 40,
     .fallback = 0,
     .meaning = "of the chords of the graph"},
    complex_dtype_spec,
};

// A ring, and a chord from every second qubit to another one: about 3 edges per vertex.
std::vector<std::int64_t> graph(const Params& p) {
  const auto n = p.at("qubits");
  std::vector<std::int64_t> edges;
  for (const std::int64_t q : below(n)) edges.insert(edges.end(), {q, (q + 1) % n});
  for (const std::int64_t q : below(n / 2)) {
    const auto bits = hash_u64(as_uint64(p.at("seed")), as_uint64(q));
    const auto hop = 1 + as_int64(uniform_below(bits, as_uint64(n - 1)));
    edges.insert(edges.end(), {2 * q, (2 * q + hop) % n});
  }
  return edges;
}

class QaoaLayer final : public CircuitContract {
 public:
  QaoaLayer()
      : CircuitContract(
            "qaoa_layer",
            "dst[2^qubits,2] = e^(-i beta X) on every qubit of e^(-i gamma C) src[2^qubits,2], C = "
            "cut of edges[m,2] by weights[m], angles[2] = gamma, beta",
            specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto edges = edge_count(p);
    return {state_operand("src", Role::input, p),
            {.name = "edges",
             .dtype = Dtype::s32,
             .dims = {edges, 2},
             .distribution = Distribution::given,
             .given = std::make_shared<const GivenValues>([p] { return graph(p); })},
            {.name = "weights",
             .dtype = Dtype::f64,
             .dims = {edges},
             .distribution = Distribution::uniform},
            {.name = "angles",
             .dtype = Dtype::f64,
             .dims = {2},
             .distribution = Distribution::uniform,
             .scale = std::numbers::pi},
            state_operand("dst", Role::output, p)};
  }

  Work work(const Params& p) const override {
    const auto n = as_double(p.at("qubits"));
    return circuit_work(p, n, as_double(edge_count(p)) * amplitudes(p));
  }

  std::optional<double> element_flops(const Params& p) const override { return 20 * amplitudes(p); }

  // By distance: <z| prod e^(-i beta X) |y> = cos(beta)^(n-d) (-i sin(beta))^d, d = |z xor y|.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    auto state = read_state(p, inputs, rank, 0);
    const auto edges = graph(p);
    const auto weights = read_row(inputs, rank, 2, 0, edge_count(p));
    const auto angles = read_row(inputs, rank, 3, 0, 2);
    for (const std::uint64_t y : below(state.size())) {
      state[y] *= std::polar(1.0, -angles[0] * cut(y, edges, weights));
    }
    std::vector<Amplitude> by_distance(as_size(qubits(p)) + 1);
    for (const auto d : indices(by_distance)) {
      by_distance[d] = std::pow(std::cos(angles[1]), qubits(p) - as_int(d)) *
                       std::pow(Amplitude{0, -std::sin(angles[1])}, as_int(d));
    }
    const double gates = as_double(qubits(p)) + as_double(weights.size());
    expect_amplitudes(p, gates, elements, out, [&](std::uint64_t z) {
      return sum_in_parts(state.size(), [&](std::uint64_t y) {
        const Amplitude& factor = by_distance[as_size(std::popcount(z ^ y))];
        return Amplitude{factor.real() * state[y].real() - factor.imag() * state[y].imag(),
                         factor.real() * state[y].imag() + factor.imag() * state[y].real()};
      });
    });
  }

 protected:
  std::vector<Params> conformance_shapes() const override {
    return {{{"qubits", 2}, {"seed", 0}},
            {{"qubits", 5}, {"seed", 1}},
            {{"qubits", 8}, {"seed", 2}},
            {{"qubits", 11}, {"seed", 3}}};
  }

 private:
  static std::int64_t edge_count(const Params& p) { return p.at("qubits") + p.at("qubits") / 2; }
  static double cut(std::uint64_t z, std::span<const std::int64_t> edges,
                    std::span<const double> weights) {
    double sum = 0;
    for (const auto e : indices(weights)) {
      const bool is_cut = (((z >> edges[2 * e]) ^ (z >> edges[2 * e + 1])) & 1) != 0;
      sum += is_cut ? weights[e] : 0;
    }
    return sum;
  }
};

}  // namespace

const OpContract& qaoa_layer_contract() {
  static const QaoaLayer contract;
  return contract;
}

}  // namespace halmark
