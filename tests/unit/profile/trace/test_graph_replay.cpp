// CUDA graphs: operators run when the graph is replayed, not when it is captured.
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

using testing::HasSubstr;

constexpr const char* mm = "[[4, 8], [8, 16]]";

// One captured pass of two operators, three launches.
TraceText& capture(TraceText& t, double at, int first, const char* second = "aten::mul") {
  t.launch(first, at, "cudaStreamBeginCapture_v2")
      .op("aten::mm", at + 2, 10, mm)
      .launch(first + 1, at + 3)
      .launch(first + 2, at + 5)
      .op(second, at + 20, 5)
      .launch(first + 3, at + 21)
      .launch(first + 4, at + 30, "cudaStreamEndCapture");
  return t;
}

TraceText& replay(TraceText& t, double at, int correlation) {
  t.launch(correlation, at, "cudaGraphLaunch")
      .kernel("gemm", correlation, at + 1, 8)
      .kernel("splitk", correlation, at + 10, 2)
      .kernel("mul", correlation, at + 13, 4);
  return t;
}

TEST(GraphReplay, kernels_of_replays_belong_to_the_operators_of_the_capture) {
  TraceText t;
  capture(t, 0, 10);
  for (int i = 0; i < 3; ++i) replay(t, 100 + 50 * i, 20 + i);
  const Read r = read_text(t.text());
  EXPECT_EQ(r.row("aten::mm").count, 3u);
  EXPECT_EQ(r.row("aten::mm").captured, 1u);
  EXPECT_EQ(r.row("aten::mm").device_ns, 3 * 10'000);
  EXPECT_EQ(r.row("aten::mul").count, 3u);
  EXPECT_EQ(r.row("aten::mul").device_ns, 3 * 4'000);
  EXPECT_EQ(r.flops(), 3 * 2. * 4 * 8 * 16);
  EXPECT_EQ(r.attribution.device.replays, 3u);
  EXPECT_EQ(r.attribution.device.assigned_ns, r.attribution.device.total_ns);
}

TEST(GraphReplay, replays_count_in_the_pass_that_launched_them) {
  TraceText t;
  t.annotation("ProfilerStep#0", 0, 90).annotation("ProfilerStep#1", 95, 45);
  capture(t, 1, 10);
  replay(t, 100, 20);
  const Read r = read_text(t.text());
  for (const OperatorRow& row : r.attribution.rows) {
    EXPECT_EQ(row.pass, row.count > 0 ? 1u : 0u) << r.recording.names[row.name];
  }
  EXPECT_EQ(r.executed().size(), 2u);
}

TEST(GraphReplay, node_numbers_order_kernels_that_ran_out_of_order) {
  TraceText t;
  capture(t, 0, 10);
  t.launch(20, 100, "cudaGraphLaunch")
      .kernel("mul", 20, 101, 4, R"(, "graph node id": 9)")
      .kernel("gemm", 20, 102, 8, R"(, "graph node id": 4)")
      .kernel("splitk", 20, 103, 2, R"(, "graph node id": 7)");
  const Read r = read_text(t.text());
  EXPECT_EQ(r.row("aten::mul").device_ns, 4'000);
  EXPECT_EQ(r.row("aten::mm").device_ns, 10'000);
}

TEST(GraphReplay, without_its_capture_the_time_is_kept_and_said_to_be_unexplained) {
  TraceText t;
  t.op("aten::mm", 0, 5, mm);
  replay(t, 100, 20);
  const DeviceTime d = read_text(t.text()).attribution.device;
  EXPECT_EQ(d.unexplained_replays, 1u);
  EXPECT_EQ(d.ambiguous_ns, 14'000);
  EXPECT_EQ(d.assigned_ns, 0);
  EXPECT_THAT(d.replay_reason, HasSubstr("no capture of 3 launches"));
}

TEST(GraphReplay, captures_that_differ_leave_a_replay_ambiguous_and_equal_ones_do_not) {
  TraceText different, equal;
  replay(capture(capture(different, 0, 10), 40, 15, "aten::add"), 100, 20);
  replay(capture(capture(equal, 0, 10), 40, 15), 100, 20);
  EXPECT_THAT(read_text(different.text()).attribution.device.replay_reason, HasSubstr("different"));
  EXPECT_EQ(read_text(equal.text()).attribution.device.unexplained_replays, 0u);
  EXPECT_EQ(read_text(equal.text()).row("aten::mm").count, 1u);
}

}  // namespace
}  // namespace halmark::trace_test
