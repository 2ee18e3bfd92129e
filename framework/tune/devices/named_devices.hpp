// Devices that a sweep or a command names: each with the plugin that drives it, what bounds it and
// what it is.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "journal/store.hpp"
#include "measure/campaign/run_peaks.hpp"
#include "plan/sweep.hpp"
#include "tune/devices/local_machine.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/stored/kept_rows.hpp"

namespace halmark::tune {

// "cpu:0" of each place, each once, in their order.
std::vector<ShardPlace> distinct_devices(std::span<const ShardPlace> places);

struct NamedDevice {
  ShardPlace place;      // whole
  LocalMachine machine;  // as rows of this device see it
  std::string plugin_path, plugin_hash;
  std::string line;  // what it is, for people
  bool is_apart = false;
};

class NamedDevices {
 public:
  // Throws Error: exit 5 for a backend without a plugin or without any device, exit 2 for a device
  // that its plugin does not offer.
  NamedDevices(std::span<const ShardPlace> places, const std::vector<FoundPlugin>& found,
               const LocalMachine& host);
  // The same where what is absent becomes rows with the reason.
  static NamedDevices present_or_not(std::span<const ShardPlace> places,
                                     const std::vector<FoundPlugin>& found,
                                     const LocalMachine& host);

  std::span<const NamedDevice> devices() const { return devices_; }
  BackendPlugins plugins() const;
  // Of all of them: that of the one, or the distinct ones joined by '+'.
  std::string fingerprint() const;
  std::vector<std::string> lines() const;
  // The first of them, under the fingerprint of all; computes bf16 where all do.
  LocalMachine as_machine() const;
  // `target` measures on these from now on.
  void name_in(Target& target) const;
  // `machine` judges rows of these.
  void judge_in(ReportingMachine& machine) const;
  // Kernels of all of them are measured, judged by their own peaks. Refers to this.
  void measure_with(KernelMeasuring& measuring);
  std::vector<UsedPeaks> used_peaks() const;
  int revision() const;                           // grows whenever a ceiling of one changes
  WinnerTable winners(const Store& store) const;  // of all of them

 private:
  NamedDevices() = default;
  void add(const ShardPlace& place, const FoundPlugin& plugin, const LocalMachine& host);

  std::vector<NamedDevice> devices_;
  std::map<std::string, RunPeaks> peaks_;  // by device, of those that have any
};

// Nothing without places; else `machine` becomes what they are.
std::optional<NamedDevices> named_devices(std::span<const ShardPlace> places,
                                          const std::vector<FoundPlugin>& found,
                                          LocalMachine& machine);

// Appends rows, and the peaks that they were judged by where these change. Refers to both.
std::function<void(const Measurement&)> keeping_sink(KeptRows& kept,
                                                     const std::optional<RunPeaks>& peaks,
                                                     int cores);
std::function<void(const Measurement&)> keeping_sink(KeptRows& kept, const NamedDevices& devices);

}  // namespace halmark::tune
