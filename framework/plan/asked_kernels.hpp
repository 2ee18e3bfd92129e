// Kernels that a sweep names by op: its own without a model, or besides those of one at night.
#pragma once

#include <string>
#include <vector>

#include "plan/toml/toml_table.hpp"

namespace halmark {

// One [[kernel]], [[nightly.kernel]] or [[nightly.sentinel]].
struct AskedKernels {
  std::string op, params;  // as of halmark bench: see parse_param_grid
  std::vector<std::string> dtypes;
  std::string where;  // file:line:column, for later refusals
};

// The tables [[key]] of this one.
std::vector<AskedKernels> read_asked_kernels(const TomlTable& table, const char* key);

}  // namespace halmark
