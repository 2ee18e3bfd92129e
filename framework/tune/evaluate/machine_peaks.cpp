// Probes in a worker of their own, then the file that later runs judge by.
#include "tune/evaluate/machine_peaks.hpp"

#include <filesystem>

#include "core/input/places.hpp"
#include "core/text/error.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "measure/probe/peaks.hpp"
#include "plan/device/device_file.hpp"
#include "tune/evaluate/peaks_file.hpp"

namespace halmark::tune {

Device measure_machine_peaks(const PeakMeasuring& options) {
  require_own_file(options.path, options.fingerprint);
  require_writable(options.path, "");
  Device seen = measure_peaks({.is_quick = options.is_quick,
                               .limits = options.limits,
                               .date_utc = journal::utc_now(),
                               .progress = options.progress,
                               .should_stop = [&] { return options.stop.stop_requested(); }});
  seen.fingerprint = options.fingerprint;
  Device device = merged_with_file(std::move(seen), options.path);
  for (std::string& dropped : settle_threads(device)) device.notes.push_back(std::move(dropped));
  if (options.stop.stop_requested()) return device;
  write_peaks_file(device, options.path);
  return device;
}

std::string keep_seen_peaks(const Device& seen, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  try {
    Device device = read_device(path);
    observe(device, seen);
    settle_threads(device);
    write_peaks_file(device, path);
    return {};
  } catch (const Error& e) {
    return e.line();
  }
}

}  // namespace halmark::tune
