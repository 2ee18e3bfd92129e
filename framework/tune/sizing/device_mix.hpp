// A mix of device types for a load of several sizes of requests: what one unit of each keeps up is
// priced as in served sweeps, the cheapest mix is an exact integer program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/toml/load_file.hpp"
#include "tune/sizing/fleet.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

struct MixChoice {
  std::string model, dtype = "checkpoint";
  std::vector<std::string> devices;  // ids, aliases or files
  std::vector<std::string> prices;   // "l4=0.8": US dollars an hour of one device
  std::vector<std::int64_t> tp = {1, 2, 4, 8};
  std::vector<std::string> latency = {"roofline"};
  std::int64_t slices = 8;
  double memory_fraction =
      0.9;  // of a device's memory that weights, cache and activations may take
};

// One replica: `tp` devices of one type.
struct MixUnit {
  Device device;
  std::int64_t tp = 1;
  double usd_per_hour = 0;
};

// What one unit keeps up of one bucket: the load of most requests/s that keeps all levels.
struct UnitLoad {
  double requests_per_s = 0;  // 0 = it cannot serve the bucket
  std::string reason;         // why not
  std::int64_t concurrency = 0, token_budget = 0;
  double ttft_ns = 0, tpot_ns = 0;
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
