// For which machines a command plans: those of one class, by what their agents told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "fleet/work_table.hpp"

namespace halmark::fleet {

struct ClassQuestion {
  std::string wanted;              // the begin of a class; "" = the one that is there
  std::vector<ShardPlace> places;  // devices that the sweep measures on, each once
  std::string tool;                // version and build that agents must have
};

struct ClassAnswer {
  // Of the agent whose facts stand for the class: the first of those that are present, or of those
  // that were where none is.
  std::optional<std::int64_t> agent;
  std::string hardware_class;  // of the places: "cpu-..", "cpu-..+device-.."
  std::string waits;           // where there is none: what is lacking
};

// Throws Error (exit 2) that lists them where agents of several classes are there and none of them
// is wanted.
ClassAnswer chosen_class(const ClassQuestion& question, std::span<const Agent> agents);

}  // namespace halmark::fleet
