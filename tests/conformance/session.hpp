// Workers as the tests use them: one per device for as long as it lives, replaced after a loss.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/worker_client.hpp"
#include "suite.hpp"

namespace halmark::conformance {

// Affinity as ours; an arena, so that operands get canaries where the plugin can wrap host memory.
WorkerOptions worker_options();

// A worker with that device of the plugin open becomes the one that open_worker finds.
void keep_worker(const std::string& path, std::uint32_t device, std::unique_ptr<Worker> worker);

// An open device in a worker of this process. Null with a gtest failure when it cannot be opened.
Worker* open_worker(const PluginUnderTest& plugin, const DeviceUnderTest& device);

// Ranks 0..n-1 of a group, each with the device open and joined. Empty with a failure, or
// without one where the backend has no group of this size.
std::vector<Worker*> open_group(const PluginUnderTest& plugin, const DeviceUnderTest& device,
                                int ranks);

// Ids are never used twice in one program.
std::int64_t next_id();

}  // namespace halmark::conformance
