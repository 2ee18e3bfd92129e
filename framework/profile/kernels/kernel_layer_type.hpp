// Which layer type of a graph a table of kernels is of.
#pragma once

#include "model/graph/graph.hpp"
#include "profile/kernels/kernel_table.hpp"

namespace halmark {

// Index into OperatorGraph::layer_types. Throws Error (exit 2) where the table's layer_type,
// layer_id and compress_ratio name none, several, or different ones, and where it was measured with
// another cached length than the graph's.
std::int32_t layer_type_of(const KernelLayer& layer, const OperatorGraph& graph);

}  // namespace halmark
