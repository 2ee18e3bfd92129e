// The lightning indexer of sparse attention (DeepSeek-V3.2, V4, GLM-5): light heads that choose
// which keys, or compressed entries, a query reads. What the families differ in is where its keys
// come from and how it is split.
#pragma once

#include "model/families/family.hpp"

namespace halmark::indexer {

// Heads, width and top_k; it runs on every layer until the family says otherwise.
void read(ConfigReader& config, ModelSpec& spec);

// Type that its queries and keys are compared and cached in: f8 where the projections to
// them are f8, else that of the activations.
Dtype dtype(const Precision& precision);

// Its key, and the scale of an f8 one.
std::int64_t entry_bytes(const ModelSpec& spec, const Precision& precision);

// From projected queries of `heads` per token and `new_keys` keys of this step to the chosen
// entries: Hadamard transform, conversion to dtype(), cache, score and choice. An entry stands for
// `ratio` tokens. `split`: by heads, or every rank runs all of them.
void choose(const ModelSpec& spec, Split split, Extent new_keys, std::int64_t ratio,
            GraphBuilder& builder);

// Of blocks: with its own products out of the layer's input. Every rank runs the whole indexer.
void choose_blocks(const ModelSpec& spec, GraphBuilder& builder);

}  // namespace halmark::indexer
