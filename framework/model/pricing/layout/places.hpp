// Where the operators of a stage stand: behind what and before what a kernel runs decides what its
// caches hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/graph/graph.hpp"

namespace halmark {

// By operator of the graph: 12 hexadecimal digits over the problems of the three operators before
// it and of the one behind, where it stands most often; "" for one that the stage executes once
// (an embedding, a head) or never: nothing repeats what is around it.
std::vector<std::string> usual_neighbours(const OperatorGraph& graph, std::size_t stage);

// The fewest layers of OperatorGraph::stage_sequence in a row in which every operator that has
// usual neighbours stands between them.
std::vector<std::int32_t> short_sequence(const OperatorGraph& graph, std::size_t stage);

}  // namespace halmark
