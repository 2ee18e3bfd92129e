// This machine as what configurations run on, and as what judges rows: its own CPU, or a device
// that only a plugin reaches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/machine.hpp"
#include "host/plugin/discovery.hpp"
#include "tune/plan/target.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::tune {

// The file that `halmark peaks` wrote for the device of this fingerprint; nothing without one.
std::optional<Device> measured_device(const std::string& fingerprint);

// What is known of a device that is none of the CPU.
struct KnownFigures {
  std::optional<Device> measured, datasheet;
};

struct LocalMachine {
  Machine machine;
  std::string fingerprint;          // of the host's CPU, as this process may use it
  std::string rows_fingerprint;     // of what is measured: another one for a plugin's own device
  int cores = 1;                    // what one shard of the whole device gets
  std::int64_t memory_bytes = 0;    // of what is measured
  bool has_bf16 = false;            // it computes bf16
  bool is_apart = false;            // what is measured computes apart from the host
  std::optional<Device> measured;   // its peaks, written by `halmark peaks`
  std::optional<Device> datasheet;  // configs/devices, by the name of the CPU or the driver's
  MeasureLimits limits;             // written by `halmark aa`
  std::string limits_path;          // "" = there are none
  // Of a machine that is not this one: what it told of its devices, by the fingerprint of their
  // rows, in the place of files of this one.
  std::optional<std::map<std::string, KnownFigures>> told = {};

  MachineIdentity identity() const;  // of what is measured
};
LocalMachine local_machine();
// Rows are measured on this device of the plugin from now on, and judged by its own peaks.
void rows_are_of(LocalMachine& machine, const FoundPlugin& plugin, const std::string& device);

Target target_of(const LocalMachine& machine, const std::string& backend, const std::string& device,
                 WinnerTable winners);
ReportingMachine reporting_machine(const LocalMachine& machine);
// Open MPI and OpenMP versions, isa keys, cores: lines for reports and doctor.
std::vector<std::string> machine_lines(const LocalMachine& machine);

}  // namespace halmark::tune
