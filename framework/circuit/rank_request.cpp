#include "circuit/rank_request.hpp"

#include "circuit/qasm.hpp"
#include "circuit/rank.hpp"
#include "circuit/sample.hpp"
#include "core/input/places.hpp"
#include "core/text/error.hpp"
#include "report/text/table.hpp"

namespace halmark::circuit {
namespace {

const QpuDevice* noisy_device(const std::string& id, const std::vector<QpuDevice>& devices) {
  if (id.empty()) return nullptr;
  std::vector<std::string> ids;
  for (const QpuDevice& device : devices) {
    ids.push_back(device.id);
    if (device.id == id) return &device;
  }
  throw refused("unknown QPU '" + printable(id) + "'", "--noise", suggestion(id, ids));
}

// What a device does not state is not simulated, and is named.
struct StatedNoise {
  Noise noise;
  std::vector<std::string> unstated;
};

StatedNoise noise_of(const QpuDevice* device) {
  StatedNoise out;
  if (device == nullptr) return out;
  const auto take = [&out](const std::optional<double>& error, const char* name, double& into) {
    if (error) {
      into = *error;
    } else {
      out.unstated.emplace_back(name);
    }
  };
  take(device->one_qubit_error, "one-qubit gates", out.noise.one_qubit_error);
  take(device->two_qubit_error, "two-qubit gates", out.noise.two_qubit_error);
  take(device->readout_error, "readout", out.noise.readout_error);
  return out;
}

report::View counts_view(const Circuit& circuit, const RankRequest& request,
                         const StatedNoise& stated) {
  const auto counts = sample(circuit, request.samples, request.seed, stated.noise);
  report::View out{.data = {{"shots", request.samples},
                            {"seed", request.seed},
                            {"noise", request.noise.empty() ? Json(nullptr) : Json(request.noise)},
                            {"noise_unstated", stated.unstated},
                            {"counts", Json::object()}},
                   .text = {}};
  report::TextTable table({"bits", "count"}, {false, true});
  for (const auto& [bits, count] : counts) {
    out.data["counts"][bits] = count;
    table.add({bits, std::to_string(count)});
  }
  out.text = table.text();
  for (const std::string& name : stated.unstated) {
    out.text += request.noise + " states no error of " + name + ": none is simulated\n";
  }
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
  if (request.samples > 0) {
    return counts_view(circuit, request, noise_of(noisy_device(request.noise, devices)));
  }
  return rank_view(circuit, rank(circuit, devices, request.shots), request.shots);
}

}  // namespace halmark::circuit
