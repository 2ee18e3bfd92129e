// How many KV blocks of a model fit beside its weights, and what they hold.
#pragma once

#include <cstdint>

#include "model/pricing/engine_memory.hpp"
#include "model/pricing/step_pricer.hpp"

namespace halmark::serving {

struct CacheRoom {
  std::int64_t blocks = 0;  // of one engine; 0 = the weights leave no room
  // Of the fullest rank; with pipeline stages every rank holds blocks of all engines of its
  // replica.
  double rank_block_bytes = 0;
  std::int64_t rank_weight_bytes = 0;
  std::int64_t rank_kept_bytes = 0;  // activations, and what the engine keeps
  double block_bytes = 0;            // on all ranks of a replica
  double weight_bytes = 0;           // likewise
  double kv_bytes_per_token = 0;     // whole model
};

// A layout has dp x pp engines: of every replica one per stage, each with the cache of its requests
// on all stages. Bytes of a block are those of sequences of `context` tokens, spread over their
// blocks: layers with a sliding window keep less, and states of recurrences count into the blocks.
CacheRoom cache_room(StepPricer& steps, StepPricer::Layout layout, std::int64_t memory_bytes,
                     std::int64_t token_budget, std::int64_t block_tokens, std::int64_t context,
                     const EngineMemory& kept = {});

}  // namespace halmark::serving
