// How one layer mixes the tokens of a sequence: attention with its own heads and mask, or a
// recurrence whose state does not grow with the context.
#pragma once

#include <compare>
#include <cstdint>

#include "core/dtype.hpp"

namespace halmark {

enum class Mixer { attention, delta_rule, state_space, selective_scan, convolution, none };

// The mixer of one layer. Sizes beyond `kind` are attention's; a recurrence has the same sizes in
// every layer of a model (DeltaRuleSpec, StateSpaceSpec, SelectiveScanSpec).
struct LayerMixer {
  Mixer kind = Mixer::attention;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;   // of queries and keys
  std::int64_t value_dim = 0;  // of values
  std::int64_t window = 0;     // most recent keys that a query sees; 0 = all
  std::int64_t chunk = 0;      // a query sees the keys of its own chunk of so many; 0 = all
  bool has_rotary = true;
  bool sees_all = false;         // tokens behind a query too; nothing of it is kept
  bool has_norm = true;          // in front of it, where the model has such norms
  std::int64_t chosen = 0;       // keys that a query reads of all that are kept; 0 = all it sees
  bool key_is_value = false;     // one projection is both, before norm and rotation
  bool shares_kv = false;        // keys and values are those that an earlier layer keeps
  std::int64_t outside = 0;      // tokens of another sequence, which it sees instead; 0 = none
  bool has_state_space = false;  // a state space beside attention, on the same norm
  auto operator<=>(const LayerMixer&) const = default;

  // Tokens whose keys and values a sequence of `context` tokens keeps.
  std::int64_t kept_tokens(std::int64_t context) const {
    if (kind != Mixer::attention || shares_kv || sees_all) return 0;
    if (outside > 0) return outside;
    std::int64_t kept = context;
    for (const std::int64_t bound : {window, chunk}) {
      if (bound > 0 && bound < kept) kept = bound;
    }
    return kept;
  }
};

// Gated DeltaNet (2412.06464): a state of key_dim x value_dim per value head. Kimi Delta Attention
// (2510.26692) is one whose states decay per key channel.
struct DeltaRuleSpec {
  std::int64_t key_heads = 0, key_dim = 0;
  std::int64_t value_heads = 0, value_dim = 0;
  std::int64_t kernel = 0;  // width of the short convolution over q, k and v
  Dtype state_dtype = Dtype::f32;
  // KDA: the decay of every key channel and the gate of the output come out of two products each,
  // of this rank. 0 = a decay per head, and the gate beside q, k and v.
  std::int64_t gate_rank = 0;
  bool has_full_gate = false;  // with a rank: the gate of the output is one whole product instead
  std::int64_t key_width() const { return key_heads * key_dim; }
  std::int64_t value_width() const { return value_heads * value_dim; }
};

// Mamba-2 (2405.21060): a state of head_dim x state_dim per head; B and C are shared by the heads
// of a group.
struct StateSpaceSpec {
  std::int64_t heads = 0, head_dim = 0;
  std::int64_t state_dim = 0;
  std::int64_t groups = 0;
  std::int64_t kernel = 0;  // width of the short convolution over x, B and C
  bool has_kernel_bias = false;
  bool has_linear_bias = false;
  bool has_norm = true;  // else the gate alone multiplies the output
  Dtype state_dtype = Dtype::f32;
  std::int64_t width() const { return heads * head_dim; }
  std::int64_t group_width() const { return groups * state_dim; }
};

// The first Mamba (2312.00752): a state of state_dim values per channel; step, B and C come out of
// one narrow product.
struct SelectiveScanSpec {
  std::int64_t channels = 0, state_dim = 0;
  std::int64_t step_rank = 0;  // width of the steps before dt_proj makes one per channel
  std::int64_t kernel = 0;     // width of the short convolution over x
  bool has_kernel_bias = false;
  bool has_linear_bias = false;
  bool has_inner_norms = false;  // of steps, B and C, with weights
  Dtype state_dtype = Dtype::f32;
  std::int64_t narrow_width() const { return step_rank + 2 * state_dim; }
};

// LFM2: a convolution over the last tokens between two gates, all out of one product.
struct ConvolutionSpec {
  std::int64_t kernel = 0;
  bool has_bias = false;  // of the convolution and of both linears
};

}  // namespace halmark
