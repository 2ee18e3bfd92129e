// The pictures of the page, each an inline SVG that needs no script. Empty text: nothing to draw.
#pragma once

#include <string>
#include <vector>

#include "report/charts/label_placer.hpp"
#include "report/charts/svg.hpp"
#include "report/front_view.hpp"

namespace halmark {
struct ServedReport;
}

namespace halmark::report {

// The plane that fronts are drawn on: what goes up over what goes across, both logarithmic.
struct FrontPlane {
  static constexpr double left = 66, right = 590, top = 12, bottom = 392;
  // `room`: see padded_range; across, as up has 1.35.
  FrontPlane(const std::vector<double>& across, double room, const std::vector<double>& up);
  Point at(const Estimate& e) const { return {x.at(e.step_ns), y.at(e.tokens_per_s)}; }
  // Of labels of its points.
  LabelPlacer placer() const { return {{left + 2, top + 2, right - 2, bottom - 2}, 12}; }
  // Of steps: their latency across, their rate up.
  std::string axes() const;
  static std::string picture(const std::string& name, const std::string& body);

  LogScale x, y;
};

// Latency against throughput of one phase; marker size is memory, markers link to their breakdown.
std::string front_chart(const PhaseView& view, const RunReport& report);

// What a user gets against what a device gives, of a served load: the choice is larger, and has its
// 90 % interval.
std::string served_front_chart(const ServedReport& report);

// Fronts of several runs of one phase, each with its look.
std::string runs_chart(const std::vector<PhaseView>& views, const std::string& name);
DtypeLook run_look(std::size_t run);

// What a front reaches, in the picture's pixels up to its right edge: for every latency the best
// throughput at or below it. Points that are on the front for their memory alone lie below the
// line.
std::vector<Point> staircase_corners(const PhaseView& view, const FrontPlane& plane);
std::string staircase(const std::vector<Point>& corners, const std::string& css_class);

// FLOP/s over FLOP/byte for every kernel with matmul FLOPs, under the measured roofs.
std::string roofline_chart(const RunReport& report);

// Share of the bound reached, one strip per op, for the kernels without matmul FLOPs.
std::string bandwidth_strips(const RunReport& report);

// The operators of one front point as one bar; segment numbers are those of breakdown_table.
std::string breakdown_chart(const FrontRow& row);

}  // namespace halmark::report
