// What `halmark doctor` says of this machine itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/plugin/plugin_checks.hpp"
#include "tune/devices/local_machine.hpp"

namespace halmark::tune {

// `worker_memory`: of each worker, where it is stated.
std::vector<Check> machine_checks(const LocalMachine& machine,
                                  std::optional<std::int64_t> worker_memory);

}  // namespace halmark::tune
