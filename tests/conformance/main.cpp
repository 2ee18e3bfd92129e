// The conformance suite of the plugin contract: every plugin found x device x op x dtypes, through
// real workers. Plugins: those beside the build, HALMARK_PLUGIN_PATH, and --plugin-dir DIR|FILE.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "suite.hpp"

using namespace halmark::conformance;

namespace {

// The one test of a plugin that cannot be tested: it fails, or says what is absent.
void register_verdict(const PluginUnderTest& plugin) {
  const DeviceUnderTest none{.description = {.id = "plugin"}};
  if (!plugin.fault.empty()) {
    add_test(plugin, none, "answers_every_question",
             [&plugin] { FAIL() << plugin.path << ": " << plugin.fault; });
  } else if (plugin.devices.empty()) {
    add_test(plugin, none, "has_a_device", [&plugin] { GTEST_SKIP() << plugin.absence; });
  }
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> paths;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--plugin-dir") paths.emplace_back(argv[i + 1]);
  }
  // The fake computes every op naively: it shows that the suite can be passed.
  paths.emplace_back(HALMARK_BINARY_DIR "/tests/plugins/hm_fake.so");
  const auto plugins = find_plugins(paths, ::testing::GTEST_FLAG(filter));
  for (const auto& plugin : plugins) {
    register_verdict(plugin);
    for (const auto& device : plugin.devices) {
      register_elements(plugin, device);
      register_repeats(plugin, device);
      register_queries(plugin, device);
      register_order(plugin, device);
      register_timing(plugin, device);
      register_collectives(plugin, device);
    }
  }
  return RUN_ALL_TESTS();
}
