#include "attention_problem.hpp"

#include <cmath>

#include "device/attention.hpp"
#include "row_geometry.hpp"
#include "tensor_map.hpp"

namespace hm_cuda {

AttentionProblem::AttentionProblem(plug::Params p)
    : batch(p.extent("batch")),
      heads(p.extent("heads")),
      kv_heads(p.extent("kv_heads")),
      head_dim(p.extent("head_dim")),
      new_tokens(p.extent("new_tokens")),
      context(p.extent("context")),
      causal(p.value_or("causal", 1)),
      window(p.value_or("window", 0)),
      dtype(p.at("q_dtype")) {
  plug::reject_unknown(p, {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context",
                           "causal", "window", "q_dtype", "kv_dtype", "dst_dtype"});
  if (heads % kv_heads != 0) unsupported("heads must be a multiple of kv_heads");
  if (new_tokens > context) unsupported("new_tokens must not exceed context");
  if (window < 0 || (window > 0 && causal == 0)) unsupported("a window needs causal=1");
  if (causal != 0 && causal != 1) unsupported("causal is 0 or 1");
  if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_BF16 && dtype != HM_DTYPE_F16) {
    unsupported("attention takes f32, bf16 and f16, not " + std::string(plug::dtype_name(dtype)));
  }
  if (p.at("kv_dtype") != dtype || p.at("dst_dtype") != dtype) {
    unsupported("q_dtype, kv_dtype and dst_dtype must be the same here");
  }
  constexpr std::int64_t index_max = std::int64_t{1} << 30;
  if (context > index_max || packed_rows() > index_max || batch * heads > index_max) {
    unsupported("more than 2^30 keys, or queries of a key/value head");
  }
}

std::vector<Operand> AttentionProblem::operands() const {
  const std::vector queries{batch, new_tokens, heads, head_dim};
  const std::vector keys{batch, kv_heads, context, head_dim};
  return {{"q", HM_ROLE_INPUT, dtype, queries},
          {"k", HM_ROLE_STATE, dtype, keys},
          {"v", HM_ROLE_STATE, dtype, keys},
          {"dst", HM_ROLE_OUTPUT, dtype, queries}};
}

namespace {

class PreparedAttention : public Prepared {
 public:
  PreparedAttention(const OpenedDevice& device, const AttentionProblem& p,
                    const AttentionPlan& plan) {
    operands = p.operands();
    implementation = plan.implementation + "_splits" + std::to_string(plan.splits);
    const std::int64_t tiles = blocks_of(p.packed_rows(), plan.tile_rows) * p.pairs();
    const std::int64_t blocks = plan.blocks_max > 0 ? std::min(tiles, plan.blocks_max) : tiles;
    if (blocks > grid_x_max) unsupported("more tiles of queries than a grid has blocks");
    launch_.function = plan.function;
    launch_.grid = dim3(as_dim(blocks), as_dim(plan.splits));
    launch_.block = dim3(as_dim(plan.threads));
    launch_.shared_bytes = static_cast<std::size_t>(plan.shared_bytes);
    make_ready(launch_);
    task_.queries = p.batch * p.new_tokens * p.heads;
    task_.batch = static_cast<std::int32_t>(p.batch);
    task_.heads = static_cast<std::int32_t>(p.heads);
    task_.kv_heads = static_cast<std::int32_t>(p.kv_heads);
    task_.head_dim = static_cast<std::int32_t>(p.head_dim);
    task_.new_tokens = static_cast<std::int32_t>(p.new_tokens);
    task_.context = static_cast<std::int32_t>(p.context);
    task_.window = static_cast<std::int32_t>(std::min(p.window, p.context));
    task_.splits = static_cast<std::int32_t>(plan.splits);
    task_.is_causal = p.causal == 1;
    task_.scale_log2 =
        static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(p.head_dim)));
    if (plan.splits > 1) combine_splits(p, plan.splits, device.capability >= 90);
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void* workspace) override {
    AttentionTask task = task_of(buffers);
    task.partial = static_cast<float*>(workspace);
    task.state = task.partial + partial_values_;
    start(stream, launch_, task);
    if (task.splits > 1) start(stream, combine_, task);
  }

 protected:
  AttentionTask task_of(Buffers buffers) const {
    AttentionTask task = task_;
    task.q = address_of(buffers[0]);
    task.k = address_of(buffers[1]);
    task.v = address_of(buffers[2]);
    task.dst = address_of(buffers[3]);
    return task;
  }

  Launch launch_;

 private:
  void combine_splits(const AttentionProblem& p, std::int64_t splits, bool overlaps) {
    partial_values_ = splits * task_.queries * p.head_dim;
    const std::int64_t states = splits * task_.queries * 2;
    workspace_bytes = static_cast<std::uint64_t>(partial_values_ + states) * sizeof(float);
    combine_.function = attention_combine_function(p.dtype);
    combine_.grid = dim3(as_dim(blocks_of(task_.queries, combine_warps)));
    combine_.block = dim3(combine_warps * 32);
    combine_.overlaps_previous = overlaps;
    make_ready(combine_);
    launches = 2;
  }

  Launch combine_;
  AttentionTask task_{};
  std::int64_t partial_values_ = 0;
};

class PreparedTiledAttention : public PreparedAttention {
 public:
  PreparedTiledAttention(const OpenedDevice& device, const AttentionProblem& p,
                         const AttentionPlan& plan)
      : PreparedAttention(device, p, plan), problem_(p) {}

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    start(stream, launch_,
          TiledAttention{task_of(buffers), map_of_keys(problem_, address_of(buffers[1])),
                         map_of_keys(problem_, address_of(buffers[2]))});
  }

 private:
  AttentionProblem problem_;
};

// Splits of the keys, so that all multiprocessors have a block and none waits long for the last.
constexpr std::int64_t split_counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};

}  // namespace

std::unique_ptr<Prepared> prepare_attention(const OpenedDevice& device, const AttentionProblem& p,
                                            const AttentionPlan& plan) {
  if (plan.is_tiled) return std::make_unique<PreparedTiledAttention>(device, p, plan);
  return std::make_unique<PreparedAttention>(device, p, plan);
}

std::vector<std::int64_t> splits_for(std::int64_t steps) {
  std::vector<std::int64_t> counts;
  for (const std::int64_t count : split_counts) {
    if (count == 1 || count <= steps) counts.push_back(count);
  }
  return counts;
}

std::int64_t default_splits(std::int64_t blocks, std::int64_t at_once, std::int64_t steps,
                            std::int64_t least_steps) {
  constexpr double worth = 1.05;
  std::int64_t best = 1;
  double best_share = 0;
  for (const std::int64_t splits : splits_for(steps)) {
    if (splits > 1 && steps / splits < least_steps) break;
    const std::int64_t total = blocks * splits;
    const std::int64_t waves = blocks_of(total, at_once);
    const double share = static_cast<double>(total) / static_cast<double>(waves * at_once);
    if (share > best_share * worth) {
      best = splits;
      best_share = share;
    }
  }
  return best;
}

}  // namespace hm_cuda
