// What a sweep asks of a served model: [request], [slo] and the facts of its devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/chosen/objective.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {

// Lengths of a chat, where none are stated.
inline constexpr RequestShape usual_request{.input_tokens = 1000, .output_tokens = 200};

// [request]: every concurrency x token budget x mode is a point for each layout and precision.
struct ServedSweep {
  RequestShape request;
  std::vector<std::int64_t> concurrency;
  std::vector<std::int64_t> token_budgets;
  std::vector<ServingMode> modes;
  std::vector<Objective> objectives;  // in order of printing
  std::vector<ServiceLevel> levels;   // [slo]
};

// Which devices serve, and what is known about them beyond their file.
struct ServingDevices {
  std::string file;  // device_file: id of configs/devices, or a path
  std::string file_where;
  std::optional<double> network_bytes_per_s;  // of one device, one direction, between link domains
  std::optional<double> usd_per_device_hour;
  double memory_fraction =
      0.9;  // of a device's memory that weights, cache and activations may take
};

// Throws Error (exit 2) with file:line:column. Nothing without [request]; then [slo] and the
// objectives of requests are refused.
std::optional<ServedSweep> read_served_sweep(const TomlTable& root);
ServingDevices read_serving_devices(const TomlTable& root);

// The keys of [slo] in a table. Throws Error (exit 2) with the nearest key.
std::vector<ServiceLevel> read_service_levels(const TomlTable& slo);

// The same as options state them: keys of [slo], "ttft_ms=500", and durations, "1s".
struct StatedLevels {
  std::vector<std::string> slo;  // --slo
  std::string ttft, tpot;        // --ttft, --tpot
  bool any() const { return !slo.empty() || !ttft.empty() || !tpot.empty(); }
};
// Throws likewise; also for what is no number or duration, and a level that is stated twice.
std::vector<ServiceLevel> service_levels(const StatedLevels& stated);

}  // namespace halmark
