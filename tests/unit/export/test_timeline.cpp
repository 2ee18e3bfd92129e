#include <gmock/gmock.h>

#include "export/exchange/exchange.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::exports {
namespace {

Measurement measured(double wall_s) {
  Measurement out;
  out.kernel_case.problem.op = "gemm";
  out.one_time = {.create_ns = 100, .first_ns = 200};
  out.samples = {{.wall_ns = 10}, {.wall_ns = 20}};
  out.repeat = 4;
  out.wall_s = wall_s;
  return out;
}

TEST(Timeline, rows_follow_each_other_with_their_parts_inside) {
  const std::vector<Measurement> rows = {measured(1e-6), measured(0)};
  const TimelineGroup group = measuring_timeline(rows);
  ASSERT_EQ(group.tracks.size(), 1u);
  const std::vector<Slice>& slices = group.tracks[0].slices;
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].duration_ns, 1000);
  EXPECT_EQ(slices[1].begin_ns, 1000);
  // Not shorter than its parts: 100 + 200 + 4 x (10 + 20).
  EXPECT_EQ(slices[1].duration_ns, 420);
  ASSERT_EQ(slices[1].inside.size(), 3u);  // nothing was packed
  EXPECT_EQ(slices[1].inside[2].name, "samples");
  EXPECT_EQ(slices[1].inside[2].begin_ns, 1300);
  EXPECT_EQ(slices[1].inside[2].duration_ns, 120);
}

TEST(Timeline, kernels_without_a_latency_have_no_slice) {
  RunReport report;
  KernelPoint fast{.key = "a", .op = "gemm", .status = Status::ok};
  fast.duration_ns = 2000;
  KernelPoint late = fast;
  late.op = "copy", late.duration_ns = 10;
  report.kernels = {fast, {.key = "b", .op = "rope", .status = Status::out_of_memory}, late};
  const TimelineGroup group = kernel_timeline(report);
  ASSERT_EQ(group.tracks.size(), 2u);
  EXPECT_EQ(group.tracks[1].name, "copy");
  EXPECT_EQ(group.tracks[1].slices[0].begin_ns, 2000);
}

TEST(Timeline, a_step_has_its_operators_by_layer) {
  Evaluation e;
  Estimate estimate;
  estimate.step_ns = 60;
  estimate.operators = {{.name = "qkv", .layer_type = "decoder", .count = 2, .ns = 10},
                        {.name = "out", .layer_type = "decoder", .count = 2, .ns = 20},
                        {.name = "free", .layer_type = "decoder", .count = 1, .ns = 0},
                        {.name = "lm_head", .layer_type = "head", .count = 1, .ns = 30}};
  e.estimate = estimate;
  const std::vector<TimelineGroup> groups = front_timeline({.points = {e}});
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].tracks.size(), 2u);
  const std::vector<Slice>& layers = groups[0].tracks[1].slices;
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].inside.size(), 2u);
  EXPECT_EQ(layers[0].duration_ns, 30);
  EXPECT_EQ(layers[1].begin_ns, 30);
  EXPECT_EQ(layers[1].inside[0].begin_ns, 30);
}

// By hand, from the encoding of protobuf: a group, a track in it, one slice from 0 to 5 ns.
TEST(Perfetto, a_slice_is_these_bytes) {
  MetricTable table;
  table.timeline = {
      {.name = "g",
       .tracks = {{.name = "t", .slices = {{.name = "s", .category = "", .duration_ns = 5.4}}}}},
      {.name = "empty", .tracks = {}}};
  const std::string expected(
      "\x0a\x0a\xe2\x03\x05\x08\x01\x12\x01g\x50\x01"
      "\x0a\x0c\xe2\x03\x07\x08\x02\x12\x01t\x28\x01\x50\x01"
      "\x0a\x0e\x40\x00\x5a\x08\x48\x01\x58\x02\xba\x01\x01s\x50\x01"
      "\x0a\x0a\x40\x05\x5a\x04\x48\x02\x58\x02\x50\x01",
      12 + 14 + 16 + 12);
  EXPECT_EQ(perfetto_trace(table), expected);
}

TEST(Otlp, figures_without_a_time_are_refused) {
  test::expect_error([] { otlp_text({.rows = {{.name = "a"}}}); }, "--as csv", ExitCode::refused);
}

}  // namespace
}  // namespace halmark::exports
