// The conformance suite of the plugin contract: every plugin found x device x op x dtypes, through
// real workers. Installed as halmark-conformance, with --plugin FILE|DIR for authors.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "case_lines.hpp"
#include "core/text/error.hpp"
#include "host/worker_client.hpp"
#include "suite.hpp"

using namespace halmark;
using namespace halmark::conformance;

namespace {

constexpr const char* usage =
    "halmark-conformance [--plugin FILE|DIR]... [--open OPTION=NUMBER]... "
    "[--gtest_filter=PATTERN]\n"
    "                    [--gtest_list_tests]\n"
    "Checks plugins against the contract: every op and dtype that they support.\n"
    "  --plugin FILE|DIR  check these only, one line per case\n"
    "  --open isa=1       opens devices with this option of the plugin\n"
    "Without --plugin: the plugins beside the program, those of HALMARK_PLUGIN_PATH, and the fake "
    "one "
    "of\n"
    "a build tree.\n"
    "Ends with 0 when all that ran passed, 1 when a case failed, 2 for a wrong argument, and 5 "
    "when\n"
    "nothing ran (the plugin has no device here).\n";

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

void register_cases(const std::vector<PluginUnderTest>& plugins, bool is_thorough) {
  for (const auto& plugin : plugins) {
    register_verdict(plugin);
    for (const auto& device : plugin.devices) {
      if (!device.options.params.empty() && !is_lowered(device)) {
        add_test(plugin, device, "takes_this_path_without_options",
                 [] { GTEST_SKIP() << "this machine has no better path: it is run anyway"; });
        continue;
      }
      register_elements(plugin, device, is_thorough);
      register_repeats(plugin, device);
      register_queries(plugin, device);
      register_order(plugin, device);
      register_timing(plugin, device);
      register_collectives(plugin, device);
      register_offer(plugin, device);
    }
  }
}

// The fake computes every op naively: it shows that the suite can be passed. Not installed.
std::vector<std::string> fake_plugin() {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto fake = self.parent_path() / "plugins/hm_fake.so";
  return std::filesystem::exists(fake) ? std::vector{fake.string()} : std::vector<std::string>{};
}

int run(const std::vector<std::string>& named, const Config& options) {
  const std::string filter = ::testing::GTEST_FLAG(filter);
  const auto plugins = named.empty() ? find_plugins(fake_plugin(), filter, true, options)
                                     : find_plugins(named, filter, false, options);
  register_cases(plugins, !named.empty());
  if (!named.empty()) print_case_lines();
  const int result = RUN_ALL_TESTS();
  if (named.empty() || result != 0 || ::testing::GTEST_FLAG(list_tests)) return result;
  const bool has_run = ::testing::UnitTest::GetInstance()->successful_test_count() > 0;
  return static_cast<int>(has_run ? ExitCode::ok : ExitCode::unfit);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--help") return std::fputs(usage, stdout) < 0;
  }
  ::testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> named;
  Config options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    const std::size_t equals = value.find('=');
    if (name == "--plugin" && !value.empty()) {
      named.push_back(value);
    } else if (name == "--open" && equals != std::string::npos && equals + 1 < value.size()) {
      options.params.set(value.substr(0, equals), std::atoll(value.c_str() + equals + 1));
    } else {
      std::fprintf(stderr, "halmark-conformance: %s: no such argument\n%s", argv[i], usage);
      return static_cast<int>(ExitCode::refused);
    }
    ++i;
  }
  return run(named, options);
}
