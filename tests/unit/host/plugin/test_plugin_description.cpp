// What an instance is created with, what it says of itself and its devices, and how much of that a
// host takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "described_plugin.hpp"

namespace halmark {
namespace {

using namespace described_plugin;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(PluginCreation, gives_the_plugin_a_host_that_lives_with_the_instance) {
  Described plugin;
  auto made = plugin.make("/cache");
  ASSERT_TRUE(made);
  ASSERT_NE(given_host, nullptr);
  EXPECT_EQ(given_host->struct_size, sizeof(hm_host));
  EXPECT_EQ(given_host->abi_version, HM_ABI_VERSION);
  EXPECT_STREQ(given_host->cache_dir, "/cache");
  EXPECT_NE(given_host->context, nullptr);
}

TEST(PluginCreation, without_an_instance_or_with_an_error_is_a_failure) {
  Described plugin;
  gives_handles = false;
  EXPECT_THAT(plugin.make().failure.message, HasSubstr("ok without an instance"));
  gives_handles = true;
  answer = HM_OUT_OF_MEMORY;
  plugin.tables.plugin.destroy = [](hm_plugin*) { ADD_FAILURE() << "nothing was created"; };
  const auto made = plugin.make();
  EXPECT_EQ(made.failure.status, HM_OUT_OF_MEMORY);
}

TEST(PluginLog, keeps_256_lines_of_4096_bytes_until_they_are_taken) {
  Described plugin;
  auto made = plugin.make();
  ASSERT_TRUE(made);
  const std::string endless(5000, 'x');
  given_host->log(given_host->context, HM_LOG_INFO, endless.c_str());
  given_host->log(given_host->context, HM_LOG_INFO, nullptr);
  given_host->log(nullptr, HM_LOG_INFO, "nowhere");
  for (int i = 1; i < 300; ++i) given_host->log(given_host->context, HM_LOG_INFO, "line");
  const std::vector<std::string> lines = (*made)->take_log();
  ASSERT_EQ(lines.size(), 256u);
  EXPECT_EQ(lines[0], endless.substr(0, 4096));
  EXPECT_EQ(lines[255], "line");
  EXPECT_TRUE((*made)->take_log().empty());
  given_host->log(given_host->context, HM_LOG_INFO, "later");
  EXPECT_THAT((*made)->take_log(), ElementsAre("later"));
}

TEST(PluginDescription, says_what_the_table_says) {
  Described plugin;
  auto made = plugin.make();
  say_kernel = [](hm_kernel_info& info) { info.flags = HM_KERNEL_COLLECTIVE; };
  const auto found = (*made)->describe();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "table");
  EXPECT_EQ(found->plugin_version, "1");
  EXPECT_EQ(found->build, "test");
  EXPECT_EQ(found->abi_version, HM_ABI_VERSION);
  EXPECT_FALSE(found->has_comm);
  EXPECT_FALSE(found->has_probe);
  EXPECT_TRUE(found->kernels.at(0).collective);
  EXPECT_EQ(found->kernels[0].name, "copy_0");
  say_kernel = nullptr;
  EXPECT_FALSE((*made)->describe()->kernels.at(0).collective);
  Described whole;
  hm_probe_api probe{};
  probe.struct_size = sizeof probe;
  whole.tables.plugin.probe = &probe;
  whole.tables.plugin.comm = &whole.tables.comm;
  const auto full = (*whole.make())->describe();
  EXPECT_TRUE(full->has_comm);
  EXPECT_TRUE(full->has_probe);
}

TEST(PluginDescription, lists_1024_devices_and_kernels_at_most) {
  Described plugin;
  device_total = kernel_total = 1024;
  EXPECT_EQ(plugin.described(), "accepted");
  device_total = 1025;
  EXPECT_EQ(plugin.described(), "device.count claims 1025 devices");
  device_total = 0;
  EXPECT_EQ(plugin.described(), "accepted");
  kernel_total = 1025;
  EXPECT_EQ(plugin.described(), "kernel.count claims 1025 kernels");
}

TEST(PluginDescription, names_what_is_nameless_or_named_twice) {
  Described plugin;
  EXPECT_THAT(plugin.device([](hm_device_info& i) { std::strcpy(i.id, "same"); }),
              HasSubstr("two devices have the id 'same'"));
  EXPECT_EQ(plugin.device([](hm_device_info& i) { i.id[0] = 0; }), "device 0 has no id");
  EXPECT_THAT(plugin.device([](hm_device_info& i) { std::memset(&i + 1, 0, 8); }),
              HasSubstr("device.describe wrote past"));
  say_device = nullptr;
  kernel_total = 2;
  EXPECT_EQ(plugin.kernel([](hm_kernel_info& i) { i.name[0] = 0; }),
            "kernel 0 has no name or no op");
  EXPECT_EQ(plugin.kernel([](hm_kernel_info& i) { i.op[0] = 0; }), "kernel 0 has no name or no op");
  EXPECT_EQ(plugin.kernel([](hm_kernel_info& i) { std::strcpy(i.name, "same"); }),
            "two kernels have the name 'same'");
  EXPECT_THAT(plugin.kernel([](hm_kernel_info& i) { std::memset(&i + 1, 0, 8); }),
              HasSubstr("kernel.describe wrote past"));
}

TEST(PluginDescription, fails_with_the_call_that_failed) {
  Described plugin;
  plugin.instance = std::move(*plugin.make());
  answer = HM_DEVICE_LOST;
  EXPECT_THAT(plugin.described(), HasSubstr("device.count answered device_lost"));
  EXPECT_THAT(plugin.instance->open(0, {}).failure.message, HasSubstr("device.open answered"));
  answer = HM_OK;
  gives_handles = false;
  EXPECT_THAT(plugin.instance->open(0, {}).failure.message, HasSubstr("ok without a device"));
}

TEST(PluginDevice, shows_figures_that_are_known_and_no_negative_ones) {
  Described plugin;
  plugin.instance = std::move(*plugin.make());
  for (const std::int64_t sign : {1, -1}) {
    say_device = [sign](hm_device_info& i) {
      std::strcpy(i.name, "Device");
      std::strcpy(i.isa, "isa");
      std::strcpy(i.driver, "5.1");
      i.flags = sign > 0 ? HM_DEVICE_SYNCHRONOUS : HM_DEVICE_UNIFIED_MEMORY;
      i.memory_bytes = sign * 10;
      i.cache_bytes = sign * 20;
      i.compute_units = sign * 30;
      i.clock_hz_max = sign * 40;
    };
    const auto d = plugin.instance->describe()->devices.at(1);
    EXPECT_EQ(d.name + ' ' + d.isa + ' ' + d.driver, "Device isa 5.1");
    EXPECT_EQ(d.synchronous, sign > 0);
    using Figures = std::vector<std::int64_t>;
    EXPECT_EQ((Figures{d.memory_bytes, d.cache_bytes, d.compute_units, d.clock_hz_max}),
              (sign > 0 ? Figures{10, 20, 30, 40} : Figures(4)));
  }
}

TEST(PluginDevice, has_a_timer_that_exists_and_whose_entries_are_there) {
  Described plugin;
  EXPECT_THAT(plugin.device([](hm_device_info& i) { i.timer = 9; }), HasSubstr("unknown timer 9"));
  hm_stream_api& s = plugin.tables.stream;
  const auto without = [&](auto... entry) {
    s.event_create = table_plugin::ok;
    s.event_destroy = [](hm_event*) {};
    s.event_record = table_plugin::ok;
    s.event_elapsed_ns = table_plugin::ok;
    ((s.*entry = nullptr), ...);
    return plugin.device([](hm_device_info& i) { i.timer = HM_TIMER_DEVICE_EVENT; });
  };
  EXPECT_EQ(without(), "accepted");
  EXPECT_EQ(plugin.instance->describe()->devices.at(0).timer, protocol::Timer::device_event);
  for (const std::string& said :
       {without(&hm_stream_api::event_create), without(&hm_stream_api::event_destroy),
        without(&hm_stream_api::event_record), without(&hm_stream_api::event_elapsed_ns)}) {
    EXPECT_THAT(said, HasSubstr("lacks event entries"));
  }
}

TEST(PluginDevice, is_opened_with_its_options_or_with_none) {
  Described plugin;
  plugin.instance = std::move(*plugin.make());
  ASSERT_TRUE(plugin.instance->open(1, {}));
  EXPECT_EQ(options_seen, -1);
  const auto open = plugin.instance->open(1, Params{{"threads", 2}, {"isa", 1}});
  ASSERT_TRUE(open);
  EXPECT_EQ(options_seen, 2);
  EXPECT_EQ(open->description().id, "1");
  EXPECT_THAT(plugin.instance->open(0, {})->join("t", 0, 1).failure.message,
              HasSubstr("no comm group"));
}

TEST(PluginToken, has_256_bytes_at_most) {
  Described plugin;
  EXPECT_THAT((*plugin.make())->create_token().failure.message, HasSubstr("no comm group"));
  plugin.tables.plugin.comm = &plugin.tables.comm;
  auto made = plugin.make();
  for (const std::uint32_t bytes : {0u, 2u, 256u}) {
    token_bytes = bytes;
    const auto token = (*made)->create_token();
    ASSERT_TRUE(token);
    EXPECT_EQ(token->size(), bytes);
    EXPECT_EQ(token->substr(0, 2), std::string("kk").substr(0, bytes));
  }
  token_bytes = 257;
  EXPECT_THAT((*made)->create_token().failure.message, HasSubstr("a longer token than it may"));
  answer = HM_INTERNAL;
  EXPECT_THAT((*made)->create_token().failure.message, HasSubstr("comm.token_create answered"));
}

}  // namespace
}  // namespace halmark
