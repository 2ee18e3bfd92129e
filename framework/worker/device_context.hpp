// What one worker has open, for the parts that stage and time kernels on it.
#pragma once

#include <functional>
#include <vector>

#include "host/plugin/plugin.hpp"
#include "host/process/shared_memory.hpp"
#include "host/protocol.hpp"
#include "measure/sampling/clock_source.hpp"
#include "worker/host_memory.hpp"

namespace halmark::worker {

// Everything in it outlives the kernels staged on it.
struct DeviceContext {
  PluginInstance& plugin;
  OpenDevice& device;
  DeviceStream& stream;
  HostMemory& memory;
  ClockSource& clock;
  const std::vector<protocol::KernelDescription>& kernels;
  const Communicator* communicator = nullptr;  // groups only
  SharedMemory kept_outputs = {};  // of the last `sample` that asked for some; its pages stay warm
};

// Called before each phase that may crash or hang, with its name.
using ReportPhase = std::function<void(const char* phase)>;

}  // namespace halmark::worker
