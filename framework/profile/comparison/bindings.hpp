// Which operators of the model an operator of the trace executes, by the module that called it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/graph/graph.hpp"
#include "profile/trace/attribution.hpp"

namespace halmark::trace {

// Indices into OperatorGraph::operators. A fused projection executes several; several projections
// may execute parts of one. Empty = not in the model.
using Binding = std::vector<std::int32_t>;

// Layer types of the model that may have executed a scope: the one of its layer, or embedding and
// head outside of layers.
std::vector<std::int32_t> operators_at(const OperatorGraph& graph, std::int32_t layer);

// `row` has a formula: matmul, attention or experts.
Binding bind_product(const ScopeTree& scopes, const OperatorRow& row, const OperatorCost& cost,
                     const OperatorGraph& graph, const std::vector<std::int32_t>& candidates);

// Where a product is no operator of its own in the model, what it is part of: recurrences and their
// convolutions, whose libraries choose among forms of different FLOPs, and small sums that the
// model counts as element-wise. Empty for all others.
std::string explain_product(const ScopeTree& scopes, const OperatorRow& row,
                            const OperatorCost& cost, const OperatorGraph& graph);

// The model's recurrence, which no product of the trace stands for.
bool is_recurrence(const Operator& op);

// What a row without a formula is part of: the operators of its module, communication, or the
// preparation of inputs and outputs around the layers. Empty = nothing explains it.
std::string explain(const ScopeTree& scopes, const OperatorRow& row, const OperatorGraph& graph);

}  // namespace halmark::trace
