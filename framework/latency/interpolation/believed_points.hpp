// A false point would pull all its neighbours below the roofline, so points are judged before they
// teach anything, and what they teach is judged again.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/table_use.hpp"
#include "latency/latency_point.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

// Whose figures lie between points, for a problem: "gemm.csv: gemm bf16 torch_flow".
using PointsOrigin = std::function<std::string(const Problem&)>;

// The points that do not beat the roofline of the device they were measured on. The others are
// counted in `left_out`; the example's `source` is `origin`, with its line.
std::vector<LatencyPoint> believed_points(std::span<const LatencyPoint> points,
                                          const roofline::Ceilings& measured_on,
                                          const PointsOrigin& origin, QuarantinedTimes& left_out);

}  // namespace halmark
