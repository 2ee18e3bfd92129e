#include <gmock/gmock.h>

#include "report/charts/charts.hpp"
#include "report/charts/label_placer.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

int count_of(const std::string& text, const std::string& what) {
  int count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

KernelPoint kernel_at(double flops_per_s, const char* dtype) {
  return {.key = "one",
          .op = "gemm",
          .problem = "gemm one",
          .dtype = dtype,
          .duration_ns = 1e6,
          .matmul_flops = flops_per_s / 1e3,
          .bytes = flops_per_s / 1e3 / 1000};  // 1000 FLOP/byte: right of every ridge
}

RunReport with_kernel(const KernelPoint& kernel) {
  RunReport report{.title = "t", .model = "m"};
  report.device = Device{.id = "cpu:0"};
  report.device->peaks.push_back({.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 400e9});
  report.device->bandwidths.push_back({.level = "memory", .bytes_per_s = 20e9});
  report.kernels.push_back(kernel);
  return report;
}

TEST(roofline_chart, a_point_above_the_roof_is_an_error) {
  EXPECT_THAT(report::roofline_chart(with_kernel(kernel_at(800e9, "f32"))), HasSubstr(">ERROR<"));
  EXPECT_THAT(report_html(with_kernel(kernel_at(800e9, "f32"))),
              HasSubstr("above the roof of 400"));
}

TEST(roofline_chart, a_point_under_the_roof_is_not) {
  EXPECT_THAT(report::roofline_chart(with_kernel(kernel_at(390e9, "f32"))),
              Not(HasSubstr("ERROR")));
}

TEST(roofline_chart, shows_every_kernel_with_matmul_flops_and_a_latency) {
  const RunReport report = test::synthetic_report();
  int expected = 0;
  for (const KernelPoint& k : report.kernels) expected += k.duration_ns && k.matmul_flops > 0;
  ASSERT_GT(expected, 20);
  EXPECT_EQ(count_of(report::roofline_chart(report), "<title>") -
                count_of(report::roofline_chart(report), "<title>ridge of"),
            expected);
}

TEST(bandwidth_strips, hold_the_kernels_without_matmul_flops) {
  const RunReport report = test::synthetic_report();
  int expected = 0;
  for (const KernelPoint& k : report.kernels) expected += k.duration_ns && k.matmul_flops == 0;
  EXPECT_EQ(count_of(report::bandwidth_strips(report), " of the bound</title>"), expected);
}

TEST(front_chart, labels_every_front_point_once_and_links_it_to_its_breakdown) {
  const RunReport report = test::synthetic_report();
  for (const report::PhaseView& view : report::phase_views(report)) {
    const std::string svg = report::front_chart(view, report);
    ASSERT_EQ(view.front.size(), 3u);
    EXPECT_EQ(count_of(svg, "class=\"label\""), 3);
    for (const report::FrontRow& row : view.front) {
      EXPECT_EQ(count_of(svg, "href=\"#" + row.anchor + '"'), 1);
      EXPECT_EQ(count_of(svg, ">" + row.label + "</text>"), 1);
    }
  }
}

TEST(front_chart, a_single_point_has_axes_too) {
  RunReport report = test::synthetic_report();
  report.evaluations.resize(1);
  report.front = {{.evaluation = 0}};
  const std::string svg = report::front_chart(report::phase_views(report).at(0), report);
  EXPECT_GE(count_of(svg, "class=\"tick\""), 4);
}

// Latencies of 1 and 10 ms whose intervals say nothing: the points still have half of the picture.
TEST(front_chart, intervals_without_an_end_leave_the_points_their_room) {
  RunReport report = test::synthetic_report();
  report.evaluations.resize(1);
  report.evaluations.push_back(report.evaluations[0]);
  report.evaluations[1].configuration.workload.batch += 1;
  report.front = {{.evaluation = 0}, {.evaluation = 1}};
  for (const double scale : {1.0, 10.0}) {
    Estimate& e = *report.evaluations[scale > 1 ? 1 : 0].estimate;
    e.step_ns = scale * 1e6;
    e.tokens_per_s = scale * 100;
    e.low_ns = e.step_ns / 1e4;
    e.high_ns = e.step_ns * 1e4;
  }
  const std::string svg = report::front_chart(report::phase_views(report).at(0), report);
  const std::string stairs = "class=\"front\" d=\"M";
  const std::size_t at = svg.find(stairs);
  ASSERT_NE(at, std::string::npos);
  const std::string d = svg.substr(at + stairs.size(), svg.find('"', at + stairs.size()) - at);
  EXPECT_GT(std::stod(d.substr(d.find('L') + 1)) - std::stod(d), 262) << d;
}

TEST(breakdown_chart, segments_fill_the_bar) {
  const RunReport report = test::synthetic_report();
  const std::string svg = report::breakdown_chart(report::phase_views(report)[0].front[0]);
  double total = 0;
  const std::string key = "class=\"seg ";
  for (std::size_t at = svg.find(key); at != std::string::npos; at = svg.find(key, at + 1)) {
    const std::size_t width = svg.find("width=\"", at) + 7;
    total += std::stod(svg.substr(width));
  }
  EXPECT_NEAR(total, 1100, 2);
}

// What the segments of a bar say, from left to right.
std::vector<std::string> segments_of(const std::vector<double>& ns) {
  Estimate estimate;
  for (const double each : ns) {
    OperatorShare share{.name = "op" + std::to_string(static_cast<int>(each)), .ns = each};
    share.bound = "memory";
    estimate.operators.push_back(share);
  }
  const report::FrontRow row{.estimate = &estimate, .label = "b1"};
  const std::string svg = report::breakdown_chart(row);
  std::vector<std::string> titles;
  for (std::size_t at = svg.find("<title>"); at != std::string::npos;
       at = svg.find("<title>", at + 1)) {
    titles.push_back(svg.substr(at + 7, svg.find("</title>", at) - at - 7));
  }
  return titles;
}

TEST(breakdown_chart, operators_are_drawn_by_size_down_to_a_share_and_the_rest_is_one) {
  using testing::ElementsAre;
  EXPECT_THAT(segments_of({8, 300, 500, 192}),
              ElementsAre("op500: 500 ns, 50.0 %, memory", "op300: 300 ns, 30.0 %, memory",
                          "op192: 192 ns, 19.2 %, memory", "op8: 8.00 ns, 0.80 %, memory"));
  EXPECT_THAT(segments_of({7, 300, 500, 193}),
              ElementsAre("op500: 500 ns, 50.0 %, memory", "op300: 300 ns, 30.0 %, memory",
                          "op193: 193 ns, 19.3 %, memory", "everything below 0.80 %: 0.70 %"));
  EXPECT_TRUE(segments_of({0, 0}).empty());
}

// The same kernel is as large in either chart, and its error is drawn around it.
TEST(charts, a_kernel_looks_alike_under_the_roofs_and_on_its_strip) {
  KernelPoint kernel = kernel_at(100e9, "f32");
  kernel.status = Status::quarantined;
  kernel.reason = "faster_than_roofline";
  const auto ring_of = [](const std::string& svg) {
    const std::size_t at = svg.find(" r=\"", svg.find("class=\"error\"")) + 4;
    return svg.substr(at, svg.find('"', at) - at);
  };
  const std::string under_roofs = ring_of(report::roofline_chart(with_kernel(kernel)));
  kernel.matmul_flops = 0;
  kernel.roofline_fraction = 1.1;
  EXPECT_EQ(ring_of(report::bandwidth_strips(with_kernel(kernel))), under_roofs);
  EXPECT_GT(std::stod(under_roofs), 0);
}

TEST(label_placer, labels_never_overlap_each_other_or_their_markers) {
  report::LabelPlacer placer({0, 0, 400, 300}, 12);
  std::vector<report::Point> points;
  for (int i = 0; i < 8; ++i) points.push_back({200.0 + 3 * i, 150.0 - 2 * i});
  for (const report::Point& p : points) placer.avoid(report::marker_box(p, 5));
  std::vector<report::Box> boxes;
  for (const report::Point& p : points) {
    if (const auto placed = placer.place(p, 5, "b16 bf16 tp2")) boxes.push_back(placed->box);
  }
  ASSERT_GE(boxes.size(), 6u);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(boxes[i].overlaps(boxes[j])) << i << ' ' << j;
    for (const report::Point& p : points) {
      EXPECT_FALSE(boxes[i].overlaps({p.x - 5, p.y - 5, p.x + 5, p.y + 5}));
    }
  }
}

// Of a bar of 1100 ns each nanosecond is a pixel. A letter takes 0.58 x 12 = 6.96, and 6 stay free:
// "2 nm 7.55 %" needs 82.56, "4 nm" 33.84, "6" 12.96.
TEST(breakdown_chart, labels_are_as_long_as_their_segment_has_room) {
  Estimate estimate;
  for (const double ns : {841.2, 83.0, 82.0, 34.2, 33.6, 13.2, 12.8}) {
    estimate.operators.push_back({.name = "nm", .ns = ns});
  }
  const std::string svg = report::breakdown_chart({.estimate = &estimate, .label = "b1"});
  std::vector<std::string> labels;
  const std::string key = "class=\"seglabel";
  for (std::size_t at = svg.find(key); at != std::string::npos; at = svg.find(key, at + 1)) {
    const std::size_t begin = svg.find('>', at) + 1;
    labels.push_back(svg.substr(begin, svg.find('<', begin) - begin));
  }
  EXPECT_THAT(labels, testing::ElementsAre("1 nm 76.5 %", "2 nm 7.55 %", "3 nm", "4 nm", "5", "6"));
}

TEST(bandwidth_strips, leave_out_what_has_no_time_no_share_or_matmul_flops) {
  KernelPoint kernel{
      .key = "k", .op = "norm", .problem = "norm", .dtype = "f32", .duration_ns = 1e3};
  kernel.roofline_fraction = 0.5;
  const auto strips = [](const KernelPoint& k) { return report::bandwidth_strips(with_kernel(k)); };
  EXPECT_THAT(strips(kernel), test::has_all({" of the bound</title>", ">1: 50.0 % .. 50.0 %<"}));
  KernelPoint other = kernel;
  other.duration_ns.reset();
  EXPECT_EQ(strips(other), "");
  other = kernel;
  other.roofline_fraction.reset();
  EXPECT_EQ(strips(other), "");
  other = kernel;
  other.matmul_flops = 1;
  EXPECT_EQ(strips(other), "");
}

}  // namespace
}  // namespace halmark
