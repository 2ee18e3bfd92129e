#include <gmock/gmock.h>

#include <array>

#include "described_plugin.hpp"
#include "host/plugin/plugin.hpp"
#include "table_plugin.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using namespace described_plugin;
using table_plugin::Tables;
using testing::ElementsAre;
using testing::HasSubstr;

// Table, instance and open device, in the order in which they must live.
struct Opened {
  Tables tables;
  std::unique_ptr<PluginInstance> instance;
  OpenDevice device;
  Opened() {
    auto made = PluginInstance::create(check_plugin(&tables.plugin, HM_ABI_VERSION), "");
    instance = std::move(*made);
    device = std::move(*instance->open(0, {}));
  }
  ~Opened() { device = OpenDevice(); }
};

TEST(Plugin, a_description_lists_devices_kernels_and_what_was_logged) {
  Opened opened;
  auto description = opened.instance->describe();
  ASSERT_TRUE(description) << description.failure.message;
  ASSERT_EQ(description->devices.size(), 2u);
  EXPECT_EQ(description->devices[1].id, "1");
  EXPECT_EQ(description->devices[0].timer, protocol::Timer::host_clock);
  EXPECT_TRUE(description->devices[0].synchronous);
  ASSERT_EQ(description->kernels.size(), 1u);
  EXPECT_EQ(description->kernels[0].op, "copy");
  EXPECT_THAT(description->log, ElementsAre("created"));
}

TEST(Plugin, problems_reach_the_plugin_sorted_and_a_missing_config_is_null) {
  Opened opened;
  table_plugin::status = HM_UNSUPPORTED;
  const Problem problem{"gemm", {{"n", 2}, {"m", 1}}};
  EXPECT_EQ(opened.device.supports(0, problem, nullptr).message, "gemm m=1 n=2 |none");
  const Config config{{{"impl", 3}}, {}};
  EXPECT_EQ(opened.device.supports(0, problem, &config).message, "gemm m=1 n=2 |1");
  EXPECT_EQ(opened.device.supports(0, problem, nullptr).status, HM_UNSUPPORTED);
  table_plugin::status = HM_OK;
  EXPECT_TRUE(opened.device.supports(0, problem, nullptr).ok());
}

TEST(Plugin, an_unknown_status_reads_as_internal_and_a_silent_error_gets_words) {
  Opened opened;
  auto prepared = opened.device.prepare(0, {"copy", {}}, nullptr);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.failure.status, HM_INTERNAL);
  EXPECT_THAT(prepared.failure.message, HasSubstr("999"));
  auto buffer = opened.device.create_buffer(1, 64);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.failure.status, HM_OUT_OF_MEMORY);
  EXPECT_THAT(buffer.failure.message, HasSubstr("memory.create"));
}

TEST(Plugin, an_ok_without_an_object_is_an_error) {
  Opened opened;
  auto stream = opened.device.create_stream();
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.failure.status, HM_INTERNAL);
}

TEST(Plugin, a_real_plugin_copies_bytes_through_every_wrapper) {
  auto instance =
      PluginInstance::create(load_plugin(test::in_build("/tests/plugins/hm_minimal.so")), "");
  ASSERT_TRUE(instance) << instance.failure.message;
  auto device = (*instance)->open(0, {});
  ASSERT_TRUE(device) << device.failure.message;
  auto stream = device->create_stream();
  auto source = device->create_buffer(8, 64);
  auto target = device->create_buffer(8, 64);
  ASSERT_TRUE(stream && source && target);
  auto prepared = device->prepare(0, {"copy", {{"bytes", 8}}}, nullptr);
  ASSERT_TRUE(prepared) << prepared.failure.message;
  auto info = prepared->info();
  ASSERT_TRUE(info) << info.failure.message;
  EXPECT_EQ(info->implementation.name, "memcpy");
  ASSERT_EQ(info->operand_count, 2u);
  auto operand = prepared->operand(1);
  ASSERT_TRUE(operand) << operand.failure.message;
  EXPECT_EQ(operand->role, HM_ROLE_OUTPUT);
  EXPECT_EQ(operand->bytes, 8u);
  EXPECT_FALSE(operand->is_opaque());

  ASSERT_TRUE(source->write(0, "halmark!", 8).ok());
  const std::array<hm_buffer*, 2> buffers{source->handle(), target->handle()};
  const hm_arguments set{buffers.data(), nullptr, 2, 0};
  const hm_launch launch{sizeof(hm_launch), 1, 1, &set, nullptr};
  ASSERT_TRUE(prepared->enqueue(*stream, launch).ok());
  ASSERT_TRUE(stream->wait().ok());
  char result[9] = {};
  ASSERT_TRUE(target->read(0, result, 8).ok());
  EXPECT_STREQ(result, "halmark!");
  EXPECT_FALSE(target->read(4, result, 8).ok());
  EXPECT_FALSE(device->create_event());
}

// How many domains of how many labels a host takes of a kernel, and which ranges.

TEST(PluginDomains, are_64_at_most_and_each_of_its_own_name) {
  Described plugin;
  domain_total = 64;
  EXPECT_EQ(plugin.domain(nullptr), "accepted");
  domain_total = 65;
  EXPECT_EQ(plugin.domain(nullptr), "a kernel claims 65 domains");
  domain_total = 2;
  EXPECT_EQ(plugin.domain([](hm_domain& d) { std::strcpy(d.name, "same"); }),
            "domain 'same' is listed twice");
  EXPECT_EQ(plugin.domain([](hm_domain& d) { d.name[0] = 0; }), "domain '' has no name");
  EXPECT_THAT(plugin.domain([](hm_domain& d) { std::memset(&d + 1, 0, 8); }),
              HasSubstr("kernel.domain wrote past"));
}

TEST(PluginDomains, have_labels_that_end_within_256_bytes) {
  Described plugin;
  static std::string longest(256, 'l');
  static const char* labels[] = {longest.c_str(), "short"};
  const auto labelled = [](hm_domain& d) {
    d.flags = HM_DOMAIN_ORDERED;
    d.labels = labels;
  };
  EXPECT_EQ(plugin.domain(labelled), "accepted");
  auto open = plugin.instance->open(0, {});
  const auto found = open->domains(0, {"copy", {}});
  EXPECT_TRUE(found->at(0).ordered);
  EXPECT_EQ(found->at(0).default_value, 2);
  EXPECT_THAT(found->at(0).labels, ElementsAre(longest, "short"));
  longest += 'l';
  labels[0] = longest.c_str();
  EXPECT_THAT(plugin.domain(labelled), HasSubstr("a label that does not end"));
  labels[0] = nullptr;
  EXPECT_THAT(plugin.domain(labelled), HasSubstr("a NULL label"));
  say_domain = nullptr;
  EXPECT_FALSE(open->domains(0, {"copy", {}})->at(0).ordered);
}

}  // namespace
}  // namespace halmark
