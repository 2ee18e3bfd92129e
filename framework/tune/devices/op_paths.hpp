// Which kernel a device takes for each op when none is named, and what computes it there: what
// `halmark devices --paths` says.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measured/measurement.hpp"
#include "host/plugin/discovery.hpp"
#include "report/views/view.hpp"

namespace halmark::tune {

struct OpPath {
  std::string device;  // backend:id
  std::string op;
  std::string what;   // of the problem, where its size decides: "decode", "512 rows"; "" elsewhere
  std::string types;  // as f32 where all are, else as s8_s8_s32
  std::string kernel;
  Implementation implementation;
};

// Of every loaded plugin's devices, ops in the order of the contracts. A small problem of each op
// and types is prepared in a worker; what the device does not take is left out, and so are
// collectives. Throws Error (exit 5) for a device that cannot be opened.
std::vector<OpPath> op_paths(std::span<const FoundPlugin> found, const WorkerLimits& limits);

// {"paths": [...]}; in the text one line for all types that take the same path.
report::View paths_view(std::span<const OpPath> paths);

}  // namespace halmark::tune
