#include "tune/devices/local_machine.hpp"

#include <algorithm>
#include <filesystem>

#include "core/input/places.hpp"
#include "core/lists.hpp"
#include "host/machine_text.hpp"
#include "host/partition.hpp"
#include "host/process/run_memory.hpp"
#include "plan/device/device_file.hpp"

namespace halmark::tune {

std::optional<Device> measured_device(const std::string& fingerprint) {
  const std::filesystem::path path = measured_device_path(fingerprint);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  Device out = read_device(path.string());
  settle_threads(out);
  return out;
}

namespace {

// Its own figures and datasheet take the place of the CPU's.
void measure_on(LocalMachine& machine, const protocol::DeviceDescription& device) {
  machine.rows_fingerprint = machine.machine.fingerprint_on(device);
  machine.is_apart = device.is_apart();
  if (!machine.is_apart) return;
  KnownFigures known;
  if (!machine.told) {
    known = {.measured = measured_device(machine.rows_fingerprint),
             .datasheet = datasheet_of(device.name, device.kind, config_dirs("devices"))};
  } else if (const auto own = machine.told->find(machine.rows_fingerprint);
             own != machine.told->end()) {
    known = own->second;
  }
  machine.measured = std::move(known.measured);
  machine.datasheet = std::move(known.datasheet);
  machine.has_bf16 = !machine.datasheet || machine.datasheet->peak(Dtype::bf16, 0).has_value();
  if (device.memory_bytes > 0) machine.memory_bytes = device.memory_bytes;
}

}  // namespace

LocalMachine local_machine() {
  LocalMachine out{.machine = this_machine()};
  out.fingerprint = out.rows_fingerprint = out.machine.fingerprint();
  out.cores = cut(1).front().threads();
  const std::vector<std::string> keys = isa_keys();
  out.has_bf16 = std::ranges::any_of(keys, [](const std::string& key) {
    return key.find("bf16") != std::string::npos || key.find("amx") != std::string::npos;
  });
  out.measured = measured_device(out.fingerprint);
  out.datasheet = datasheet_of(out.machine.cpu_model, "cpu", config_dirs("devices"));
  out.memory_bytes = std::min(out.machine.memory_bytes, run_memory().at_most_bytes());
  const std::filesystem::path limits = measured_limits_path(out.fingerprint);
  std::error_code ignored;
  if (std::filesystem::exists(limits, ignored)) {
    out.limits_path = limits.string();
    out.limits = read_limits_file(out.limits_path);
  }
  return out;
}

MachineIdentity LocalMachine::identity() const {
  MachineIdentity out{.fingerprint = rows_fingerprint, .earlier = {}};
  // Rows of a plugin's own device say nothing of it that would prove which it was.
  if (told || rows_fingerprint != fingerprint) return out;
  out.earlier.fingerprint = machine.earlier_fingerprint();
  for (int parts = 1; parts <= machine.shape.cpus.threads(); ++parts) {
    out.earlier.affinity.emplace(parts, cut(parts).front().text());
  }
  return out;
}

void rows_are_of(LocalMachine& machine, const FoundPlugin& plugin, const std::string& device) {
  if (!plugin.description) return;
  const auto& devices = plugin.description->devices;
  const auto* found = find_or_null(devices, device, &protocol::DeviceDescription::id);
  if (found) measure_on(machine, *found);
}

Target target_of(const LocalMachine& machine, const std::string& backend, const std::string& device,
                 WinnerTable winners) {
  return {.backend = backend,
          .device = device,
          .fingerprint = machine.rows_fingerprint,
          .earlier = machine.identity().earlier,
          .measured = machine.measured,
          .datasheet = machine.datasheet,
          .cores = machine.cores,
          .memory_bytes = machine.memory_bytes,
          .winners = std::move(winners),
          .limits = machine.limits,
          .is_apart = machine.is_apart};
}

ReportingMachine reporting_machine(const LocalMachine& machine) {
  return {.fingerprint = machine.rows_fingerprint,
          .cores = machine.cores,
          .measured = machine.measured,
          .datasheet = machine.datasheet,
          .lines = machine_lines(machine),
          .earlier = machine.identity().earlier};
}

std::vector<std::string> machine_lines(const LocalMachine& m) {
  std::vector<std::string> out = property_lines(m.machine, m.cores, m.rows_fingerprint);
  if (!m.limits_path.empty()) out.push_back("limits: " + m.limits_path);
  return out;
}

}  // namespace halmark::tune
