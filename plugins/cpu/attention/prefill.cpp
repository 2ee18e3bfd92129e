// Many query rows: arithmetic is the limit. Tiles of tokens are handed out, longest first.
#include <omp.h>

#include "prepared.hpp"

namespace hm_cpu {
namespace {

class PrefillPrepared : public AttentionPrepared {
 public:
  PrefillPrepared(const AttentionShape& shape, const AttentionParts& parts, const Device& device)
      : AttentionPrepared(shape, parts) {
    // Panels of K and V, queries and sums of one tile share the L2 with the micro-tile's scores.
    key_block_ = device.l2_bytes >= (512 << 10) ? 128 : 64;
    const std::int64_t rows = device.l2_bytes >= (512 << 10) ? 192 : 96;
    tile_tokens_ = std::clamp<std::int64_t>(rows / shape.group(), 1, shape.new_tokens);
    const std::int64_t heads = shape.batch * shape.kv_heads;
    // Enough tiles to even out the team, but not below two micro-tiles of rows.
    const std::int64_t wanted = ceil_div(4 * device.threads, heads);
    const std::int64_t smallest = std::min(ceil_div(24, shape.group()), shape.new_tokens);
    tile_tokens_ = std::max(std::min(tile_tokens_, ceil_div(shape.new_tokens, wanted)), smallest);
    tiles_ = ceil_div(shape.new_tokens, tile_tokens_);
    const double flops = 4.0 * static_cast<double>(shape.batch * shape.heads * shape.new_tokens) *
                         static_cast<double>(shape.context * shape.head_dim);
    constexpr double flops_per_thread_min = 5e5;
    team_ = static_cast<int>(
        std::clamp(flops / flops_per_thread_min, 1.0, static_cast<double>(device.threads)));
    info.workspace_bytes = static_cast<std::uint64_t>(team_ * floats_per_thread()) * sizeof(float);
  }

  void run(void* const* buffers, void* workspace) override {
    auto* base = static_cast<float*>(workspace);
    const std::int64_t heads = shape_.batch * shape_.kv_heads;
    const std::int64_t items = heads * tiles_;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team_) if (team_ > 1)
    for (std::int64_t item = 0; item < items; ++item) {
      run_tile(buffers, base + omp_get_thread_num() * floats_per_thread(), item % heads,
               tiles_ - 1 - item / heads);
    }
  }

 private:
  std::int64_t rows_max() const { return tile_tokens_ * shape_.group(); }

  std::int64_t floats_per_thread() const {
    const std::int64_t floats = aligned_floats(rows_max() * padded_width(shape_.head_dim)) +
                                state_floats(rows_max(), shape_.head_dim) +
                                aligned_floats(tile_scratch_floats(shape_.head_dim, key_block_));
    return ceil_div(floats, 1024) * 1024;
  }

  void run_tile(void* const* buffers, float* base, std::int64_t head, std::int64_t tile) const {
    Carver carver(base);
    float* queries = carver.take(rows_max() * padded_width(shape_.head_dim));
    const AttentionState state = carver.take_state(rows_max(), shape_.head_dim);
    float* scratch = carver.take(tile_scratch_floats(shape_.head_dim, key_block_));
    const std::int64_t first = tile * tile_tokens_;
    const std::int64_t count = std::min(tile_tokens_, shape_.new_tokens - first);
    AttentionTask task =
        task_for(buffers, head / shape_.kv_heads, head % shape_.kv_heads, first, count);
    task.key_block = key_block_;
    parts_.load_queries(task, queries);
    parts_.reset(task, state);
    parts_.tile(task, queries, state, first_key(task, 0), last_key(task, count - 1), scratch);
    parts_.store(task, state);
  }

  std::int64_t key_block_ = 0;
  std::int64_t tile_tokens_ = 0;
  std::int64_t tiles_ = 0;
};

}  // namespace

std::unique_ptr<Prepared> prepare_prefill(const AttentionShape& shape, const AttentionParts& parts,
                                          const Device& device) {
  return std::make_unique<PrefillPrepared>(shape, parts, device);
}

}  // namespace hm_cpu
