// The peaks of this machine, measured and kept: the one call that `halmark peaks` makes.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "core/device.hpp"
#include "core/measured/worker_limits.hpp"

namespace halmark::tune {

struct PeakMeasuring {
  std::string fingerprint;  // of this machine
  std::string path;         // of the device file; its folder is created
  bool is_quick = true;
  WorkerLimits limits = {};
  std::function<void(double share, const std::string& what)> progress;
  std::stop_token stop;
};

// Adds what was seen to the file of this machine and returns what it then says. Writes nothing when
// interrupted. Throws Error: exit 2 for a file with the figures of another machine or of other
// cores, before anything is measured; exit 5 when no probe worker can be started; exit 1 naming the
// path for a storage error.
Device measure_machine_peaks(const PeakMeasuring& options);

// Adds what a run saw of the ceilings to the device file, where there is one. Gives why it cannot:
// what was measured is to be reported all the same.
std::string keep_seen_peaks(const Device& seen, const std::string& path);

}  // namespace halmark::tune
