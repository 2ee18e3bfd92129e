// The pictures of the page, each an inline SVG that needs no script. Empty text: nothing to draw.
#pragma once

#include <string>
#include <vector>

#include "report/charts/svg.hpp"
#include "report/front_view.hpp"

namespace halmark {
struct ServedReport;
}

namespace halmark::report {

// Latency against throughput of one phase; marker size is memory, markers link to their breakdown.
std::string front_chart(const PhaseView& view, const RunReport& report);

// What a user gets against what a device gives, of a served load: the choice is larger, and has its
// 90 % interval.
std::string served_front_chart(const ServedReport& report);

// Fronts of several runs of one phase, each with its look.
std::string runs_chart(const std::vector<PhaseView>& views, const std::string& name);
DtypeLook run_look(std::size_t run);

// What a front reaches, in the picture's pixels up to `right`: for every latency the best
// throughput at or below it. Points that are on the front for their memory alone lie below the
// line.
std::vector<Point> staircase_corners(const PhaseView& view, const LogScale& x, const LogScale& y,
                                     double right);
std::string staircase(const std::vector<Point>& corners, const std::string& css_class);

// FLOP/s over FLOP/byte for every kernel with matmul FLOPs, under the measured roofs.
std::string roofline_chart(const RunReport& report);

// Share of the bound reached, one strip per op, for the kernels without matmul FLOPs.
std::string bandwidth_strips(const RunReport& report);

// The operators of one front point as one bar; segment numbers are those of breakdown_table.
std::string breakdown_chart(const FrontRow& row);

}  // namespace halmark::report
