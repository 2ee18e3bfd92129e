// A device file appears whole or not at all: later runs judge by it.
#include "tune/evaluate/machine_peaks.hpp"

#include <filesystem>

#include "journal/writer_lock.hpp"
#include "measure/probe/peaks.hpp"
#include "plan/device_file.hpp"
#include "report/report.hpp"

namespace halmark::tune {

Device measure_machine_peaks(const PeakMeasuring& options) {
  Device device = measure_peaks({.is_quick = options.is_quick,
                                 .date_utc = journal::utc_now(),
                                 .progress = options.progress,
                                 .should_stop = options.is_interrupted});
  device.fingerprint = options.fingerprint;
  if (options.is_interrupted && options.is_interrupted()) return device;
  const std::filesystem::path folder = std::filesystem::path(options.path).parent_path();
  std::error_code said_by_writing;
  if (!folder.empty()) std::filesystem::create_directories(folder, said_by_writing);
  write_whole_file(device_text(device), options.path);
  return device;
}

}  // namespace halmark::tune
