// The parts of ModelSpec that the DeepSeek line adds: latent attention, its sparse indexer, and the
// compressed attention of DeepSeek-V4.
#pragma once

#include <cstdint>
#include <vector>

namespace halmark {

// Multi-head latent attention (DeepSeek-V2, 2405.04434): queries and keys pass through low ranks,
// and a token's cached row is kv_rank + rope_dim wide whatever the number of heads.
struct LatentSpec {
  std::int64_t q_rank = 0;  // 0 = queries are projected at once
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;  // of a query and key head, without and with rotary embedding
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  bool output_gate = false;  // a product of the layer's input multiplies its output
  bool has_rotary = true;    // false: the rotary part of queries and keys is there, not rotated
  std::int64_t query_dim() const { return nope_dim + rope_dim; }
  std::int64_t row_dim() const { return kv_rank + rope_dim; }  // what the cache keeps of a token
};

// The indexer of sparse attention (DeepSeek-V3.2): which top_k keys, or compressed entries, a query
// reads.
struct IndexerSpec {
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t top_k = 0;
  bool is_of_blocks = false;  // top_k counts blocks of keys (MiniMax-M3)
  // Layers that run it; the others reuse the choice of the layer before them. One entry per layer.
  std::vector<bool> runs;
};

// Attention of DeepSeek-V4. ModelSpec::head_dim is the width of the one latent row that is key and
// value of all heads; ModelSpec::indexer chooses among the entries of ratio 4.
struct CompressedSpec {
  std::int64_t q_rank = 0;
  std::int64_t window = 0;            // last tokens seen one by one
  std::vector<std::int64_t> ratios;   // tokens of a compressed entry, per layer: 0, 4 or 128
  std::int64_t prediction_ratio = 0;  // likewise, of the layer in a prediction module
  std::int64_t output_groups = 0;     // heads are projected to output_rank in so many groups
  std::int64_t output_rank = 0;       // per group
  std::int64_t streams = 0;           // residual streams of the hyper-connections
  std::int64_t sinkhorn_iterations = 0;
};

}  // namespace halmark
