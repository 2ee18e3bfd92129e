// A whole decoder layer as OpenVINO IR: what the runtime's own benchmark app loads. Shares nothing
// with the writer of plugins/openvino, so that each can show an error of the other.
#pragma once

#include <cstdint>
#include <string>

#include "core/dtype.hpp"

namespace halmark::exports {

// One dense layer with norms in front of attention and of a network with a SiLU gate (llama, qwen2,
// qwen3), of one step. Widths in values.
struct DecoderLayer {
  std::string name;
  std::int64_t hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0;
  bool qk_norm = false;  // a norm with gains per head of queries and keys
  bool qkv_bias = false;
  Dtype weights = Dtype::f32;  // as stored: f32 or bf16; the graph converts them to f32, and the
                               // runtime computes in what it is asked for
  std::int64_t batch = 1;
  std::int64_t new_tokens = 1;
  std::int64_t context = 1;  // keys that the last token sees, its own among them
};

struct LayerIr {
  std::string xml;
  std::int64_t weight_bytes = 0;  // of the file beside it
};

// Inputs: hidden[batch, new_tokens, hidden], cos and sin[new_tokens, head_dim / 2], and where
// context > new_tokens k_cache and v_cache[batch, kv_heads, context - new_tokens, head_dim].
// Results: hidden, and the keys and values of the new tokens.
LayerIr decoder_layer_ir(const DecoderLayer& layer);

// PATH.xml and PATH.bin; weights are drawn from a fixed seed, small enough that no sum overflows.
// Throws Error (exit 1) naming the file.
void write_layer_ir(const DecoderLayer& layer, const std::string& path);

}  // namespace halmark::exports
