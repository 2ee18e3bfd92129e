// [nightly] of a sweep: what a scheduler calls every night, within minutes that are its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/toml_table.hpp"

namespace halmark {

// One [[nightly.kernel]] or [[nightly.sentinel]]: kernels besides those of the sweep's model.
struct NightlyKernels {
  std::string op, params;  // as of halmark bench: see parse_param_grid
  std::vector<std::string> dtypes;
  std::string where;  // file:line:column, for later refusals
};

struct Nightly {
  double budget_s = 0;  // of a whole night
  // Of the results database: raw samples from before the latest n nights go; 0 = all stay.
  int keep_samples_nights = 0;
  std::vector<NightlyKernels> kernels;
  // Measured before, between and after the rounds: what moves them is the machine.
  std::vector<NightlyKernels> sentinels;
};

// The tables [[key]] of this one.
std::vector<NightlyKernels> read_kernel_tables(const TomlTable& table, const char* key);

// Absent where the file has no [nightly]. Throws Error (exit 2) with file:line:column.
std::optional<Nightly> read_nightly(const TomlTable& root);

}  // namespace halmark
