// No event is lost by its name: calls launch what has their number, categories that are not read
// are counted and named, and the counts add up to the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

// Names that no list of launches has, of backends old and to come.
TEST(Launches, are_what_a_device_event_has_the_number_of_whatever_they_are_called) {
  for (const char* category : {"cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime",
                               "privateuse1_driver", "mtia_runtime", "musa_runtime", "Runtime"}) {
    for (const char* name : {"hipMemcpyWithStream", "hipMemcpyDtoD", "cudaMemcpy2D",
                             "zeCommandList", "cuLaunchHostFunc", "enqueue", "sendCommand", "x"}) {
      const Read r = read_text(TraceText()
                                   .op("aten::copy_", 0, 30)
                                   .event(category, name, 5, 3, "\"correlation\": 41")
                                   .kernel("Memcpy HtoD", 41, 200, 7)
                                   .text());
      EXPECT_EQ(r.row("aten::copy_").device_ns, 7'000) << category << ' ' << name;
      EXPECT_EQ(r.attribution.device.unlinked_ns, 0) << category << ' ' << name;
    }
  }
}

TEST(Launches, of_one_number_are_none_of_another) {
  const Read r = read_text(TraceText()
                               .op("aten::mul", 0, 30)
                               .launch(40, 5, "hipMemcpyWithStream")
                               .op("aten::add", 50, 30)
                               .launch(41, 55, "deviceSynchronize")
                               .kernel("k", 40, 200, 7)
                               .text());
  EXPECT_EQ(r.row("aten::mul").device_ns, 7'000);
  EXPECT_EQ(r.row("aten::add").device_ns, 0);
}

TraceText mixed() {
  return TraceText()
      .op("aten::mul", 0, 30, "[[4, 4], [4, 4]]")
      .launch(40, 5)
      .launch(42, 8, "cudaDeviceSynchronize")
      .kernel("k", 40, 200, 7)
      .annotation("step", 0, 300)
      .frame("torch/nn/linear.py(3): forward", 1, 2)
      .event("mtia_ccp_events", "pe_exe", 10, 5, "\"stream\": 1")
      .event("mtia_ccp_events", "event_wait", 20, 5, "\"stream\": 1")
      .event("new_device_queue", "run", 20, 5, "");
}

TEST(UnreadEvents, are_counted_by_category_and_add_up_to_the_file) {
  const Read r = read_text(mixed().text());
  const Recording& all = r.recording;
  EXPECT_THAT(all.unread_events,
              UnorderedElementsAre(Pair("mtia_ccp_events", 2), Pair("new_device_queue", 1)));
  EXPECT_THAT(all.read_events,
              UnorderedElementsAre(Pair("cpu_op", 1), Pair("cuda_runtime", 2), Pair("kernel", 1),
                                   Pair("user_annotation", 1), Pair("python_function", 1)));
  std::uint64_t sum = all.undated_events;
  for (const auto& [category, count] : all.read_events) sum += count;
  for (const auto& [category, count] : all.unread_events) sum += count;
  EXPECT_EQ(sum, all.totals.events);
}

// Where operators were recorded with their shapes, recording again gives no more.
TEST(Shapes, are_there_where_any_operator_has_them) {
  EXPECT_TRUE(
      read_text(TraceText().op("aten::mul", 0, 3, "[[4], [4]]").text()).recording.has_shapes);
  EXPECT_TRUE(read_text(TraceText().op("aten::view", 0, 3, "[[4]]").text()).recording.has_shapes);
  EXPECT_TRUE(read_text(TraceText().op("mtia::gemm", 0, 3, "[]").text()).recording.has_shapes);
  EXPECT_FALSE(read_text(TraceText().op("aten::mm", 0, 3).text()).recording.has_shapes);
}

}  // namespace
}  // namespace halmark::trace_test
