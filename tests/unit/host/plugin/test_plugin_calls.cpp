// What each call to an open device hands over, and what the host makes of its answer: figures that
// no clock can give, handles that were not given, entries that are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/plugin/plugin.hpp"
#include "table_plugin.hpp"

namespace halmark {
namespace {

using table_plugin::Tables;
using testing::ElementsAre;
using testing::HasSubstr;

// What the table answers and what it was asked, for entries that take no context.
std::int32_t answer = HM_OK;
constexpr table_plugin::Answers<answer> answers;
double figure = 0;
bool gives_handles = true;
std::vector<std::uint64_t> asked;

template <class Handle>
std::int32_t give(Handle** out) {
  if (gives_handles) *out = reinterpret_cast<Handle*>(&table_plugin::status);
  return answer;
}

void fill_memory(hm_memory_api& m) {
  m.create = [](hm_device*, std::uint64_t bytes, std::uint64_t alignment, std::int32_t kind,
                hm_buffer** out, hm_error*) -> std::int32_t {
    asked = {bytes, alignment, static_cast<std::uint64_t>(kind)};
    return give(out);
  };
  m.write = [](hm_buffer*, std::uint64_t offset, const void* source, std::uint64_t bytes,
               hm_error*) -> std::int32_t {
    asked = {offset, reinterpret_cast<std::uint64_t>(source), bytes};
    return answer;
  };
  m.read = [](hm_buffer*, std::uint64_t offset, void* target, std::uint64_t bytes,
              hm_error*) -> std::int32_t {
    asked = {offset, reinterpret_cast<std::uint64_t>(target), bytes};
    return answer;
  };
  m.fill = [](hm_stream*, hm_buffer*, std::uint32_t pattern, hm_error*) -> std::int32_t {
    asked = {pattern};
    return answer;
  };
  m.wrap = [](hm_device*, void* address, std::uint64_t bytes, hm_buffer** out,
              hm_error*) -> std::int32_t {
    asked = {reinterpret_cast<std::uint64_t>(address), bytes};
    return give(out);
  };
}

void fill_stream(hm_stream_api& s) {
  s.create = [](hm_device*, hm_stream** out, hm_error*) { return give(out); };
  s.wait = answers;
  s.event_create = [](hm_device*, hm_event** out, hm_error*) { return give(out); };
  s.event_destroy = [](hm_event*) {};
  s.event_record = answers;
  s.event_elapsed_ns = [](hm_event*, hm_event*, double* out, hm_error*) {
    if (answer == HM_OK) *out = figure;
    return answer;
  };
  s.event_elapsed_cycles = s.event_elapsed_ns;
  s.hold = [](hm_stream*, std::uint64_t timeout_ns, hm_error*) {
    asked = {timeout_ns};
    return answer;
  };
  s.unhold = answers;
}

struct Device {
  Tables tables;
  hm_probe_api probe{};
  std::unique_ptr<PluginInstance> instance;
  OpenDevice device;
  Device() {
    answer = HM_OK;
    figure = 0;
    gives_handles = true;
    fill_memory(tables.memory);
    fill_stream(tables.stream);
    probe.struct_size = sizeof probe;
    probe.cache_flush = answers;
    probe.energy_read = [](hm_device*, double* out, hm_error*) {
      *out = figure;
      return answer;
    };
    tables.comm.token_create = answers;
    tables.comm.create = [](hm_device*, const void* token, std::uint32_t bytes, std::uint32_t rank,
                            std::uint32_t size, hm_comm** out, hm_error*) {
      asked = {static_cast<std::uint64_t>(*static_cast<const char*>(token)), bytes, rank, size};
      return give(out);
    };
    tables.comm.destroy = [](hm_comm*) {};
    tables.plugin.probe = &probe;
    tables.plugin.comm = &tables.comm;
    auto made = PluginInstance::create(check_plugin(&tables.plugin, HM_ABI_VERSION), "");
    instance = std::move(*made);
    device = std::move(*instance->open(0, {}));
  }
  ~Device() { device = OpenDevice(); }
};

TEST(StatusOfCode, is_one_status_and_one_word_per_code) {
  const std::pair<Status, std::string_view> codes[] = {{Status::ok, "ok"},
                                                       {Status::unsupported, "unsupported"},
                                                       {Status::launch_failed, "invalid_argument"},
                                                       {Status::out_of_memory, "out_of_memory"},
                                                       {Status::compile_failed, "compile_failed"},
                                                       {Status::launch_failed, "launch_failed"},
                                                       {Status::device_lost, "device_lost"},
                                                       {Status::launch_failed, "internal"},
                                                       {Status::launch_failed, "internal"}};
  std::int32_t code = HM_OK;
  for (const auto& [status, word] : codes) {
    EXPECT_EQ(status_of_code(code), status) << code;
    EXPECT_EQ(hm_status_text(code++), word);
  }
  EXPECT_EQ(status_of_code(99), Status::launch_failed);
  EXPECT_EQ(status_of_code(lying_timer), Status::quarantined);
}

TEST(PluginViews, say_their_size_and_show_every_parameter) {
  const Problem problem{"gemm", {{"n", 2}, {"m", 1}}};
  const ProblemView view(problem);
  EXPECT_EQ(view.get()->struct_size, sizeof(hm_problem));
  ASSERT_EQ(view.get()->count, 2u);
  EXPECT_STREQ(view.get()->op, "gemm");
  EXPECT_STREQ(view.get()->params[0].name, "m");
  EXPECT_EQ(view.get()->params[1].value, 2);
  const Params params{{"impl", 3}};
  const ConfigView config(params);
  EXPECT_EQ(config.get()->struct_size, sizeof(hm_config));
  ASSERT_EQ(config.get()->count, 1u);
  EXPECT_STREQ(config.get()->params[0].name, "impl");
  EXPECT_EQ(config.get()->params[0].value, 3);
}

TEST(PluginBuffer, is_asked_for_with_its_size_and_read_and_written_where_it_was_said) {
  Device d;
  auto buffer = d.device.create_buffer(96, 64, HM_MEMORY_HOST_PINNED);
  ASSERT_TRUE(buffer);
  EXPECT_THAT(asked, ElementsAre(96, 64, HM_MEMORY_HOST_PINNED));
  EXPECT_EQ(buffer->bytes(), 96u);
  char bytes[8] = {};
  const auto address = reinterpret_cast<std::uint64_t>(&bytes[0]);
  EXPECT_TRUE(buffer->write(16, bytes, 8).ok());
  EXPECT_THAT(asked, ElementsAre(16, address, 8));
  EXPECT_TRUE(buffer->read(24, bytes, 4).ok());
  EXPECT_THAT(asked, ElementsAre(24, address, 4));
  answer = HM_DEVICE_LOST;
  EXPECT_EQ(buffer->write(0, bytes, 8).status, HM_DEVICE_LOST);
  EXPECT_THAT(buffer->write(0, bytes, 8).message, HasSubstr("memory.write answered device_lost"));
  EXPECT_THAT(buffer->read(0, bytes, 8).message, HasSubstr("memory.read answered device_lost"));
}

TEST(PluginBuffer, wraps_memory_of_the_host_where_the_plugin_can) {
  Device d;
  char bytes[8] = {};
  ASSERT_TRUE(d.device.can_wrap());
  auto wrapped = d.device.wrap(bytes, 8);
  ASSERT_TRUE(wrapped);
  EXPECT_THAT(asked, ElementsAre(reinterpret_cast<std::uint64_t>(&bytes[0]), 8));
  EXPECT_EQ(wrapped->bytes(), 8u);
  answer = HM_OUT_OF_MEMORY;
  EXPECT_EQ(d.device.wrap(bytes, 8).failure.status, HM_OUT_OF_MEMORY);
  d.tables.memory.wrap = nullptr;
  EXPECT_FALSE(d.device.can_wrap());
  EXPECT_EQ(d.device.wrap(bytes, 8).failure.status, HM_UNSUPPORTED);
}

TEST(PluginHandles, that_were_not_given_are_named) {
  Device d;
  gives_handles = false;
  char bytes[8] = {};
  const auto expect = [&](std::initializer_list<const char*> words) {
    const std::string said[] = {
        d.device.create_buffer(8, 8).failure.message, d.device.create_stream().failure.message,
        d.device.create_event().failure.message, d.device.join("t", 0, 1).failure.message,
        d.device.wrap(bytes, 8).failure.message};
    EXPECT_TRUE(std::ranges::equal(said, words, [](const std::string& text, const char* word) {
      return text.find(word) != text.npos;
    })) << testing::PrintToString(said);
  };
  expect({"without a buffer", "without a stream", "without an event", "without a communicator",
          "without a buffer"});
  answer = HM_INTERNAL;
  expect({"memory.create answered", "stream.create answered", "stream.event_create answered",
          "comm.create answered", "memory.wrap answered"});
}

TEST(PluginStream, passes_on_what_its_entries_answer) {
  Device d;
  auto stream = d.device.create_stream();
  auto event = d.device.create_event();
  auto buffer = d.device.create_buffer(8, 8);
  ASSERT_TRUE(stream && event && buffer);
  EXPECT_TRUE(stream->can_fill());
  EXPECT_TRUE(stream->wait().ok());
  EXPECT_TRUE(stream->record(*event).ok());
  EXPECT_TRUE(stream->hold(7'000).ok());
  EXPECT_THAT(asked, ElementsAre(7'000));
  EXPECT_TRUE(stream->unhold().ok());
  EXPECT_TRUE(stream->fill(*buffer, 0xa5).ok());
  EXPECT_THAT(asked, ElementsAre(0xa5));
  EXPECT_TRUE(stream->flush().ok());
  answer = HM_LAUNCH_FAILED;
  const std::pair<std::string, const char*> said[] = {
      {stream->wait().message, "stream.wait"},
      {stream->record(*event).message, "stream.event_record"},
      {stream->hold(1).message, "stream.hold"},
      {stream->unhold().message, "stream.unhold"},
      {stream->fill(*buffer, 0).message, "memory.fill"},
      {stream->flush().message, "probe.cache_flush"},
      {stream->elapsed_ns(*event, *event).failure.message, "elapsed_ns"},
      {stream->elapsed_cycles(*event, *event).failure.message, "elapsed_cycles"}};
  for (const auto& [message, entry] : said) {
    EXPECT_THAT(message, HasSubstr(std::string(entry) + " answered launch_failed"));
  }
  d.tables.memory.fill = nullptr;
  EXPECT_FALSE(stream->can_fill());
  d.probe.cache_flush = nullptr;
  EXPECT_EQ(stream->flush().status, HM_UNSUPPORTED);
  d.tables.stream.event_elapsed_cycles = nullptr;
  EXPECT_EQ(stream->elapsed_cycles(*event, *event).failure.status, HM_UNSUPPORTED);
}

TEST(PluginTimer, gives_times_that_a_clock_can_give_or_lies) {
  Device d;
  auto stream = d.device.create_stream();
  auto event = d.device.create_event();
  ASSERT_TRUE(stream && event);
  for (const double good : {0.0, 0.5, 1e12}) {
    figure = good;
    const auto ns = stream->elapsed_ns(*event, *event);
    ASSERT_TRUE(ns) << good;
    EXPECT_EQ(*ns, good);
    const auto cycles = stream->elapsed_cycles(*event, *event);
    ASSERT_TRUE(cycles) << good;
    EXPECT_EQ(*cycles, good);
  }
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {-0.5, infinite, -infinite, std::nan("")}) {
    figure = bad;
    const auto ns = stream->elapsed_ns(*event, *event);
    ASSERT_FALSE(ns) << bad;
    EXPECT_EQ(ns.failure.status, lying_timer);
    EXPECT_THAT(ns.failure.message,
                HasSubstr(std::isnan(bad) ? "claims NaN" : "claims a negative or infinite time"));
    const auto cycles = stream->elapsed_cycles(*event, *event);
    ASSERT_FALSE(cycles) << bad;
    EXPECT_EQ(cycles.failure.status, HM_INTERNAL);
  }
}

TEST(PluginProbe, knows_the_clocks_that_are_finite) {
  Device d;
  EXPECT_EQ(d.device.clocks().failure.status, HM_UNSUPPORTED);
  d.probe.clocks_read = [](hm_device*, hm_clocks* clocks, hm_error*) {
    clocks->throttle = HM_THROTTLE_THERMAL;
    clocks->core_hz = 2e9;
    clocks->power_w = std::numeric_limits<double>::infinity();
    return answer;
  };
  const auto clocks = d.device.clocks();
  ASSERT_TRUE(clocks);
  EXPECT_EQ(clocks->throttle, HM_THROTTLE_THERMAL);
  EXPECT_EQ(clocks->core_hz, 2e9);
  EXPECT_FALSE(clocks->memory_hz) << "what is not said is not known";
  EXPECT_FALSE(clocks->temperature_c);
  EXPECT_FALSE(clocks->power_w);
  answer = HM_INTERNAL;
  EXPECT_THAT(d.device.clocks().failure.message, HasSubstr("probe.clocks_read answered"));
  answer = HM_OK;
  d.probe.clocks_read = [](hm_device*, hm_clocks* clocks, hm_error*) {
    std::memset(clocks + 1, 0, 8);
    return answer;
  };
  EXPECT_THAT(d.device.clocks().failure.message, HasSubstr("wrote past the out-struct"));
}

TEST(PluginProbe, knows_an_energy_that_is_finite) {
  Device d;
  figure = -3;
  ASSERT_TRUE(d.device.energy_microjoules());
  EXPECT_EQ(*d.device.energy_microjoules(), -3);
  figure = std::nan("");
  EXPECT_EQ(d.device.energy_microjoules().failure.status, HM_UNSUPPORTED);
  answer = HM_INTERNAL;
  EXPECT_EQ(d.device.energy_microjoules().failure.status, HM_INTERNAL);
  d.probe.energy_read = nullptr;
  EXPECT_THAT(d.device.energy_microjoules().failure.message, HasSubstr("no probe.energy_read"));
}

TEST(PluginComm, joins_with_the_token_its_rank_and_how_many_there_are) {
  Device d;
  ASSERT_TRUE(d.device.join("tok", 2, 5));
  EXPECT_THAT(asked, ElementsAre('t', 3, 2, 5));
}

}  // namespace
}  // namespace halmark
