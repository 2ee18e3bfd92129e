// Limits of workers as a user writes them: on the command line, and in a sweep's [containment].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/measured/worker_limits.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {

// What is said, nothing else: absent values are left to the next one.
struct StatedLimits {
  std::optional<std::int64_t> memory_bytes;  // 0 = no limit
  std::vector<std::pair<const PhaseLimit*, double>> phases;
};

// "8GiB", "512 MiB", "2e9", "none". Throws Error (exit 2) that names `where`.
std::int64_t parse_worker_memory(const std::string& text, const std::string& where);
// "create=30". Throws Error (exit 2) with the nearest phase.
std::pair<const PhaseLimit*, double> parse_phase_limit(const std::string& text,
                                                       const std::string& where);
// [containment]: worker_memory = "8GiB", create_s = 30, ...
StatedLimits read_stated_limits(const TomlTable& table);

// The defaults, with what `of_sweep` and then `of_command` state.
WorkerLimits worker_limits(const StatedLimits& of_sweep, const StatedLimits& of_command);
// "load, open, query, ..."
std::string phase_names();

}  // namespace halmark
