// Which operators of a graph each measured kernel is. Never guesses: what is not unique stays
// ambiguous, with its candidates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/graph/graph.hpp"
#include "profile/kernels/kernel_table.hpp"

namespace halmark {

enum class BindingStatus {
  bound,      // the row is these operators, and nobody else is
  shared,     // several rows are these operators: each has its share of their work
  ambiguous,  // one of the candidates
  unpriced,   // bookkeeping that is known by its category and priced by no operator of the graph
  overhead,   // category "other"
  unknown,    // a category that is not known, or of something that this layer does not do
};
std::string_view binding_status_name(BindingStatus status);

struct BoundOperator {
  std::int32_t index = 0;  // into OperatorGraph::operators
  double share = 1;        // of one execution on one rank
};

struct KernelBinding {
  BindingStatus status = BindingStatus::unknown;
  std::vector<BoundOperator> operators;  // bound and shared
  std::vector<std::int32_t> candidates;  // ambiguous
  std::string how;                       // "explicit", "order", ..., or why not
};

struct BoundLayer {
  std::int32_t layer_type = 0;           // into OperatorGraph::layer_types
  std::vector<KernelBinding> kernels;    // one per row of the table
  std::vector<std::int32_t> unmeasured;  // operators with matrix products that no row is
};

// In this order: an explicit "operator"; a unique shape; for matrix products of one type, and for
// other categories that name single operators, order where there are as many rows as operators;
// for categories that are one thing in several operators (routed experts, attention), all of them.
// Throws Error (exit 2) for a layer type, layer or operator that the graph does not have, and for a
// table that contradicts the graph (another cached length, another compression ratio).
BoundLayer bind_kernels(const KernelLayer& layer, const OperatorGraph& graph);

}  // namespace halmark
