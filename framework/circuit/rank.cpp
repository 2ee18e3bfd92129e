#include "circuit/rank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "core/numeric/cast.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::circuit {
namespace {

// Mean distance of two places among n, as hops: a grid of side sqrt(n) has 2/3 of a side per mean
// of both axes together, a line n/3. A heavy hexagon is a grid whose edges are about twice as long.
double mean_hops(const std::string& connectivity, double places) {
  if (connectivity == "all_to_all") return 1;
  if (connectivity == "line") return std::max(1.0, places / 3);
  const double grid = std::max(1.0, 2.0 / 3 * std::sqrt(places));
  return connectivity == "heavy_hex" ? 2 * grid : grid;
}

// A pair that is h hops apart needs h - 1 swaps. Circuits whose pairs form a line, or several, lie
// on the device as they are; others are as if placed at random, and a good router does with about
// half of that.
double routing_swaps(const Circuit& circuit, const QpuDevice& device) {
  std::set<std::pair<int, int>> pairs;
  std::int64_t gates = 0;
  for (const GateUse& gate : circuit.gates) {
    if (gate.qubits.size() < 2) continue;
    const std::int64_t native = gate.qubits.size() == 2 ? 1 : 6;
    gates += native;
    for (std::size_t a = 0; a < gate.qubits.size(); ++a) {
      for (std::size_t b = a + 1; b < gate.qubits.size(); ++b) {
        pairs.insert(std::minmax(gate.qubits[a], gate.qubits[b]));
      }
    }
  }
  std::vector<int> neighbours(as_size(circuit.qubits));
  for (const auto& [a, b] : pairs) {
    ++neighbours[as_size(a)];
    ++neighbours[as_size(b)];
  }
  const bool is_line = std::ranges::all_of(neighbours, [](int n) { return n <= 2; }) &&
                       static_cast<std::int64_t>(pairs.size()) < circuit.qubits;
  if (is_line || device.connectivity == "all_to_all") return 0;
  constexpr double router_gain = 0.5;
  return router_gain * as_double(gates) * (mean_hops(device.connectivity, circuit.qubits) - 1);
}

std::int64_t readouts(const Circuit& circuit) {
  return circuit.measured.empty() ? circuit.qubits : std::ssize(circuit.measured);
}

struct Term {
  const char* name;
  std::optional<double> error;
  double count;
};

void estimate_fidelity(RankedQpu& out, const Circuit& circuit) {
  const double two = as_double(out.gates.two_qubit);
  const std::array terms{
      Term{"one-qubit gates", out.device.one_qubit_error, as_double(out.gates.one_qubit)},
      Term{"two-qubit gates", out.device.two_qubit_error, two},
      Term{"readout", out.device.readout_error, as_double(readouts(circuit))}};
  double exponent = 0, largest = 0;
  for (const Term& term : terms) {
    if (!term.error) {
      out.is_upper_bound = out.is_upper_bound || term.count > 0;
      continue;
    }
    const double share = -term.count * std::log1p(-*term.error);
    exponent += share;
    if (share <= largest) continue;
    largest = share;
    out.dominant = term.name;
  }
  out.fidelity = std::exp(-exponent);
}

RankedQpu ranked(const Circuit& circuit, const QpuDevice& device, std::int64_t shots) {
  RankedQpu out{.device = device, .gates = count_gates(circuit)};
  if (circuit.qubits > device.qubits) {
    out.refusal = "the circuit has " + std::to_string(circuit.qubits) + " qubits, the device " +
                  std::to_string(device.qubits);
    return out;
  }
  out.swaps = routing_swaps(circuit, device);
  const auto added = static_cast<std::int64_t>(std::ceil(3 * out.swaps));
  const double stretch = out.gates.two_qubit == 0 ? 1
                                                  : as_double(out.gates.two_qubit + added) /
                                                        as_double(out.gates.two_qubit);
  out.gates.two_qubit += added;
  estimate_fidelity(out, circuit);
  if (device.one_qubit_ns && device.two_qubit_ns && device.readout_ns) {
    const auto pairs = as_double(out.gates.two_qubit_depth);
    const double single = as_double(out.gates.depth) - pairs;
    out.shot_ns =
        single * *device.one_qubit_ns + pairs * stretch * *device.two_qubit_ns + *device.readout_ns;
  }
  if (device.usd_per_shot) {
    out.cost_usd = device.usd_per_task.value_or(0) + as_double(shots) * *device.usd_per_shot;
  }
  return out;
}

std::string why(const RankedQpu& row) {
  if (!row.refusal.empty()) return row.refusal;
  std::string text =
      row.dominant.empty() ? "no error is stated" : "most is lost in " + row.dominant;
  if (row.swaps > 0) text += ", " + number_text(std::ceil(row.swaps), 6) + " swaps of routing";
  if (row.is_upper_bound) text += "; at most this: not every error is stated";
  return text;
}

// "cx 3, h 4", as the file has them.
std::string names_text(const Circuit& circuit) {
  std::string out;
  for (const auto& [name, count] : counts_by_name(circuit)) {
    append_item(out, ", ", name + ' ' + std::to_string(count));
  }
  return out.empty() ? out : out + '\n';
}

Json row_json(const RankedQpu& row) {
  const bool can = row.refusal.empty();
  const auto value = [&](const std::optional<double>& v) {
    return can && v ? Json(*v) : Json(nullptr);
  };
  return {{"id", row.device.id},
          {"name", row.device.name},
          {"fidelity", can ? Json(row.fidelity) : Json(nullptr)},
          {"fidelity_is_upper_bound", row.is_upper_bound},
          {"dominant", row.dominant},
          {"swaps", row.swaps},
          {"two_qubit_gates", row.gates.two_qubit},
          {"one_qubit_gates", row.gates.one_qubit},
          {"shot_ns", value(row.shot_ns)},
          {"cost_usd", value(row.cost_usd)},
          {"why", why(row)},
          {"errors_source", row.device.errors_source},
          {"times_source", row.device.times_source},
          {"price_source", row.device.price_source}};
}

}  // namespace

std::vector<RankedQpu> rank(const Circuit& circuit, const std::vector<QpuDevice>& devices,
                            std::int64_t shots) {
  std::vector<RankedQpu> out;
  for (const QpuDevice& device : devices) out.push_back(ranked(circuit, device, shots));
  std::ranges::stable_sort(out, [](const RankedQpu& a, const RankedQpu& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    // What is at most so high may be lower than any other.
    if (a.is_upper_bound != b.is_upper_bound) return b.is_upper_bound;
    return a.fidelity > b.fidelity;
  });
  return out;
}

report::View rank_view(const Circuit& circuit, const std::vector<RankedQpu>& rows,
                       std::int64_t shots) {
  const GateCounts gates = count_gates(circuit);
  report::View out{.data = {{"qubits", circuit.qubits},
                            {"one_qubit_gates", gates.one_qubit},
                            {"two_qubit_gates", gates.two_qubit},
                            {"depth", gates.depth},
                            {"gates", counts_by_name(circuit)},
                            {"shots", shots},
                            {"devices", Json::array()}},
                   .text = {}};
  out.text = std::to_string(circuit.qubits) + " qubits, " + std::to_string(gates.one_qubit) +
             " gates of one qubit and " + std::to_string(gates.two_qubit) + " of two, depth " +
             std::to_string(gates.depth) + "\n" + names_text(circuit) + '\n';
  report::TextTable table({"QPU", "fidelity", "time per shot", "cost", "why"},
                          {false, true, true, true, false});
  std::string sources;
  for (const RankedQpu& row : rows) {
    out.data["devices"].push_back(row_json(row));
    const bool can = row.refusal.empty();
    table.add({row.device.id,
               can ? (row.is_upper_bound ? "<= " : "") + number_text(row.fidelity, 3) : "-",
               can && row.shot_ns ? report::duration_text(*row.shot_ns) : "-",
               can && row.cost_usd ? "$" + number_text(*row.cost_usd, 4) : "-", why(row)});
    sources += row.device.id + ": " + row.device.errors_source + '\n';
  }
  out.text += table.text() +
              "\nfidelity = product of (1 - error) over gates and readouts, an estimate; cost of " +
              std::to_string(shots) + " shots\nerrors as stated by\n" + sources;
  return out;
}

}  // namespace halmark::circuit
