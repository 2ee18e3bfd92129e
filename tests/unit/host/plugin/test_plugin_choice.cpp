// Which plugin is meant, and what a refusal names.
#include "host/plugin/plugin_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

FoundPlugin loaded(const std::string& name) {
  FoundPlugin out{.path = "/plugins/hm_" + name + ".so"};
  out.description.emplace();
  out.description->name = name;
  return out;
}

FoundPlugin broken(const std::string& path, const std::string& refusal) {
  return {.path = path, .refusal = refusal, .status = Status::refused};
}

TEST(PluginChoice, is_the_loaded_one_of_that_name) {
  const std::vector<FoundPlugin> found = {broken("/x/hm_cuda.so", "no driver"), loaded("cpu"),
                                          loaded("fake")};
  EXPECT_EQ(&plugin_of(found, "cpu"), &found[1]);
  EXPECT_EQ(&plugin_of(found, "fake"), &found[2]);
}

TEST(PluginChoice, what_is_not_usable_says_why) {
  const std::vector<FoundPlugin> found = {loaded("cpu"), broken("/x/hm_cuda.so", "no driver")};
  const Error error = test::error_of([&] { plugin_of(found, "cuda"); });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_THAT(error.line(), HasSubstr("the plugin of backend 'cuda' is not usable: no driver"));
  EXPECT_THAT(error.line(), HasSubstr("halmark doctor says more about /x/hm_cuda.so"));
}

TEST(PluginChoice, what_is_not_there_names_what_is) {
  const std::vector<FoundPlugin> found = {loaded("cpu"), broken("/x/hm_cuda.so", "no driver"),
                                          loaded("fake")};
  EXPECT_THAT(test::error_of([&] { plugin_of(found, "opencl"); }).line(),
              HasSubstr("no plugin for backend 'opencl'; found: cpu, fake"));
  EXPECT_THAT(test::error_of([&] { plugin_of({}, "cpu"); }).line(),
              HasSubstr("no plugin was found at all"));
}

TEST(PluginChoice, a_plugin_without_a_device_gives_its_own_reason) {
  FoundPlugin plugin = loaded("cuda");
  EXPECT_EQ(absence_of(*plugin.description), "no device, and the plugin gives no reason");
  plugin.description->log = {"no driver", "no card"};
  EXPECT_EQ(absence_of(*plugin.description), "no driver; no card");
  const Error error = test::error_of([&] { check_device(plugin, "0"); });
  EXPECT_EQ(error.exit_code(), ExitCode::unfit);
  EXPECT_THAT(error.line(), HasSubstr("backend cuda has no device here: no driver; no card"));
}

TEST(PluginChoice, devices_and_kernels_are_known_by_their_whole_name) {
  FoundPlugin plugin = loaded("cpu");
  plugin.description->devices.resize(2);
  plugin.description->devices[0].id = "0";
  plugin.description->devices[1].id = "1";
  EXPECT_NO_THROW(check_device(plugin, "0"));
  EXPECT_NO_THROW(check_device(plugin, "1"));
  const Error device = test::error_of([&] { check_device(plugin, "2"); });
  EXPECT_EQ(device.exit_code(), ExitCode::refused);
  EXPECT_THAT(device.line(), HasSubstr("backend cpu has no device '2'"));
  plugin.description->kernels.resize(2);
  plugin.description->kernels[0].name = "onednn_gemm";
  plugin.description->kernels[1].name = "reference";
  EXPECT_NO_THROW(check_kernel(*plugin.description, ""));
  EXPECT_NO_THROW(check_kernel(*plugin.description, "reference"));
  const Error kernel = test::error_of([&] { check_kernel(*plugin.description, "referense"); });
  EXPECT_EQ(kernel.exit_code(), ExitCode::refused);
  EXPECT_THAT(kernel.line(), HasSubstr("backend cpu has no kernel 'referense'"));
  EXPECT_THAT(kernel.line(), HasSubstr("did you mean 'reference'"));
}

}  // namespace
}  // namespace halmark
