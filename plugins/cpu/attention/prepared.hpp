// What streaming and tiling share: the problem, and pieces of the workspace.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernel.hpp"
#include "task.hpp"

namespace hm_cpu {

struct AttentionShape {
  std::int64_t batch, heads, kv_heads, head_dim, new_tokens, context, window;
  bool causal;
  std::int32_t q_dtype, kv_dtype, dst_dtype;

  explicit AttentionShape(const Params& p)
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

constexpr std::int64_t aligned_floats(std::int64_t floats) { return (floats + 15) / 16 * 16; }

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

inline std::int64_t state_floats(std::int64_t rows, std::int64_t head_dim) {
  return aligned_floats(rows * padded_width(head_dim)) + 2 * aligned_floats(rows);
}

class AttentionPrepared : public Prepared {
 public:
  AttentionPrepared(const AttentionShape& shape, const AttentionParts& parts)
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

  const AttentionShape shape_;
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

// Few query rows, and many.
std::unique_ptr<Prepared> prepare_decode(const AttentionShape& shape, const AttentionParts& parts,
                                         int team);
std::unique_ptr<Prepared> prepare_prefill(const AttentionShape& shape, const AttentionParts& parts,
                                          const Device& device);

}  // namespace hm_cpu
