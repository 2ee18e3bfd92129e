// A node that has a measured peak and one device of a plugin that is nowhere.
#pragma once

#include "fleet/nodes/contradiction.hpp"
#include "fleet/work_table.hpp"

namespace halmark::fleet {

inline NodeFacts node(double flops_per_s) {
  NodeFacts out{.machine = tune::local_machine(), .plugins = {}};
  out.machine.datasheet.reset();
  out.machine.measured = Device{.id = "cpu:0", .name = "n", .kind = "cpu"};
  out.machine.measured->fingerprint = out.machine.fingerprint;
  out.machine.measured->is_measured = true;
  out.machine.measured->memory_bytes = 1 << 30;
  out.machine.measured->peaks = {
      {.path = "f32_vector", .threads = 1, .flops_per_s = flops_per_s, .source = "a test"}};
  FoundPlugin plugin{.path = "/p.so", .hash = "h1"};
  plugin.description = protocol::PluginDescription{.name = "fake", .plugin_version = "7"};
  plugin.description->devices = {{.id = "0", .name = "F", .driver = "d", .kind = "other"}};
  out.plugins = {plugin};
  return out;
}

}  // namespace halmark::fleet
