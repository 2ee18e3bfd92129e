// Many query rows: arithmetic is the limit. Keys and values are packed once, for as many KV heads
// at a time as stay in the last-level cache; then tiles of tokens are handed out, longest first.
#include <omp.h>

#include "prepared.hpp"

namespace hm_cpu {
namespace {

class PrefillPrepared : public AttentionPrepared {
 public:
  PrefillPrepared(const AttentionShape& shape, const AttentionParts& parts, const Device& device)
      : AttentionPrepared(shape, parts) {
    // A packed block, queries and sums of one tile share the L2 with the micro-tile's scores.
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
    first_block_ = shape.first_key() / key_block_;
    blocks_ = ceil_div(shape.context, key_block_) - first_block_;
    heads_at_once_ = heads_that_fit(device, heads);
    info.workspace_bytes =
        sizeof(float) * static_cast<std::uint64_t>(heads_at_once_ * blocks_ * block_floats() +
                                                   team_ * floats_per_thread());
  }

  void run(void* const* buffers, void* workspace) override {
    auto* packed = static_cast<float*>(workspace);
    float* own = packed + heads_at_once_ * blocks_ * block_floats();
    const std::int64_t heads = shape_.batch * shape_.kv_heads;
#pragma omp parallel num_threads(team_) if (team_ > 1)
    for (std::int64_t first = 0; first < heads; first += heads_at_once_) {
      const std::int64_t some = std::min(heads_at_once_, heads - first);
#pragma omp for schedule(static)
      for (std::int64_t item = 0; item < some * blocks_; ++item) {
        pack_block(buffers, packed, first, item);
      }
#pragma omp for schedule(dynamic, 1)
      for (std::int64_t item = 0; item < some * tiles_; ++item) {
        run_tile(buffers, own + omp_get_thread_num() * floats_per_thread(), packed, first,
                 item % some, tiles_ - 1 - item / some);
      }
    }
  }

 private:
  std::int64_t rows_max() const { return padded_rows(tile_tokens_ * shape_.group()); }
  std::int64_t block_floats() const { return parts_.block_floats(shape_.head_dim, key_block_); }

  // Half of the cache for what is packed, but tiles for every thread.
  std::int64_t heads_that_fit(const Device& device, std::int64_t heads) const {
    const std::int64_t bytes = blocks_ * block_floats() * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t least = ceil_div(4 * team_, tiles_);
    return std::min(heads, std::max(device.last_level_bytes / 2 / bytes, least));
  }

  std::int64_t floats_per_thread() const {
    const std::int64_t floats = aligned_floats(rows_max() * padded_width(shape_.head_dim)) +
                                state_floats(rows_max(), shape_.head_dim) +
                                aligned_floats(tile_scratch_floats(key_block_));
    return ceil_div(floats, 1024) * 1024;
  }

  AttentionTask head_task(void* const* buffers, std::int64_t head, std::int64_t first,
                          std::int64_t count) const {
    AttentionTask task =
        task_for(buffers, head / shape_.kv_heads, head % shape_.kv_heads, first, count);
    task.key_block = key_block_;
    task.packed_from = first_block_ * key_block_;
    return task;
  }

  // Blocks of one head lie behind each other.
  void pack_block(void* const* buffers, float* packed, std::int64_t first_head,
                  std::int64_t item) const {
    const AttentionTask task =
        head_task(buffers, first_head + item / blocks_, 0, shape_.new_tokens);
    const std::int64_t first = task.packed_from + item % blocks_ * key_block_;
    parts_.pack(task, first, std::min(key_block_, shape_.context - first),
                packed + item * block_floats());
  }

  void run_tile(void* const* buffers, float* own, const float* packed, std::int64_t first_head,
                std::int64_t head, std::int64_t tile) const {
    Carver carver(own);
    float* queries = carver.take(rows_max() * padded_width(shape_.head_dim));
    const AttentionState state = carver.take_state(rows_max(), shape_.head_dim);
    float* scratch = carver.take(tile_scratch_floats(key_block_));
    const std::int64_t first = tile * tile_tokens_;
    const std::int64_t count = std::min(tile_tokens_, shape_.new_tokens - first);
    AttentionTask task = head_task(buffers, first_head + head, first, count);
    task.packed = packed + head * blocks_ * block_floats();
    parts_.load_queries(task, queries);
    parts_.reset(task, state);
    parts_.tile(task, queries, state, first_key(task, 0), last_key(task, count - 1), scratch);
    parts_.store(task, state);
  }

  std::int64_t key_block_ = 0;
  std::int64_t tile_tokens_ = 0;
  std::int64_t tiles_ = 0;
  std::int64_t first_block_ = 0;  // of key_block_ keys; those before are seen by no query
  std::int64_t blocks_ = 0;       // per KV head
  std::int64_t heads_at_once_ = 0;
};

}  // namespace

std::unique_ptr<Prepared> prepare_prefill(const AttentionShape& shape, const AttentionParts& parts,
                                          const Device& device) {
  return std::make_unique<PrefillPrepared>(shape, parts, device);
}

}  // namespace hm_cpu
