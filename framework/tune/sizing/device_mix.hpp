// A mix of device types for a load of several sizes of requests: what one unit of each keeps up is
// priced as in served sweeps, the cheapest mix is an exact integer program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/toml/load_file.hpp"
#include "tune/sizing/fleet.hpp"
#include "tune/sizing/unit_load.hpp"

namespace halmark::tune {

struct MixChoice {
  std::string model;
  UnitChoice unit;
  std::vector<std::string> devices;  // ids, aliases or files
  std::vector<std::string> prices;   // "l4=0.8": US dollars an hour of one device
  std::vector<std::int64_t> tp = {1, 2, 4, 8};
  std::int64_t slices = 8;
};

// One replica: `tp` devices of one type.
struct MixUnit {
  Device device;
  std::int64_t tp = 1;
  double usd_per_hour = 0;
};

struct DeviceMix {
  std::string model;
  RequestLoad load;
  std::vector<MixUnit> units;
  std::vector<std::vector<UnitLoad>> loads;  // by bucket and unit
  std::int64_t slices = 0;
  Fleet fleet;
  // The cheapest of one device type alone, by device in the order of the question; nothing where it
  // cannot serve every bucket.
  std::vector<std::string> devices;
  std::vector<std::optional<double>> single_usd_per_hour;
  std::vector<std::string> basis;  // what times rest on
};

// The load of a file, or of one kind of request where no file is named. Throws Error (exit 2) for
// both, neither, and numbers that no load has.
RequestLoad asked_load(const std::string& file, const LoadBucket& bucket);

// Throws Error (exit 2) for an unknown device or model, a device without a price, a level that no
// figure of requests has, and a load with a bucket that no device serves within the levels.
DeviceMix mix_devices(const MixChoice& choice, RequestLoad load, const Folders& models,
                      const Folders& devices);

}  // namespace halmark::tune
