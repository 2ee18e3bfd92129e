#include "circuit/circuit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halmark::circuit {
namespace {

constexpr std::array kinds{
    GateKind{"id", 0, 0, "id"},   GateKind{"x", 0, 0, "x"},       GateKind{"y", 0, 0, "y"},
    GateKind{"z", 0, 0, "z"},     GateKind{"h", 0, 0, "h"},       GateKind{"s", 0, 0, "s"},
    GateKind{"sdg", 0, 0, "sdg"}, GateKind{"t", 0, 0, "t"},       GateKind{"tdg", 0, 0, "tdg"},
    GateKind{"sx", 0, 0, "sx"},   GateKind{"rx", 1, 0, "rx"},     GateKind{"ry", 1, 0, "ry"},
    GateKind{"rz", 1, 0, "rz"},   GateKind{"p", 1, 0, "p"},       GateKind{"u1", 1, 0, "p"},
    GateKind{"u2", 2, 0, "u2"},   GateKind{"u3", 3, 0, "u"},      GateKind{"u", 3, 0, "u"},
    GateKind{"U", 3, 0, "u"},     GateKind{"cx", 0, 1, "x"},      GateKind{"CX", 0, 1, "x"},
    GateKind{"cy", 0, 1, "y"},    GateKind{"cz", 0, 1, "z"},      GateKind{"ch", 0, 1, "h"},
    GateKind{"cp", 1, 1, "p"},    GateKind{"cu1", 1, 1, "p"},     GateKind{"crx", 1, 1, "rx"},
    GateKind{"cry", 1, 1, "ry"},  GateKind{"crz", 1, 1, "rz"},    GateKind{"swap", 0, 0, "swap"},
    GateKind{"ccx", 0, 2, "x"},   GateKind{"cswap", 0, 1, "swap"}};

Gate2 diagonal(Amplitude zero, Amplitude one) { return {zero, 0, 0, one}; }

Gate2 matrix(std::string_view base, std::span<const double> a) {
  constexpr double pi = std::numbers::pi;
  const Amplitude i{0, 1};
  if (base == "x") return {0, 1, 1, 0};
  if (base == "y") return {0, -i, i, 0};
  if (base == "z") return diagonal(1, -1);
  if (base == "h") return hadamard_gate();
  if (base == "s") return diagonal(1, i);
  if (base == "sdg") return diagonal(1, -i);
  if (base == "t") return diagonal(1, std::polar(1.0, pi / 4));
  if (base == "tdg") return diagonal(1, std::polar(1.0, -pi / 4));
  if (base == "sx") {
    const Amplitude plus{0.5, 0.5}, minus{0.5, -0.5};
    return {plus, minus, minus, plus};
  }
  if (base == "rx") return rotation_gate(a[0], -pi / 2, pi / 2);
  if (base == "ry") return rotation_gate(a[0], 0, 0);
  if (base == "rz") return diagonal(std::polar(1.0, -a[0] / 2), std::polar(1.0, a[0] / 2));
  if (base == "p") return diagonal(1, std::polar(1.0, a[0]));
  if (base == "u2") return rotation_gate(pi / 2, a[0], a[1]);
  if (base == "u") return rotation_gate(a[0], a[1], a[2]);
  return diagonal(1, 1);
}

}  // namespace

const GateKind* find_gate(std::string_view name) {
  const auto found = std::ranges::find(kinds, name, &GateKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

std::vector<std::string> gate_names() {
  std::vector<std::string> out;
  for (const GateKind& kind : kinds) out.emplace_back(kind.name);
  return out;
}

GateCounts count_gates(const Circuit& circuit) {
  GateCounts out;
  std::vector<std::int64_t> depth(static_cast<std::size_t>(circuit.qubits)), pairs(depth);
  for (const GateUse& gate : circuit.gates) {
    const GateKind& kind = *find_gate(gate.name);
    const bool swaps = kind.base == "swap";
    std::int64_t one = 0, two = 0;
    if (kind.qubits() == 1) one = 1;
    if (kind.qubits() == 2) two = swaps ? 3 : 1;
    if (kind.qubits() == 3) one = 9, two = swaps ? 8 : 6;
    out.one_qubit += one;
    out.two_qubit += two;
    std::int64_t latest = 0, latest_pairs = 0;
    for (const int q : gate.qubits) {
      latest = std::max(latest, depth[static_cast<std::size_t>(q)]);
      latest_pairs = std::max(latest_pairs, pairs[static_cast<std::size_t>(q)]);
    }
    for (const int q : gate.qubits) {
      depth[static_cast<std::size_t>(q)] = latest + std::max<std::int64_t>(1, two);
      pairs[static_cast<std::size_t>(q)] = latest_pairs + two;
    }
    out.depth = std::max(out.depth, latest + std::max<std::int64_t>(1, two));
    out.two_qubit_depth = std::max(out.two_qubit_depth, latest_pairs + two);
  }
  return out;
}

void apply(StateVector& state, const GateUse& gate) {
  const GateKind& kind = *find_gate(gate.name);
  std::uint64_t controls = 0;
  for (int c = 0; c < kind.controls; ++c) {
    controls |= std::uint64_t{1} << gate.qubits[static_cast<std::size_t>(c)];
  }
  const int target = gate.qubits.back();
  if (kind.base != "swap") return state.apply(matrix(kind.base, gate.angles), target, controls);
  const int other = gate.qubits[gate.qubits.size() - 2];
  const Gate2 flip = matrix("x", {});
  for (const auto& [to, from] : {std::pair{target, other}, {other, target}, {target, other}}) {
    state.apply(flip, to, controls | std::uint64_t{1} << from);
  }
}

}  // namespace halmark::circuit
