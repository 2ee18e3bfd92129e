#include "circuit/circuit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"

namespace halmark::circuit {
namespace {

constexpr std::array kinds{
    GateKind{"id", 0, 0, "id"},
    GateKind{"x", 0, 0, "x"},
    GateKind{"y", 0, 0, "y"},
    GateKind{"z", 0, 0, "z"},
    GateKind{"h", 0, 0, "h"},
    GateKind{"s", 0, 0, "s"},
    GateKind{"sdg", 0, 0, "sdg"},
    GateKind{"t", 0, 0, "t"},
    GateKind{"tdg", 0, 0, "tdg"},
    GateKind{"sx", 0, 0, "sx"},
    GateKind{"sxdg", 0, 0, "sxdg", "2"},
    GateKind{"rx", 1, 0, "rx"},
    GateKind{"ry", 1, 0, "ry"},
    GateKind{"rz", 1, 0, "rz"},
    GateKind{"p", 1, 0, "p"},
    GateKind{"u1", 1, 0, "p"},
    GateKind{"u2", 2, 0, "u2"},
    GateKind{"u3", 3, 0, "u"},
    GateKind{"u", 3, 0, "u", "2"},
    GateKind{"U", 3, 0, "u"},
    GateKind{"u0", 1, 0, "id", "2"},
    GateKind{"phase", 1, 0, "p", "3"},
    GateKind{"r", 2, 0, "", "", "u3(t0,t1-pi/2,pi/2-t1) a;"},
    GateKind{"cx", 0, 1, "x"},
    GateKind{"CX", 0, 1, "x"},
    GateKind{"cy", 0, 1, "y"},
    GateKind{"cz", 0, 1, "z"},
    GateKind{"ch", 0, 1, "h"},
    GateKind{"cp", 1, 1, "p"},
    GateKind{"cu1", 1, 1, "p", "2"},
    GateKind{"cphase", 1, 1, "p", "3"},
    GateKind{"crx", 1, 1, "rx"},
    GateKind{"cry", 1, 1, "ry"},
    GateKind{"crz", 1, 1, "rz"},
    GateKind{"cu3", 3, 1, "u", "2"},
    GateKind{"cs", 0, 1, "s", "", "cp(pi/2) a,b;"},
    GateKind{"csdg", 0, 1, "sdg", "", "cp(-pi/2) a,b;"},
    GateKind{"csx", 0, 1, "sx", "2"},
    GateKind{"cu", 4, 0, "", "23", "p(t3) a;cu3(t0,t1,t2) a,b;", 2},
    GateKind{"swap", 0, 0, "swap", "23", {}, 2},
    GateKind{"rxx", 1, 0, "", "2", "h a;h b;cx a,b;rz(t0) b;cx a,b;h a;h b;", 2},
    GateKind{"ryy", 1, 0, "", "",
             "rx(pi/2) a;rx(pi/2) b;cx a,b;rz(t0) b;cx a,b;rx(-pi/2) a;rx(-pi/2) b;", 2},
    GateKind{"rzz", 1, 0, "", "2", "cx a,b;rz(t0) b;cx a,b;", 2},
    GateKind{"rzx", 1, 0, "", "", "h b;cx a,b;rz(t0) b;cx a,b;h b;", 2},
    GateKind{"ecr", 0, 0, "", "", "rzx(pi/4) a,b;x a;rzx(-pi/4) a,b;", 2},
    GateKind{"iswap", 0, 0, "", "", "s a;s b;h a;cx a,b;cx b,a;h b;", 2},
    GateKind{"dcx", 0, 0, "", "", "cx a,b;cx b,a;", 2},
    GateKind{"ccx", 0, 2, "x"},
    GateKind{"ccz", 0, 2, "z", "", "h c;ccx a,b,c;h c;"},
    GateKind{"cswap", 0, 1, "swap", "23", {}, 2},
    GateKind{"rccx", 0, 0, "", "2",
             "u2(0,pi) c;p(pi/4) c;cx b,c;p(-pi/4) c;cx a,c;p(pi/4) c;cx b,c;p(-pi/4) c;"
             "u2(0,pi) c;",
             3},
    GateKind{"c3x", 0, 3, "x", "2"},
    GateKind{"c3sqrtx", 0, 3, "sx", "2"},
    GateKind{"c3sx", 0, 3, "sx", ""},
    GateKind{"c4x", 0, 4, "x", "2"},
    GateKind{"rc3x", 0, 0, "", "2",
             "u2(0,pi) d;p(pi/4) d;cx c,d;p(-pi/4) d;u2(0,pi) d;cx a,d;p(pi/4) d;cx b,d;"
             "p(-pi/4) d;cx a,d;p(pi/4) d;cx b,d;p(-pi/4) d;u2(0,pi) d;p(pi/4) d;cx c,d;"
             "p(-pi/4) d;u2(0,pi) d;",
             4}};

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
  if (base == "sxdg") {
    const Amplitude plus{0.5, 0.5}, minus{0.5, -0.5};
    return {minus, plus, plus, minus};
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
  return find_or_null(kinds, name, &GateKind::name);
}

std::vector<std::string> gate_names() {
  std::vector<std::string> out;
  for (const GateKind& kind : kinds) out.emplace_back(kind.name);
  return out;
}

std::map<std::string, std::int64_t> counts_by_name(const Circuit& circuit) {
  std::map<std::string, std::int64_t> out;
  for (const GateUse& gate : circuit.gates) ++out[gate_text(gate)];
  return out;
}

namespace {

struct Parts {
  std::int64_t one = 0, two = 0;
};

Parts parts_of(const GateUse& gate) {
  const GateKind& kind = *find_gate(gate.name);
  const bool swaps = kind.base == "swap";
  const int controls = gate.controls + kind.controls + (swaps && gate.qubits.size() > 2 ? 1 : 0);
  if (swaps && controls == 0) return {0, 3};
  if (gate.qubits.size() == 1) return {1, 0};
  if (gate.qubits.size() == 2) return {0, 1};
  if (!kind.base.empty()) {
    const std::int64_t codes = std::int64_t{2} << std::min(controls, 60);
    return {codes + 1, codes - 2 + (swaps ? 2 : 0)};
  }
  Parts out;
  for (const GateUse& part : definition_of(gate)) {
    const Parts of = parts_of(part);
    out.one += of.one;
    out.two += of.two;
  }
  return out;
}

}  // namespace

GateCounts count_gates(const Circuit& circuit) {
  GateCounts out;
  std::vector<std::int64_t> depth(as_size(circuit.qubits)), pairs(depth);
  for (const GateUse& gate : circuit.gates) {
    const auto [one, two] = parts_of(gate);
    out.one_qubit += one;
    out.two_qubit += two;
    std::int64_t latest = 0, latest_pairs = 0;
    for (const int q : gate.qubits) {
      latest = std::max(latest, depth[as_size(q)]);
      latest_pairs = std::max(latest_pairs, pairs[as_size(q)]);
    }
    for (const int q : gate.qubits) {
      depth[as_size(q)] = latest + std::max<std::int64_t>(1, two);
      pairs[as_size(q)] = latest_pairs + two;
    }
    out.depth = std::max(out.depth, latest + std::max<std::int64_t>(1, two));
    out.two_qubit_depth = std::max(out.two_qubit_depth, latest_pairs + two);
  }
  return out;
}

namespace {

// Of a unitary matrix U = e^(ia) (cos b + i sin b n.sigma), on the principal branch.
Gate2 raised(const Gate2& m, double power) {
  if (power == 1) return m;
  const Amplitude root = std::sqrt(m[0] * m[3] - m[1] * m[2]);  // e^(ia)
  const Amplitude half_trace = (m[0] + m[3]) / (2.0 * root);
  const double b = std::acos(std::clamp(half_trace.real(), -1.0, 1.0));
  const Amplitude first = root * std::polar(1.0, b), second = root * std::polar(1.0, -b);
  const Amplitude x = std::pow(first, power), y = std::pow(second, power);
  if (std::sin(b) < 1e-12) return {x * m[0] / first, 0, 0, x * m[3] / first};
  // x and y times the projectors on the eigenvectors: (U - second) / (first - second), and the
  // rest.
  const Amplitude gap = first - second;
  const auto at = [&](std::size_t i, double unit) {
    const Amplitude projector = (m[i] - second * unit) / gap;
    return x * projector + y * (unit - projector);
  };
  return {at(0, 1), at(1, 0), at(2, 0), at(3, 1)};
}

}  // namespace

void apply(StateVector& state, const GateUse& gate) {
  const GateKind& kind = *find_gate(gate.name);
  if (kind.base.empty()) {
    for (const GateUse& part : definition_of(gate)) apply(state, part);
    return;
  }
  std::uint64_t controls = 0;
  for (std::size_t c = 0; c + as_size(kind.targets) < gate.qubits.size(); ++c) {
    controls |= std::uint64_t{1} << gate.qubits[c];
  }
  const int target = gate.qubits.back();
  if (kind.base != "swap") {
    return state.apply(raised(matrix(kind.base, gate.angles), gate.power), target, controls);
  }
  const int other = gate.qubits[gate.qubits.size() - 2];
  const Gate2 flip = matrix("x", {});
  for (const auto& [to, from] : {std::pair{target, other}, {other, target}, {target, other}}) {
    state.apply(flip, to, controls | std::uint64_t{1} << from);
  }
}

}  // namespace halmark::circuit
