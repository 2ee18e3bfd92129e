// The formula of an operator with its numbers substituted, for a person who wants to check one.
#pragma once

#include <optional>
#include <string>

#include "model/graph/graph.hpp"
#include "model/training/training.hpp"
#include "roofline/estimate.hpp"

namespace halmark {

// A line per step: the product or the pairs, times layers, per rank, passes of a training step,
// bytes, and with a floor what bounds one execution. `op_index` into graph.operators.
std::string explain_operator(const OperatorGraph& graph, std::size_t op_index,
                             const std::optional<TrainingCost>& training,
                             const std::optional<RooflineEstimate>& floor);

// 33554432 -> "33,554,432"; fractions are rounded to the nearest integer.
std::string grouped_digits(double value);

}  // namespace halmark
