#include "tune/devices/named_devices.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "host/plugin/plugin_choice.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "plan/device/device_file.hpp"
#include "tune/stored/stored_winners.hpp"

namespace halmark::tune {

std::vector<ShardPlace> distinct_devices(std::span<const ShardPlace> places) {
  std::vector<ShardPlace> out;
  for (const ShardPlace& place : places) {
    const ShardPlace whole{.backend = place.backend, .device = place.device};
    if (!contains(out, whole)) out.push_back(whole);
  }
  return out;
}

NamedDevices::NamedDevices(std::span<const ShardPlace> places,
                           const std::vector<FoundPlugin>& found, const LocalMachine& host) {
  for (const ShardPlace& place : distinct_devices(places)) {
    const FoundPlugin& plugin = plugin_of(found, place.backend);
    check_device(plugin, place.device);
    add(place, plugin, host);
  }
}

NamedDevices NamedDevices::present_or_not(std::span<const ShardPlace> places,
                                          const std::vector<FoundPlugin>& found,
                                          const LocalMachine& host) {
  NamedDevices out;
  for (const ShardPlace& place : distinct_devices(places)) {
    const auto plugin = std::ranges::find_if(found, [&](const FoundPlugin& p) {
      return p.is_loaded() && p.description->name == place.backend;
    });
    if (plugin != found.end()) {
      out.add(place, *plugin, host);
    } else {
      out.devices_.push_back({.place = place,
                              .machine = host,
                              .line = "device " + place.text() + ": no plugin for its backend"});
    }
  }
  return out;
}

void NamedDevices::add(const ShardPlace& place, const FoundPlugin& plugin,
                       const LocalMachine& host) {
  NamedDevice& own = devices_.emplace_back(NamedDevice{
      .place = place, .machine = host, .plugin_path = plugin.path, .plugin_hash = plugin.hash});
  const auto& offered = plugin.description->devices;
  const auto device = std::ranges::find(offered, place.device, &protocol::DeviceDescription::id);
  if (device == offered.end()) {
    own.line = "device " + place.text() + ": " + absence_of(*plugin.description);
    own.machine.measured.reset();
    own.machine.datasheet.reset();
    return;
  }
  rows_are_of(own.machine, plugin, place.device);
  own.is_apart = device->is_apart();
  own.line = "device " + place.text() + ": " + device->name +
             (device->driver.empty() ? "" : ", " + device->driver) + ", " +
             own.machine.rows_fingerprint;
  if (own.machine.measured) {
    peaks_.try_emplace(place.text(), *own.machine.measured, journal::utc_now);
  }
}

WinnerTable NamedDevices::winners(const Store& store) const {
  WinnerTable out;
  for (const NamedDevice& own : devices_) {
    for (const auto& stored : latest_winners(store, own.machine.identity())) {
      if (stored.winner.plugin_hash == own.plugin_hash) out.add(stored.winner);
    }
  }
  return out;
}

BackendPlugins NamedDevices::plugins() const {
  BackendPlugins out;
  for (const NamedDevice& own : devices_) {
    if (own.plugin_path.empty()) continue;
    out.paths[own.place.backend] = own.plugin_path;
    out.hashes[own.place.backend] = own.plugin_hash;
  }
  return out;
}

std::string NamedDevices::fingerprint() const {
  std::vector<std::string> each;
  std::string out;
  for (const NamedDevice& own : devices_) {
    const std::string& next = own.machine.rows_fingerprint;
    if (contains(each, next)) continue;
    each.push_back(next);
    append_item(out, "+", next);
  }
  return out;
}

std::vector<std::string> NamedDevices::lines() const {
  return mapped(devices_, &NamedDevice::line);
}

LocalMachine NamedDevices::as_machine() const {
  LocalMachine out = devices_.front().machine;
  out.rows_fingerprint = fingerprint();
  out.has_bf16 =
      std::ranges::all_of(devices_, [](const NamedDevice& d) { return d.machine.has_bf16; });
  return out;
}

void NamedDevices::name_in(Target& target) const {
  target.fingerprint = fingerprint();
  for (const NamedDevice& own : devices_) {
    Target next = target_of(own.machine, own.place.backend, own.place.device, {});
    next.is_apart = own.is_apart;
    target.named.push_back(std::move(next));
  }
}

void NamedDevices::judge_in(ReportingMachine& machine) const {
  machine.fingerprint = fingerprint();
  for (const NamedDevice& own : devices_) {
    machine.devices.push_back({.device = own.place.text(),
                               .cores = own.machine.cores,
                               .measured = own.machine.measured,
                               .datasheet = own.machine.datasheet});
  }
}

void NamedDevices::measure_with(KernelMeasuring& measuring) {
  measuring.others = plugins();
  for (auto& [device, peaks] : peaks_) measuring.peaks_by_device[device] = &peaks;
}

std::vector<UsedPeaks> NamedDevices::used_peaks() const {
  std::vector<UsedPeaks> out;
  for (const NamedDevice& own : devices_) {
    const auto* known = find_value(peaks_, own.place.text());
    if (!known) continue;
    out.push_back({.device_text = device_text(known->device()),
                   .threads = own.machine.cores,
                   .devices = {own.place.text()}});
  }
  return out;
}

int NamedDevices::revision() const {
  int out = 0;
  for (const auto& [device, peaks] : peaks_) out += peaks.revision();
  return out;
}

std::optional<NamedDevices> named_devices(std::span<const ShardPlace> places,
                                          const std::vector<FoundPlugin>& found,
                                          LocalMachine& machine) {
  if (places.empty()) return std::nullopt;
  NamedDevices out(places, found, machine);
  machine = out.as_machine();
  return out;
}

std::function<void(const Measurement&)> keeping_sink(KeptRows& kept,
                                                     const std::optional<RunPeaks>& peaks,
                                                     int cores) {
  return [&kept, &peaks, cores, stored_revision = -1](const Measurement& row) mutable {
    if (peaks && peaks->revision() != stored_revision) {
      kept.append(UsedPeaks{device_text(peaks->device()), cores});
      stored_revision = peaks->revision();
    }
    kept.append(row);
  };
}

std::function<void(const Measurement&)> keeping_sink(KeptRows& kept, const NamedDevices& devices) {
  return [&kept, &devices, stored_revision = -1](const Measurement& row) mutable {
    if (devices.revision() != stored_revision) {
      for (const UsedPeaks& peaks : devices.used_peaks()) kept.append(peaks);
      stored_revision = devices.revision();
    }
    kept.append(row);
  };
}

}  // namespace halmark::tune
