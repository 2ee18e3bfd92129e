// The queue of the OpenCL backend through the contract: events, holding, filling, order.
#include <gtest/gtest.h>

#include <vector>

#include "host/plugin/loader.hpp"
#include "host/plugin/plugin.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

class OpenClStream : public testing::Test {
 protected:
  void SetUp() override {
    auto made = PluginInstance::create(
        load_plugin(test::in_build("/lib/halmark/plugins/hm_opencl.so")), "");
    ASSERT_TRUE(made) << made.failure.message;
    instance_ = std::move(*made);
    auto description = instance_->describe();
    ASSERT_TRUE(description) << description.failure.message;
    if (description->devices.empty()) GTEST_SKIP() << "no OpenCL device on this machine";
    auto opened = instance_->open(0, {});
    ASSERT_TRUE(opened) << opened.failure.message;
    device_ = std::move(*opened);
    stream_ = std::move(*device_.create_stream());
  }
  void TearDown() override {
    stream_ = DeviceStream();
    device_ = OpenDevice();
  }

  std::vector<std::byte> contents(DeviceBuffer& buffer) {
    std::vector<std::byte> bytes(buffer.bytes());
    EXPECT_TRUE(buffer.read(0, bytes.data(), bytes.size()).ok());
    return bytes;
  }

  std::unique_ptr<PluginInstance> instance_;
  OpenDevice device_;
  DeviceStream stream_;
};

TEST_F(OpenClStream, a_fill_reaches_the_last_byte_of_an_odd_size) {
  auto buffer = std::move(*device_.create_buffer(4099, 64));
  ASSERT_TRUE(stream_.fill(buffer, 0x44332211u).ok());
  const auto bytes = contents(buffer);  // ordered after the fill without a wait
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(bytes[i], std::byte(0x11 * (i % 4 + 1))) << i;
  }
}

TEST_F(OpenClStream, events_span_the_commands_between_them_and_nothing_else) {
  auto buffer = std::move(*device_.create_buffer(1 << 20, 64));
  auto begin = std::move(*device_.create_event()), end = std::move(*device_.create_event());
  ASSERT_TRUE(stream_.fill(buffer, 1).ok());
  ASSERT_TRUE(stream_.record(begin).ok());
  ASSERT_TRUE(stream_.record(end).ok());
  ASSERT_TRUE(stream_.fill(buffer, 2).ok());
  ASSERT_TRUE(stream_.wait().ok());
  EXPECT_EQ(stream_.elapsed_ns(begin, end).value, 0.0) << "nothing was queued between them";
  ASSERT_TRUE(stream_.record(begin).ok());
  ASSERT_TRUE(stream_.fill(buffer, 3).ok());
  ASSERT_TRUE(stream_.record(end).ok());
  ASSERT_TRUE(stream_.wait().ok());
  auto elapsed = stream_.elapsed_ns(begin, end);
  ASSERT_TRUE(elapsed) << elapsed.failure.message;
  EXPECT_GT(*elapsed, 0);
}

TEST_F(OpenClStream, an_event_that_was_never_recorded_has_no_time) {
  auto begin = std::move(*device_.create_event()), end = std::move(*device_.create_event());
  EXPECT_FALSE(stream_.elapsed_ns(begin, end));
}

TEST_F(OpenClStream, a_held_stream_runs_what_was_queued_once_it_is_released) {
  auto buffer = std::move(*device_.create_buffer(64, 64));
  ASSERT_TRUE(stream_.hold(60'000'000'000).ok());
  ASSERT_TRUE(stream_.fill(buffer, 0x07070707u).ok());
  ASSERT_TRUE(stream_.unhold().ok());
  ASSERT_TRUE(stream_.wait().ok());
  EXPECT_EQ(contents(buffer), std::vector<std::byte>(64, std::byte{7}));
}

TEST_F(OpenClStream, a_stream_held_too_long_releases_itself_and_says_so) {
  auto buffer = std::move(*device_.create_buffer(64, 64));
  ASSERT_TRUE(stream_.hold(1'000'000).ok());
  ASSERT_TRUE(stream_.fill(buffer, 0x05050505u).ok());
  ASSERT_TRUE(stream_.wait().ok()) << "ends only because the stream releases itself";
  const PluginError late = stream_.unhold();
  EXPECT_EQ(late.status, HM_LAUNCH_FAILED);
  EXPECT_EQ(contents(buffer), std::vector<std::byte>(64, std::byte{5}));
  // And is as good as new.
  ASSERT_TRUE(stream_.hold(60'000'000'000).ok());
  ASSERT_TRUE(stream_.unhold().ok());
  EXPECT_TRUE(stream_.wait().ok());
}

TEST_F(OpenClStream, releasing_what_is_not_held_is_refused) {
  EXPECT_EQ(stream_.unhold().status, HM_INVALID_ARGUMENT);
}

TEST_F(OpenClStream, memory_of_another_kind_is_refused_with_a_reason) {
  const auto pinned = device_.create_buffer(64, 64, HM_MEMORY_HOST_PINNED);
  EXPECT_EQ(pinned.failure.status, HM_UNSUPPORTED);
  EXPECT_NE(pinned.failure.message, "");
}

TEST_F(OpenClStream, a_buffer_larger_than_the_device_is_out_of_memory) {
  const auto huge = device_.create_buffer(std::uint64_t{1} << 50, 64);
  EXPECT_EQ(huge.failure.status, HM_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace halmark
