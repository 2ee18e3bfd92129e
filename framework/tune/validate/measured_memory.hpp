// What a stack took of memory, against the memory model.
#pragma once

#include "core/measured/measured_memory.hpp"
#include "measure/campaign/stack/stack_run.hpp"
#include "model/graph/graph.hpp"

namespace halmark::tune {

// `staged`: per rank of `graph`, in the order of build_stacks.
MeasuredMemory measured_memory(const OperatorGraph& graph, std::span<const RankStaging> staged);

}  // namespace halmark::tune
