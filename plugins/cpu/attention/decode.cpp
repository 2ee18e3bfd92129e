// Few query rows: memory is the limit. All key blocks of all KV heads form one line that is cut
// into equal parts, one per thread; a KV head cut by a boundary is joined from partial states.
#include <omp.h>

#include "prepared.hpp"

namespace hm_cpu {
namespace {

class DecodePrepared : public AttentionPrepared {
 public:
  DecodePrepared(const AttentionShape& shape, const AttentionParts& parts, int team)
      : AttentionPrepared(shape, parts) {
    items_ = shape.batch * shape.kv_heads;
    first_key_ = shape.first_key();
    blocks_ = ceil_div(shape.context - first_key_, stream_keys);
    const std::int64_t bytes =
        2 * items_ * (shape.context - first_key_) * shape.head_dim * element_bytes(shape.kv_dtype);
    // Below this share waking a thread costs more than its part of the memory traffic.
    constexpr std::int64_t bytes_per_thread_min = 32 << 10;
    team_ = static_cast<int>(std::clamp<std::int64_t>(bytes / bytes_per_thread_min, 1, team));
    info.workspace_bytes = static_cast<std::uint64_t>(team_ * floats_per_thread()) * sizeof(float);
  }

  void run(void* const* buffers, void* workspace) override {
    auto* base = static_cast<float*>(workspace);
    if (team_ == 1) {
      run_part(buffers, base, 0, 1);
      return;
    }
#pragma omp parallel num_threads(team_)
    {
      const int team = omp_get_num_threads();
      run_part(buffers, base, omp_get_thread_num(), team);
#pragma omp barrier
      join_part(buffers, base, omp_get_thread_num(), team);
    }
  }

 private:
  struct Slice {
    float* queries;
    AttentionState own;   // of a KV head that this thread handles alone
    AttentionState head;  // of one that begins in an earlier thread
    AttentionState tail;  // of one that begins here and goes on in the next
    float* scratch;
  };

  std::int64_t floats_per_thread() const {
    // A page of its own per thread keeps neighbours out of each other's lines and prefetches.
    const std::int64_t floats = aligned_floats(shape_.rows() * padded_width(shape_.head_dim)) +
                                3 * state_floats(shape_.rows(), shape_.head_dim) +
                                aligned_floats(stream_scratch_floats(shape_.head_dim));
    return ceil_div(floats, 1024) * 1024;
  }

  Slice slice(float* base, int thread) const {
    Carver carver(base + thread * floats_per_thread());
    Slice result;
    result.queries = carver.take(shape_.rows() * padded_width(shape_.head_dim));
    result.own = carver.take_state(shape_.rows(), shape_.head_dim);
    result.head = carver.take_state(shape_.rows(), shape_.head_dim);
    result.tail = carver.take_state(shape_.rows(), shape_.head_dim);
    result.scratch = carver.take(stream_scratch_floats(shape_.head_dim));
    return result;
  }

  std::int64_t part_begin(std::int64_t thread, std::int64_t team) const {
    return items_ * blocks_ * thread / team;
  }

  AttentionTask item_task(void* const* buffers, std::int64_t item) const {
    return task_for(buffers, item / shape_.kv_heads, item % shape_.kv_heads, 0, shape_.new_tokens);
  }

  void run_part(void* const* buffers, float* base, int thread, int team) const {
    const Slice mine = slice(base, thread);
    const std::int64_t end = part_begin(thread + 1, team);
    for (std::int64_t block = part_begin(thread, team); block < end;) {
      const std::int64_t item = block / blocks_;
      const std::int64_t stop = std::min(end, (item + 1) * blocks_);
      const bool from_start = block == item * blocks_;
      const bool to_end = stop == (item + 1) * blocks_;
      const AttentionState& state = !from_start ? mine.head : to_end ? mine.own : mine.tail;
      const AttentionTask task = item_task(buffers, item);
      parts_.load_queries(task, mine.queries);
      parts_.reset(task, state);
      const std::int64_t first = first_key_ + (block - item * blocks_) * stream_keys;
      const std::int64_t last = first_key_ + (stop - item * blocks_) * stream_keys;
      parts_.stream(task, mine.queries, state, first, std::min(last, shape_.context), mine.scratch);
      if (from_start && to_end) parts_.store(task, state);
      block = stop;
    }
  }

  // The thread in which a cut KV head begins joins the pieces of the threads after it.
  void join_part(void* const* buffers, float* base, int thread, int team) const {
    const std::int64_t begin = part_begin(thread, team);
    const std::int64_t end = part_begin(thread + 1, team);
    if (begin == end || end % blocks_ == 0) return;
    const std::int64_t item = end / blocks_;
    if (item * blocks_ < begin) return;  // began earlier
    const AttentionTask task = item_task(buffers, item);
    const AttentionState into = slice(base, thread).tail;
    const std::int64_t stop = (item + 1) * blocks_;
    for (int other = thread + 1; other < team && part_begin(other, team) < stop; ++other) {
      if (part_begin(other, team) == part_begin(other + 1, team)) continue;
      parts_.merge(task, into, slice(base, other).head);
    }
    parts_.store(task, into);
  }

  std::int64_t items_ = 0;
  std::int64_t first_key_ = 0;
  std::int64_t blocks_ = 0;  // per KV head
};

}  // namespace

std::unique_ptr<Prepared> prepare_decode(const AttentionShape& shape, const AttentionParts& parts,
                                         int team) {
  return std::make_unique<DecodePrepared>(shape, parts, team);
}

}  // namespace hm_cpu
