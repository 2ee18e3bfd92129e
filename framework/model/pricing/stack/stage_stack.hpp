// What the ranks of one stage execute for one step of the deployment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/pricing/stack/stack.hpp"

namespace halmark {

struct StageStack {
  Stack stack;
  std::map<std::int32_t, Split> splits;  // of kernels that are collectives: which ranks meet
};

// `layers`: OperatorGraph::stage_sequence, or a part of it.
StageStack stage_stack(const OperatorGraph& graph, const StackPlacement& placement,
                       std::size_t stage, int expert_rank, const std::vector<std::int32_t>& layers);

}  // namespace halmark
