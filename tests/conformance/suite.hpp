// What there is to test: every plugin found, its devices, and the dtype combinations of each op
// that a kernel of it supports.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "host/protocol.hpp"
#include "kernels/contract.hpp"

namespace halmark::conformance {

// Problems of one op that differ in sizes and not in dtypes; at least one of them is supported.
struct Combination {
  std::string dtypes;  // "bf16_bf16_f32": the dtype parameters, source first; "" = the op has none
  std::vector<Params> problems;
};

struct OpUnderTest {
  const OpContract* contract = nullptr;
  std::vector<std::string> kernels;
  bool is_collective = false;
  std::vector<Combination> combinations;
  std::vector<Params> unsupported;  // refused by every kernel
};

struct DeviceUnderTest {
  std::uint32_t index = 0;
  Config options;  // that it is opened with
  protocol::DeviceDescription description;
  std::vector<OpUnderTest> ops;
};

struct PluginUnderTest {
  std::string label;  // "cpu" of hm_cpu.so
  std::string path;
  std::string fault;    // why it cannot be tested; fails its only test
  std::string absence;  // why it has no device here; skips its only test
  std::vector<DeviceUnderTest> devices;
};

// Every dtype that contracts are asked about.
std::span<const Dtype> dtypes_under_test();

// Asks each plugin in a worker of its own. `filter` is the test filter: plugins that it does not
// speak of are left out, and so are the ops that a single test does not speak of.
// `searches_installed`: those of HALMARK_PLUGIN_PATH and beside the program as well. Devices are
// opened with `options`.
std::vector<PluginUnderTest> find_plugins(const std::vector<std::string>& extra_paths,
                                          const std::string& filter, bool searches_installed,
                                          const Config& options);

// One per file of tests. Each registers its tests for one device.
void register_elements(const PluginUnderTest& plugin, const DeviceUnderTest& device,
                       bool is_thorough);
void register_repeats(const PluginUnderTest& plugin, const DeviceUnderTest& device);
void register_queries(const PluginUnderTest& plugin, const DeviceUnderTest& device);
void register_order(const PluginUnderTest& plugin, const DeviceUnderTest& device);
void register_timing(const PluginUnderTest& plugin, const DeviceUnderTest& device);
void register_collectives(const PluginUnderTest& plugin, const DeviceUnderTest& device);
// What the plugin offers, against a reviewed list; where the tree has one.
void register_offer(const PluginUnderTest& plugin, const DeviceUnderTest& device);

// The instruction-set path that the device takes under the ceiling it was opened with.
std::string path_of(const DeviceUnderTest& device);
// False where the ceiling of its options lowers nothing: the suite without one runs this path.
bool is_lowered(const DeviceUnderTest& device);

// Registers `body` as test "<plugin>_<device>.<name>". gtest keeps it until the program ends.
void add_test(const PluginUnderTest& plugin, const DeviceUnderTest& device, const std::string& name,
              std::function<void()> body);

}  // namespace halmark::conformance
