// What the command line says goes before what the sweep says; a refusal names the one that was
// used.
#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

LatencyChoice latency_choice(const Sweep& sweep, LatencyChoice given) {
  if (given.sources.empty()) {
    given.sources = sweep.latency;
    given.where = sweep.latency_where;
    if (given.sources.empty() && sweep.served) {
      throw refused("[request] is priced, and no source of times is named", sweep.file,
                    "add --latency or latency: roofline, imported:FILE, interpolated");
    }
  } else {
    given.where = "--latency";
  }
  if (given.series.empty()) {
    given.series = sweep.series;
    given.series_where = sweep.series_where;
  } else {
    given.series_where = "--series";
  }
  if (given.device.empty()) {
    given.device = sweep.serving_devices.file;
    given.device_where = sweep.serving_devices.file_where;
  } else {
    given.device_where = "--device-file";
  }
  return given;
}

Device target_device(const LatencyChoice& choice, const Folders& devices) {
  if (!choice.device.empty()) {
    try {
      return known_device(choice.device, devices);
    } catch (const Error& error) {
      if (!error.where().empty()) throw;
      throw refused(error.what(), choice.device_where, error.remedy());
    }
  }
  throw refused("times that are not measured here need a device", choice.where,
                "name one by --device-file or device_file: an id of halmark devices --known, or a "
                "file");
}

}  // namespace halmark::tune
