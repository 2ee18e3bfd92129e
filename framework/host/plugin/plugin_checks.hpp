// What `halmark doctor` says of what was found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/plugin/discovery.hpp"

namespace halmark {

struct Check {
  std::string name, verdict, text;  // verdict: ok, note, missing, refused
};

// One of each plugin; one more where there is none at all.
std::vector<Check> plugin_checks(std::span<const FoundPlugin> found);

// What the run may use of memory, and one worker of it.
std::vector<Check> memory_checks(std::optional<std::int64_t> stated_of_worker);

// How much one worker may take, by `stated` (0 = no limit) or by the machine, and by which means.
std::string worker_memory_text(std::optional<std::int64_t> stated);

}  // namespace halmark
