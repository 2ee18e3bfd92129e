// The peaks of this machine, measured and kept: the one call that `halmark peaks` makes.
#pragma once

#include <functional>
#include <string>

#include "core/device.hpp"

namespace halmark::tune {

struct PeakMeasuring {
  std::string fingerprint;  // of this machine
  std::string path;         // of the device file; its folder is created
  bool is_quick = true;
  std::function<void(double share, const std::string& what)> progress;
  std::function<bool()> is_interrupted;
};

// Writes nothing when interrupted. Throws Error: exit 5 when no probe worker can be started, exit 1
// naming the path for a storage error.
Device measure_machine_peaks(const PeakMeasuring& options);

}  // namespace halmark::tune
