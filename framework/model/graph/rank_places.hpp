// Where the ranks of a group lie among the devices of a deployment. The one place that says so:
// whoever prices what ranks exchange over a fabric takes it from here.
#pragma once

#include <cstdint>

#include "core/chosen/configuration.hpp"
#include "model/graph/graph.hpp"

namespace halmark {

// Devices are numbered as a fabric is filled, nearest first: tensor parallel innermost, because it
// exchanges in every layer, then context, then the replicas that exchange experts' rows, then
// pipeline stages, and data parallel outermost, which exchanges nothing in inference. The ranks of
// a group are this many devices apart: those of a tensor-parallel group are neighbours, stages of
// tp 4 are 4 apart. Of splits that exchange nothing: 1.
std::int64_t group_stride(const Parallel& parallel, Split split);

}  // namespace halmark
