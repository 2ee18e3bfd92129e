// What `halmark fabric probe` does: real links and memories of this machine, or of this one and a
// peer, as a fabric file and as what is printed.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "measure/links/link_probe.hpp"
#include "report/views/view.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {

struct FabricProbing {
  std::string id = "this-machine";
  std::string peer;  // "10.0.0.2:7777"; "" = this machine alone
  std::string disk;  // folder on the storage that is a tier; "" = none
  int cores = 1;
  std::int64_t memory_bytes = 0;
  std::optional<double> memory_bytes_per_s;  // measured by `halmark peaks`
  std::string utc;                           // that figures are dated by
  // Of the CPU plugin, for MPI between two ranks; nothing where it has no collectives.
  std::optional<KernelMeasuring> measuring;
  std::stop_token stop;
};

struct ProbedFabric {
  report::View view;
  std::string file;  // as fabric_text; "" where it was interrupted
};

// Throws Error (exit 5) where the peer or the folder cannot be reached.
ProbedFabric probe_fabric(const FabricProbing& options);

}  // namespace halmark::tune
