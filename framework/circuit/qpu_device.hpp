// Real QPUs as their makers and papers state them (configs/qpus/*.toml). A figure that nobody
// states is absent, and what needs it is an upper bound or absent too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace halmark::circuit {

struct QpuDevice {
  std::string id, name, vendor, technology;
  int qubits = 0;
  std::string connectivity;  // all_to_all, grid, heavy_hex, line
  // Average infidelity of a gate, probability of a wrong bit.
  std::optional<double> one_qubit_error, two_qubit_error, readout_error;
  std::optional<double> one_qubit_ns, two_qubit_ns, readout_ns;
  std::optional<double> usd_per_task, usd_per_shot;
  std::string errors_source, times_source, price_source;
};

// Throws Error (exit 2) with file:line:column.
QpuDevice parse_qpu(std::string_view text, std::string_view where);
// Every *.toml of the folders, sorted by id; of equal ids the one of the earlier folder.
std::vector<QpuDevice> known_qpus(const std::vector<std::filesystem::path>& folders);

}  // namespace halmark::circuit
