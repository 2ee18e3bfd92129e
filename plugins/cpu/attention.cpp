// The attention kernel: splits the work over the team and joins the pieces. What one thread does
// with its piece is in attention_simd.hpp, once per instruction set.
#include <omp.h>

#include <algorithm>
#include <cstddef>

#include "kernel.hpp"
#include "simd/attention_task.hpp"

namespace hm_cpu {
namespace {

struct Shape {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, window;
  bool causal;
  std::int32_t q_dtype, kv_dtype, dst_dtype;

  explicit Shape(const Params& p)
      : batch(p.extent("batch")),
        heads(p.extent("heads")),
        kv_heads(p.extent("kv_heads")),
        head_dim(p.extent("head_dim")),
        new_tokens(p.extent("new_tokens")),
        context(p.extent("context")),
        window(p.value_or("window", 0)),
        causal(p.value_or("causal", 1) != 0),
        q_dtype(p.dtype("q_dtype")),
        kv_dtype(p.dtype("kv_dtype")),
        dst_dtype(p.dtype("dst_dtype")) {}

  std::int64_t group() const { return heads / kv_heads; }
  std::int64_t rows() const { return new_tokens * group(); }  // per KV head
  std::int64_t first_key() const {
    return window > 0 ? std::max<std::int64_t>(0, context - new_tokens + 1 - window) : 0;
  }
};

bool is_float(std::int32_t dtype) { return dtype == HM_DTYPE_F32 || dtype == HM_DTYPE_BF16; }

Isa usable(Isa best) { return std::min(best, Isa::avx512); }

// Labels of the domain `impl`; a domain's value is the position of its label.
std::string_view label_of(Isa isa) {
  return isa >= Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "generic";
}

const AttentionParts& parts_for(Isa isa) {
#if defined(__x86_64__)
  if (isa >= Isa::avx512) return attention_parts_avx512();
  if (isa == Isa::avx2) return attention_parts_avx2();
#endif
  static_cast<void>(isa);
  return attention_parts_generic();
}

constexpr std::int64_t aligned_floats(std::int64_t floats) { return (floats + 15) / 16 * 16; }

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Cuts state and scratch matrices out of a workspace.
class Carver {
 public:
  explicit Carver(float* begin) : next_(begin) {}
  float* take(std::int64_t floats) {
    float* result = next_;
    next_ += aligned_floats(floats);
    return result;
  }
  AttentionState take_state(std::int64_t rows, std::int64_t head_dim) {
    AttentionState state;
    state.accumulated = take(rows * padded_width(head_dim));
    state.row_max = take(rows);
    state.row_sum = take(rows);
    return state;
  }
  std::int64_t taken(const float* begin) const { return next_ - begin; }

 private:
  float* next_;
};

std::int64_t state_floats(std::int64_t rows, std::int64_t head_dim) {
  return aligned_floats(rows * padded_width(head_dim)) + 2 * aligned_floats(rows);
}

class AttentionPrepared : public Prepared {
 public:
  AttentionPrepared(const Shape& shape, const AttentionParts& parts)
      : shape_(shape), parts_(parts) {
    operands = {
        {.name = "q", .role = HM_ROLE_INPUT, .dtype = shape.q_dtype, .dims = query_dims()},
        {.name = "k", .role = HM_ROLE_STATE, .dtype = shape.kv_dtype, .dims = key_dims()},
        {.name = "v", .role = HM_ROLE_STATE, .dtype = shape.kv_dtype, .dims = key_dims()},
        {.name = "dst", .role = HM_ROLE_OUTPUT, .dtype = shape.dst_dtype, .dims = query_dims()}};
  }

 protected:
  // Tokens [first, first + count) of KV head `head` of sequence `batch`.
  AttentionTask task_for(void* const* buffers, std::int64_t batch, std::int64_t head,
                         std::int64_t first, std::int64_t count) const {
    AttentionTask task;
    task.tokens = count;
    task.group = shape_.group();
    task.head_dim = shape_.head_dim;
    task.token_stride = shape_.heads * shape_.head_dim;
    task.first_position = shape_.context - shape_.new_tokens + first;
    task.context = shape_.context;
    task.window = shape_.window;
    task.causal = shape_.causal;
    task.q_dtype = shape_.q_dtype;
    task.kv_dtype = shape_.kv_dtype;
    task.dst_dtype = shape_.dst_dtype;
    const std::int64_t row =
        (batch * shape_.new_tokens + first) * shape_.heads + head * shape_.group();
    const std::int64_t key = (batch * shape_.kv_heads + head) * shape_.context;
    const auto at = [&](std::size_t operand, std::int64_t element) {
      return static_cast<std::byte*>(buffers[operand]) +
             element * element_bytes(operands[operand].dtype);
    };
    task.q = at(0, row * shape_.head_dim);
    task.k = at(1, key * shape_.head_dim);
    task.v = at(2, key * shape_.head_dim);
    task.dst = at(3, row * shape_.head_dim);
    return task;
  }

  const Shape shape_;
  const AttentionParts& parts_;
  int team_ = 1;  // as many of the device's threads as the problem keeps busy

 private:
  std::vector<std::int64_t> query_dims() const {
    return {shape_.batch, shape_.new_tokens, shape_.heads, shape_.head_dim};
  }
  std::vector<std::int64_t> key_dims() const {
    return {shape_.batch, shape_.kv_heads, shape_.context, shape_.head_dim};
  }
};

// Few query rows: memory is the limit. All key blocks of all KV heads form one line that is cut
// into equal parts, one per thread; a KV head cut by a boundary is joined from partial states.
class DecodePrepared : public AttentionPrepared {
 public:
  DecodePrepared(const Shape& shape, const AttentionParts& parts, int team)
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

// Many query rows: arithmetic is the limit. Tiles of tokens are handed out, longest first.
class PrefillPrepared : public AttentionPrepared {
 public:
  PrefillPrepared(const Shape& shape, const AttentionParts& parts, const Device& device)
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

class AttentionKernel : public Kernel {
 public:
  std::string_view name() const override { return "flash_attention"; }
  std::string_view op() const override { return "attention"; }

  std::vector<Domain> domains(const Device& device, const Params&) const override {
    std::vector<std::string> labels;  // value i is Isa i
    for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512}) {
      if (isa <= device.isa) labels.emplace_back(label_of(isa));
    }
    return {domain::categorical("impl", std::move(labels),
                                static_cast<std::int64_t>(usable(device.isa)))};
  }

  void require_support(const Device&, const Params& problem, const Params& config) const override {
    reject_unknown(problem, {"batch", "heads", "kv_heads", "head_dim", "new_tokens", "context",
                             "causal", "window", "q_dtype", "kv_dtype", "dst_dtype"});
    reject_unknown(config, {"impl"});
    const Shape shape(problem);
    if (shape.heads % shape.kv_heads != 0) unsupported("heads must be a multiple of kv_heads");
    if (shape.new_tokens > shape.context) unsupported("new_tokens must not exceed context");
    if (shape.window < 0) unsupported("window must not be negative");
    for (const std::int32_t dtype : {shape.q_dtype, shape.kv_dtype, shape.dst_dtype}) {
      if (!is_float(dtype)) {
        unsupported("attention takes f32 and bf16, not " + std::string(dtype_name(dtype)));
      }
    }
  }

  std::unique_ptr<Prepared> prepare(const Device& device, const Params& problem,
                                    const Params& config, Comm*) const override {
    const Shape shape(problem);
    const Isa isa =
        static_cast<Isa>(config.value_or("impl", static_cast<std::int64_t>(usable(device.isa))));
    std::unique_ptr<Prepared> prepared;
    std::string path;
    if (shape.rows() <= stream_rows_max) {
      prepared = std::make_unique<DecodePrepared>(shape, parts_for(isa), device.threads);
      path = "halmark:flash_decode:";
    } else {
      prepared = std::make_unique<PrefillPrepared>(shape, parts_for(isa), device);
      path = "halmark:flash_prefill:";
    }
    prepared->info.implementation = path + std::string(label_of(isa));
    prepared->info.isa = isa_key(isa);
    return prepared;
  }
};

}  // namespace

const Kernel& attention_kernel() {
  static const AttentionKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
