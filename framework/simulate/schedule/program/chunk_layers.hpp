// Which layers each chunk of a pipeline has.
#pragma once

#include <vector>

#include "model/graph/graph.hpp"
#include "simulate/schedule/program/pass_order.hpp"

namespace halmark::schedule {

struct ChunkLayer {
  std::int32_t type = 0;    // into OperatorGraph::layer_types
  std::int64_t layer = -1;  // of the model; -1: embedding, head, predictions
};

// By stage, then by chunk. One chunk per stage: the stages of the graph. Throws Error (exit 2)
// where layers cannot be shared out over several chunks.
std::vector<std::vector<std::vector<ChunkLayer>>> chunk_layers(const OperatorGraph& graph,
                                                               const Pipeline& pipeline);

}  // namespace halmark::schedule
