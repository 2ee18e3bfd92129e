// Context parallelism: the tokens of every sequence over cp ranks. Rank i of them has blocks i and
// 2 cp - 1 - i of the 2 cp blocks that the new tokens are cut into, so that causal attention is the
// same work on every rank (Llama 3, 2407.21783, section 3.3.2); cached tokens are spread evenly.
// Keys and values travel once around the ranks (ring attention, 2310.01889). Weights are whole on
// every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/graph/graph.hpp"

namespace halmark {

// Why the tokens of the sequences cannot be split over parallel.cp ranks; nothing when they can, or
// there is one. A check of check_configuration, behind that of every degree's range.
std::optional<Refusal> check_context_split(const ModelSpec& spec,
                                           const Configuration& configuration);

// Why the form does not go with model and workload; nothing when it does. Both have passed
// check_configuration.
std::optional<Refusal> check_form(const ModelSpec& spec, const Configuration& configuration,
                                  const StepForm& form);

// Attention on the queries of every context rank, one problem per block; `attention` has all
// queries. A block sees the keys up to its own last token.
std::vector<std::vector<Problem>> query_blocks(const Problem& attention, int ranks);

// One launch per block: their work together.
Work work_of(const std::vector<Problem>& blocks);

// The rank with most products, the first among equals. Ranks differ only under a window or chunks.
const std::vector<Problem>& heaviest_blocks(const std::vector<std::vector<Problem>>& of_rank);

// Keys that the later block of the heaviest rank sees, for any load of the same `attention`. Which
// rank that is follows from the load where a window or chunks hide keys.
Size later_block_keys(const Problem& attention, int ranks, const Size& new_tokens,
                      const Size& context);

// Tokens of one sequence that the fullest context rank keeps in `cache`.
std::int64_t kept_tokens(const OperatorGraph& graph, const LayerCache& cache);

// Bytes of queries, keys and values that one rank holds for the attention operator `op`: without
// what passes through it from the other ranks.
double own_input_bytes(const OperatorGraph& graph, const Operator& op);

}  // namespace halmark
