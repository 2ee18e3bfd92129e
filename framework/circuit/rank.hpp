// Which QPU runs a circuit with the highest fidelity, by what is published of it.
#pragma once

#include <string>
#include <vector>

#include "circuit/circuit.hpp"
#include "circuit/qpu_device.hpp"
#include "report/views/view.hpp"

namespace halmark::circuit {

struct RankedQpu {
  QpuDevice device;
  std::string refusal = {};  // why it cannot run the circuit; "" = it can
  GateCounts gates;          // with those of routing
  double swaps = 0;          // that routing adds
  // prod (1 - error)^count over gates and readouts: an estimate without correlated errors and
  // idling. At most this where an error is not stated.
  double fidelity = 0;
  bool is_upper_bound = false;
  std::string dominant = {};            // one-qubit gates, two-qubit gates, readout
  std::optional<double> shot_ns = {};   // critical path of gates and one readout
  std::optional<double> cost_usd = {};  // of all shots
};

// Sorted by fidelity: devices of which every error is stated, then upper bounds, then those that
// cannot run the circuit.
std::vector<RankedQpu> rank(const Circuit& circuit, const std::vector<QpuDevice>& devices,
                            std::int64_t shots);

report::View rank_view(const Circuit& circuit, const std::vector<RankedQpu>& ranked,
                       std::int64_t shots);

}  // namespace halmark::circuit
