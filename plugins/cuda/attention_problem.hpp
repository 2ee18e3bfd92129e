// The attention problem, and how one of its kernels is launched.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "device/function.hpp"
#include "kernel.hpp"

namespace hm_cuda {

struct AttentionProblem {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, causal, window, dtype;

  explicit AttentionProblem(plug::Params p);

  std::int64_t group() const { return heads / kv_heads; }
  std::int64_t packed_rows() const { return new_tokens * group(); }
  std::int64_t pairs() const { return batch * kv_heads; }
  // Keys that the first query sees at least, and any query at most.
  std::int64_t keys() const {
    return window > 0 ? std::min(context, window + new_tokens - 1) : context;
  }

  std::vector<Operand> operands() const;
};

// One pass over tiles of rows, and one that adds splits up where there are several.
struct AttentionPlan {
  std::string implementation;
  DeviceFunction function = nullptr;
  std::int64_t tile_rows = 1, threads = 32, splits = 1, shared_bytes = 0;
  std::int64_t blocks_max = 0;  // of the grid, where a block takes several tiles; 0 = one each
  bool is_tiled = false;        // the function takes a TiledAttention
};

std::unique_ptr<Prepared> prepare_attention(const OpenedDevice& device, const AttentionProblem& p,
                                            const AttentionPlan& plan);

// Numbers of splits for keys in so many steps, ascending.
std::vector<std::int64_t> splits_for(std::int64_t steps);

// Of so many blocks without splits and so many at once on the device: the fullest waves, and few
// splits where that changes little, for each is written out and read again. `steps` per block that
// are not worth dividing.
std::int64_t default_splits(std::int64_t blocks, std::int64_t at_once, std::int64_t steps,
                            std::int64_t least_steps);

}  // namespace hm_cuda
