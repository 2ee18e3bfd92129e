#include "simulate/serving/cache_room.hpp"

#include <algorithm>
#include <cmath>

namespace halmark::serving {

CacheRoom cache_room(StepPricer& steps, StepPricer::Layout layout, std::int64_t memory_bytes,
                     std::int64_t token_budget, std::int64_t block_tokens, std::int64_t context,
                     const EngineMemory& kept) {
  const Parallel& parallel = steps.parallel(layout);
  const auto blocks = static_cast<double>((context + block_tokens - 1) / block_tokens);
  CacheRoom out;
  out.rank_kept_bytes = kept.kept_bytes(steps.activation_bytes(layout, token_budget));
  double fewest = -1;
  for (const StageMemory& stage : steps.stage_memory(layout, context)) {
    const double rank_block = static_cast<double>(stage.kv_bytes_per_sequence) / blocks;
    const auto room = static_cast<double>(memory_bytes - stage.weight_bytes - out.rank_kept_bytes);
    const double fit = rank_block > 0 ? std::max(0.0, std::floor(room / rank_block)) : 0;
    const auto ranks = static_cast<double>(stage.stages * parallel.tp);
    out.weight_bytes += ranks * static_cast<double>(stage.weight_bytes);
    out.block_bytes += ranks * rank_block;
    if (fewest < 0 || fit < fewest) {
      fewest = fit;
      out.rank_block_bytes = rank_block;
      out.rank_weight_bytes = stage.weight_bytes;
    }
  }
  out.kv_bytes_per_token = out.block_bytes / static_cast<double>(block_tokens);
  out.blocks = static_cast<std::int64_t>(std::max(0.0, fewest)) / parallel.pp;
  return out;
}

}  // namespace halmark::serving
