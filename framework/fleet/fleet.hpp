// What commands ask of a fleet. Without the client library of PostgreSQL each throws Error (exit 5)
// that says so.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fleet/launch/launch.hpp"
#include "host/plugin/discovery.hpp"
#include "journal/store.hpp"
#include "report/views/view.hpp"
#include "tune/devices/named_devices.hpp"
#include "tune/evaluate/kernel_order.hpp"

namespace halmark::fleet {

struct AgentOptions;

// Throws Error (exit 2) for what names no database that machines can share, before anything is
// done.
void require_shared(const std::string& url);

// A run that every machine of the class measures has this for a host: "cpu-2f...@fleet".
std::string fleet_fingerprint(const std::string& fingerprint);

// Measures on the agents of the store's database, which must be a shared one: throws Error (exit 2)
// otherwise. `plugins`: hashes of the builds that the plan is of. Refers to the store.
std::unique_ptr<tune::KernelMeasurer> measurer(Store& store, const std::string& fingerprint,
                                               const std::map<std::string, std::string>& plugins,
                                               std::function<void(const std::string&)> say);

// All devices that the plugins of this machine offer.
tune::NamedDevices devices_of_node(const std::vector<FoundPlugin>& found,
                                   const tune::LocalMachine& machine);
// Until it is interrupted or idle for long enough: what it has done, {"measured", "failed",
// "lost"}.
report::View serve_node(tune::NamedDevices& devices, AgentOptions options);

report::View view_of(const std::string& url);
report::View started_view(std::span<const Started> started);
// A document with the key "text".
report::View text_view(const std::string& text);

}  // namespace halmark::fleet
