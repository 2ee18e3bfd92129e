#include "tune/devices/devices_here.hpp"

#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "kernels/contract.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/views/device_views.hpp"

namespace halmark::tune {
namespace {

const FoundPlugin* plugin_that_offers(const std::vector<FoundPlugin>& found,
                                      const OfferedDevice& row) {
  const auto* at = find_or_null(found, true, [&](const FoundPlugin& p) {
    return p.is_loaded() && p.description->name == row.backend;
  });
  return at;
}

std::size_t measurable_ops() {
  return static_cast<std::size_t>(std::ranges::count_if(
      all_contracts(), [](const OpContract* c) { return c->is_measurable(); }));
}

std::set<std::string> ops_of(const FoundPlugin& plugin) {
  std::set<std::string> out;
  for (const auto& kernel : plugin.description->kernels) out.insert(kernel.op);
  return out;
}

// What bounds rows of a device: its own figures, or those of the CPU that it computes on.
struct KnownPeaks {
  std::string text;
  Json data;
};

KnownPeaks peaks_of(const FoundPlugin& plugin, const protocol::DeviceDescription& device,
                    const LocalMachine& host) {
  LocalMachine own = host;
  rows_are_of(own, plugin, device.id);
  const bool is_apart = device.is_apart();
  KnownPeaks out;
  const std::string command =
      is_apart ? "halmark peaks --backend " + plugin.description->name + " --device " + device.id
               : "halmark peaks";
  out.text = !own.measured ? "none yet: " + command
             : is_apart    ? "measured"
                           : "measured, of the CPU";
  out.data = {{"measured", own.measured.has_value()},
              {"of_the_cpu", !is_apart},
              {"measured_by", command},
              {"datasheet", own.datasheet ? Json(own.datasheet->id) : Json(nullptr)},
              {"fingerprint", own.rows_fingerprint}};
  if (own.datasheet) out.text += "; sheet " + own.datasheet->id;
  return out;
}

std::string what_of(const OfferedDevice& row) {
  if (row.status != "ok") return row.reason;
  std::string text = row.properties["name"];
  for (const char* key : {"isa", "driver"}) {
    const std::string value = row.properties[key];
    if (!value.empty()) text += ", " + value;
  }
  text += ", " + std::to_string(row.properties["compute_units"].get<int>()) + " units";
  const bool is_own = row.properties["timer"] == "device_event";
  return text + (is_own ? ", timed by events of its own" : ", timed by the host's clock");
}

std::string memory_of(const OfferedDevice& row) {
  if (row.status != "ok") return std::string(report::absent_text);
  const std::int64_t bytes = row.properties["memory_bytes"].get<std::int64_t>();
  return bytes > 0 ? report::bytes_text(bytes) : "not stated";
}

Json json_of(const OfferedDevice& row) {
  return {{"id", row.id.empty() ? Json(nullptr) : Json(row.id)},
          {"backend", row.backend},
          {"kind", row.kind.empty() ? Json(nullptr) : Json(row.kind)},
          {"properties", row.properties},
          {"status", row.status},
          {"reason", row.reason}};
}

class DevicesHere {
 public:
  DevicesHere(const std::vector<FoundPlugin>& found, const LocalMachine& host)
      : found_(found), host_(host) {}

  void add(const OfferedDevice& row) {
    Json next = json_of(row);
    std::string ops(report::absent_text), peaks(report::absent_text);
    const FoundPlugin* plugin = row.status == "ok" ? plugin_that_offers(found_, row) : nullptr;
    if (plugin != nullptr) {
      const std::set<std::string> offered = ops_of(*plugin);
      ops = std::to_string(offered.size()) + " of " + std::to_string(measurable_ops());
      next["ops"] = offered;
      next["has_collectives"] = plugin->description->has_comm;
      for (const auto& device : plugin->description->devices) {
        if (row.id != row.backend + ':' + device.id) continue;
        KnownPeaks known = peaks_of(*plugin, device, host_);
        peaks = known.text;
        next["peaks"] = std::move(known.data);
      }
    }
    table_.add({row.id.empty() ? std::string(report::absent_text) : row.id, row.backend,
                row.kind.empty() ? std::string(report::absent_text) : row.kind, row.status,
                memory_of(row), ops, peaks, what_of(row)});
    devices_.push_back(std::move(next));
  }

  report::View view() {
    report::View out{.data = {{"devices", std::move(devices_)}}, .text = table_.text()};
    if (host_.measured) {
      report::View peaks = report::measured_device_view(*host_.measured, host_.datasheet);
      out.data["peaks"] = std::move(peaks.data);
      out.text += "\nmeasured peaks of " + peaks.text;
    } else {
      out.data["peaks"] = nullptr;
      out.data["peaks_reason"] = "none yet: halmark peaks measures them";
    }
    return out;
  }

 private:
  const std::vector<FoundPlugin>& found_;
  const LocalMachine& host_;
  report::TextTable table_{
      {"device", "backend", "kind", "status", ">memory", "ops", "peaks", "what"}};
  Json devices_ = Json::array();
};

}  // namespace

report::View devices_here(const std::vector<FoundPlugin>& found,
                          std::span<const BackendOfBuild> of_build, const LocalMachine& host) {
  DevicesHere out(found, host);
  for (const OfferedDevice& row : offered_devices(found, of_build)) out.add(row);
  return out.view();
}

}  // namespace halmark::tune
