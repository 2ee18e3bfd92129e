// What a convention needs to know, folded from an operator graph: any family that has one.
#pragma once

#include "model/graph/graph.hpp"
#include "model/utilisation/convention.hpp"

namespace halmark {

// Per token of the graph's step, unsplit. Attention whose pairs follow from a causal mask or a
// window is given by its shape; what selects its keys itself, by its FLOPs. `has_modules`: with the
// prediction modules that the step has.
FlopShape flop_shape(const OperatorGraph& graph, bool has_modules = true);

// The sequence that the graph's workload has.
SequenceLength sequence_of(const OperatorGraph& graph);

}  // namespace halmark
