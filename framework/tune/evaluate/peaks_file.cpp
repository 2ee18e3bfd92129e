// A device file appears whole or not at all: later runs judge by it.
#include "tune/evaluate/peaks_file.hpp"

#include <filesystem>

#include "core/input/places.hpp"
#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "report/report.hpp"

namespace halmark::tune {

namespace {

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

// What one core reaches is no figure of the machine, nor the other way round: neither replaces the
// other.
void require_own_file(const std::string& path, const std::string& fingerprint) {
  if (!is_file(path)) return;
  const Device known = read_device(path);
  if (known.fingerprint == fingerprint) return;
  throw refused(
      "the figures in this file are of " +
          (known.fingerprint.empty() ? std::string("another device") : known.fingerprint) +
          ", and this is " + fingerprint,
      path, "name another file with --out, or run on the cores that it is of");
}

Device merged_with_file(Device seen, const std::string& path) {
  if (!is_file(path)) return seen;
  Device known = read_device(path);
  observe(known, seen);
  if (!seen.ring_plateau_bytes) seen.ring_plateau_bytes = known.ring_plateau_bytes;
  seen.peaks = std::move(known.peaks);
  seen.bandwidths = std::move(known.bandwidths);
  return seen;
}

void write_peaks_file(const Device& device, const std::string& path) {
  require_writable(path, "");
  write_whole_file(device_text(device), path);
}

}  // namespace halmark::tune
