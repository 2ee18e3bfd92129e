#include "circuit/qpu_device.hpp"

#include <map>

#include "core/input/input_file.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark::circuit {
namespace {

std::optional<double> figure(const TomlTable& table, const char* key, double high) {
  if (!table.has(key)) return std::nullopt;
  return table.number(key, 0, high);
}

// A figure without its source is refused: nobody could judge it.
std::string source(const TomlTable& table, const char* key, bool is_needed) {
  return is_needed ? table.string(key) : table.string_or(key, "");
}

}  // namespace

QpuDevice parse_qpu(std::string_view text, std::string_view where) {
  const TomlTable table = TomlTable::parse(text, where);
  QpuDevice out;
  out.id = table.string("id");
  out.name = table.string("name");
  out.vendor = table.string("vendor");
  out.technology = table.string("technology");
  out.qubits = static_cast<int>(table.integer("qubits", 1, 1 << 20));
  out.connectivity = table.choice("connectivity", {"all_to_all", "grid", "heavy_hex", "line"});
  out.one_qubit_error = figure(table, "one_qubit_error", 0.5);
  out.two_qubit_error = figure(table, "two_qubit_error", 0.5);
  out.readout_error = figure(table, "readout_error", 0.5);
  out.one_qubit_ns = figure(table, "one_qubit_ns", 1e12);
  out.two_qubit_ns = figure(table, "two_qubit_ns", 1e12);
  out.readout_ns = figure(table, "readout_ns", 1e12);
  out.usd_per_task = figure(table, "usd_per_task", 1e6);
  out.usd_per_shot = figure(table, "usd_per_shot", 1e6);
  out.errors_source = table.string("errors_source");
  out.times_source = source(table, "times_source", out.one_qubit_ns || out.two_qubit_ns);
  out.price_source = source(table, "price_source", out.usd_per_shot.has_value());
  table.finish();
  return out;
}

std::vector<QpuDevice> known_qpus(const std::vector<std::filesystem::path>& folders) {
  std::map<std::string, QpuDevice> found;
  for (const auto& folder : folders) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
      if (entry.path().extension() != ".toml") continue;
      const std::string path = entry.path().string();
      QpuDevice device = parse_qpu(read_input(path, toml_input), path);
      found.try_emplace(device.id, std::move(device));
    }
  }
  std::vector<QpuDevice> out;
  for (auto& [id, device] : found) out.push_back(std::move(device));
  return out;
}

}  // namespace halmark::circuit
