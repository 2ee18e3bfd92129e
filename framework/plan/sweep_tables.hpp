// Tables that sweeps of models and of kernels have in common. Internal to the readers of sweeps.
#pragma once

#include "plan/sweep.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {

void read_measure(const TomlTable& table, MeasureSettings& out);
Sweep read_sweep_table(const TomlTable& root, std::string_view where);

}  // namespace halmark
