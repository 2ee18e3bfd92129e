// Which plugin is meant, and what a refusal names.
// Devices that plugins offer, and the words for those that they do not.
#include <gmock/gmock.h>

#include "host/plugin/offered_devices.hpp"
#include "host/plugin/plugin_checks.hpp"
#include "host/plugin/plugin_choice.hpp"
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

FoundPlugin offering(const std::string& name, std::vector<protocol::DeviceDescription> devices) {
  FoundPlugin out{.path = "/plugins/hm_" + name + ".so"};
  out.description.emplace();
  out.description->name = name;
  out.description->plugin_version = "1.2";
  out.description->devices = std::move(devices);
  out.description->kernels.resize(3);
  return out;
}

protocol::DeviceDescription card() {
  protocol::DeviceDescription d;
  d.id = "1";
  d.name = "Card";
  d.isa = "sm_90";
  d.driver = "535";
  d.kind = "gpu";
  d.timer = protocol::Timer::device_event;
  d.memory_bytes = 80;
  d.cache_bytes = 50;
  d.compute_units = 132;
  d.clock_hz_max = 1'980;
  return d;
}

TEST(OfferedDevices, have_the_properties_that_their_plugin_states) {
  const std::vector<FoundPlugin> found = {offering("cuda", {card(), card()})};
  const auto offered = offered_devices(found, {});
  ASSERT_EQ(offered.size(), 2u);
  EXPECT_EQ(offered[0].id, "cuda:1");
  EXPECT_EQ(offered[0].backend, "cuda");
  EXPECT_EQ(offered[0].kind, "gpu");
  EXPECT_EQ(offered[0].status, "ok");
  EXPECT_EQ(offered[0].reason, "");
  EXPECT_EQ(offered[0].properties, Json::parse(R"({"name": "Card", "isa": "sm_90",
      "driver": "535", "timer": "device_event", "memory_bytes": 80, "cache_bytes": 50,
      "compute_units": 132, "clock_hz_max": 1980, "plugin": "/plugins/hm_cuda.so",
      "plugin_version": "1.2"})"));
}

TEST(OfferedDevices, of_plugins_that_are_refused_or_empty_or_not_there_are_reasons) {
  FoundPlugin silent = offering("opencl", {});
  silent.description->log = {"no ICD"};
  const std::vector<FoundPlugin> found = {
      {.path = "/x/hm_cuda.so", .refusal = "no driver", .status = Status::refused},
      {.path = "/x/their_own.so", .refusal = "no plugin", .status = Status::refused},
      silent,
      offering("cpu", {card()})};
  const std::vector<BackendOfBuild> build = {
      {"cpu", ""}, {"cuda", ""}, {"opencl", ""}, {"openvino", "no OpenVINO"}, {"qpu", ""}};
  std::vector<std::string> lines;
  for (const OfferedDevice& d : offered_devices(found, build)) {
    lines.push_back(d.backend + " | " + d.id + " | " + d.status + " | " + d.reason);
  }
  EXPECT_THAT(lines,
              testing::ElementsAre(
                  "cuda |  | refused | no driver", "/x/their_own.so |  | refused | no plugin",
                  "opencl |  | absent | no ICD", "cpu | cpu:1 | ok | ",
                  "openvino |  | absent | not built: no OpenVINO",
                  "qpu |  | absent | built, but hm_qpu.so is not where plugins are looked for"));
}

TEST(PluginChecks, say_what_each_plugin_offers_or_needs) {
  std::vector<FoundPlugin> found = {offering("cpu", {card()}),
                                    offering("cuda", {}),
                                    offering("opencl", {}),
                                    offering("npu", {}),
                                    {.path = "/x/hm_bad.so", .refusal = "wrong version"}};
  for (std::size_t i = 1; i < 4; ++i) found[i].description->log = {"nothing here"};
  std::vector<std::string> lines;
  for (const Check& c : plugin_checks(found)) {
    lines.push_back(c.name + " | " + c.verdict + " | " + c.text);
  }
  EXPECT_THAT(
      lines,
      testing::ElementsAre(
          "plugin cpu | ok | /plugins/hm_cpu.so, version 1.2, 3 kernels, 1 devices",
          "plugin cuda | note | nothing here; apt-get install nvidia-driver (Debian: component "
          "non-free)",
          "plugin opencl | note | nothing here; apt-get install pocl-opencl-icd, or the ICD of the "
          "device's maker",
          "plugin npu | note | nothing here", "plugin /x/hm_bad.so | refused | wrong version"));
  const auto none = plugin_checks({});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].verdict, "missing");
}

TEST(PluginChecks, tell_how_much_memory_a_worker_has) {
  EXPECT_EQ(worker_memory_text(0), "no limit: --worker-memory none");
  EXPECT_THAT(worker_memory_text((5 << 20) - 1),
              testing::StartsWith("4 MiB for one worker (--worker-memory), by "));
  EXPECT_THAT(worker_memory_text(1),
              testing::StartsWith("0 MiB for one worker (--worker-memory), by "));
  EXPECT_THAT(
      worker_memory_text({}),
      testing::ContainsRegex("^[0-9]+ MiB for one worker \\(what this run may use, shared by "
                             "workers at once\\), by "));
}

}  // namespace
}  // namespace halmark
