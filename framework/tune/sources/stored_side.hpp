// Rows of a results database as one side of a comparison of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "latency/sides/side_kernels.hpp"

namespace halmark::tune {

struct StoredSide {
  SideKernels kernels;
  std::optional<Device> device;    // whose peaks count; nothing where nobody knows them
  std::vector<std::string> lines;  // for people
};

// Of one run, or of the latest runs of the machine that measured last: of each kernel the newest
// run that has it. Rows are of one device, that with most of them. Peaks are `said`'s, else those
// that the newest run stored. Throws Error (exit 2) for a foreign or damaged database and one
// without rows.
StoredSide stored_side(const std::string& path, std::optional<std::int64_t> run,
                       std::optional<Device> said);

}  // namespace halmark::tune
