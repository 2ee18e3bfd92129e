#include "circuit/rank_request.hpp"

#include "circuit/qasm.hpp"
#include "circuit/rank.hpp"
#include "circuit/sample.hpp"
#include "core/input/places.hpp"
#include "core/text/error.hpp"
#include "report/text/table.hpp"

namespace halmark::circuit {
namespace {

Noise noise_of(const std::string& id, const std::vector<QpuDevice>& devices) {
  if (id.empty()) return {};
  std::vector<std::string> ids;
  for (const QpuDevice& device : devices) {
    ids.push_back(device.id);
    if (device.id != id) continue;
    return {device.one_qubit_error.value_or(0), device.two_qubit_error.value_or(0),
            device.readout_error.value_or(0)};
  }
  throw refused("unknown QPU '" + printable(id) + "'", {}, suggestion(id, ids));
}

report::View counts_view(const Circuit& circuit, const RankRequest& request, const Noise& noise) {
  const auto counts = sample(circuit, request.samples, request.seed, noise);
  report::View out{.data = {{"shots", request.samples},
                            {"seed", request.seed},
                            {"noise", request.noise.empty() ? Json(nullptr) : Json(request.noise)},
                            {"counts", Json::object()}},
                   .text = {}};
  report::TextTable table({"bits", "count"}, {false, true});
  for (const auto& [bits, count] : counts) {
    out.data["counts"][bits] = count;
    table.add({bits, std::to_string(count)});
  }
  out.text = table.text();
  return out;
}

}  // namespace

report::View answer(const RankRequest& request) {
  if (!request.noise.empty() && request.samples == 0) {
    throw refused("--noise says what --sample simulates; give --sample too");
  }
  const Circuit circuit = read_qasm(request.path);
  if (request.version != 0) {
    const std::string text = qasm_text(circuit, request.version);
    return {.data = {{"qasm", text}}, .text = text};
  }
  const auto devices = known_qpus(config_dirs("qpus"));
  if (request.samples > 0) return counts_view(circuit, request, noise_of(request.noise, devices));
  return rank_view(circuit, rank(circuit, devices, request.shots), request.shots);
}

}  // namespace halmark::circuit
