// Names of tensors and keys: src/llama-arch.cpp of llama.cpp, and
// src/models/{llama,qwen2,qwen3}.cpp.
#include "deploy/engine/random_checkpoint.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::deploy {
namespace {

constexpr std::int64_t q8_values = 32;  // of a block
// Both are values of the checkpoint that no operator's time depends on.
constexpr float rope_base = 10000, norm_epsilon = 1e-6F;

std::string architecture_of(const ModelSpec& s) {
  return s.qk_norm ? "qwen3" : s.qkv_bias ? "qwen2" : "llama";
}

// A vocabulary of SentencePiece: three control tokens, a token per byte, then words. The engine
// builds its tables from it; prompts are sent as numbers.
void add_vocabulary(const ModelSpec& s, GgufFile& out) {
  constexpr std::int32_t normal = 1, unknown = 2, control = 3, byte = 6;
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> types = {unknown, control, control};
  const char* const digits = "0123456789ABCDEF";
  for (unsigned b = 0; b < 256; ++b) {
    tokens.push_back(std::string("<0x") + digits[b / 16] + digits[b % 16] + '>');
    types.push_back(byte);
  }
  while (std::ssize(tokens) < s.vocab) {
    tokens.push_back('t' + std::to_string(tokens.size()));
    types.push_back(normal);
  }
  out.facts.emplace_back("tokenizer.ggml.model", std::string("llama"));
  out.facts.emplace_back("tokenizer.ggml.scores", std::vector<float>(tokens.size(), 0.0F));
  out.facts.emplace_back("tokenizer.ggml.tokens", std::move(tokens));
  out.facts.emplace_back("tokenizer.ggml.token_type", std::move(types));
  out.facts.emplace_back("tokenizer.ggml.bos_token_id", std::uint32_t{1});
  out.facts.emplace_back("tokenizer.ggml.eos_token_id", std::uint32_t{2});
}

void add_facts(const ModelSpec& s, std::int64_t longest, GgufFile& out) {
  const std::string architecture = architecture_of(s);
  out.facts.emplace_back("general.architecture", architecture);
  out.facts.emplace_back("general.name", s.id + ", random weights");
  const auto add = [&](const char* key, std::int64_t value) {
    out.facts.emplace_back(architecture + '.' + key, as_uint32(value));
  };
  add("vocab_size", s.vocab);
  add("context_length", std::max(longest, s.max_position.value_or(longest)));
  add("embedding_length", s.hidden);
  add("block_count", s.layers);
  add("feed_forward_length", s.intermediate);
  add("attention.head_count", s.heads);
  add("attention.head_count_kv", s.kv_heads);
  add("attention.key_length", s.head_dim);
  add("attention.value_length", s.head_dim);
  add("rope.dimension_count", s.rotary_dim);
  out.facts.emplace_back(architecture + ".rope.freq_base", rope_base);
  out.facts.emplace_back(architecture + ".attention.layer_norm_rms_epsilon", norm_epsilon);
}

void add_layer(const ModelSpec& s, GgufType type, std::int64_t layer, GgufFile& out) {
  const std::string at = "blk." + std::to_string(layer) + '.';
  const std::int64_t q = s.heads * s.head_dim, kv = s.kv_heads * s.head_dim;
  const auto matrix = [&](const char* name, std::int64_t in, std::int64_t rows) {
    out.tensors.push_back({at + name + ".weight", {in, rows}, type});
  };
  const auto gain = [&](const char* name, std::int64_t width) {
    out.tensors.push_back({at + name + ".weight", {width}, GgufType::f32, true});
  };
  gain("attn_norm", s.hidden);
  matrix("attn_q", s.hidden, q);
  matrix("attn_k", s.hidden, kv);
  matrix("attn_v", s.hidden, kv);
  matrix("attn_output", q, s.hidden);
  if (s.qk_norm) {
    gain("attn_q_norm", s.head_dim);
    gain("attn_k_norm", s.head_dim);
  }
  if (s.qkv_bias) {
    out.tensors.push_back({at + "attn_q.bias", {q}, GgufType::f32});
    out.tensors.push_back({at + "attn_k.bias", {kv}, GgufType::f32});
    out.tensors.push_back({at + "attn_v.bias", {kv}, GgufType::f32});
  }
  gain("ffn_norm", s.hidden);
  matrix("ffn_gate", s.hidden, s.intermediate);
  matrix("ffn_up", s.hidden, s.intermediate);
  matrix("ffn_down", s.intermediate, s.hidden);
}

}  // namespace

std::string unwritten(const ModelSpec& s) {
  if (s.moe) return "experts";
  if (s.latent || s.indexer || s.compressed) return "latent attention";
  if (!s.mixers.empty()) return "mixers beside attention";
  if (std::ranges::any_of(s.windows, [](std::int64_t w) { return w != 0; }))
    return "sliding windows";
  if (!s.ffn_widths.empty()) return "networks of different widths";
  if (s.plain_activation || s.gate != GateKind::silu) return "a network without a SiLU gate";
  if (s.norm != NormKind::rms || !s.pre_norms || s.post_norms || s.is_parallel)
    return "norms in other places or of another kind";
  if (s.qk_norm && (s.qk_norm_of_row || s.qk_norm_of_each_head || !s.qk_norm_has_gain))
    return "another norm of queries and keys";
  if (s.qk_norm && s.qkv_bias) return "norms and biases of queries and keys";
  if (s.o_bias || s.mlp_bias || s.head_bias) return "biases";
  if (s.output_gate || s.has_sinks || s.learned_positions > 0) return "gates, sinks or positions";
  return {};
}

GgufFile random_checkpoint(const ModelSpec& s, GgufType type, std::int64_t longest) {
  if (const std::string what = unwritten(s); !what.empty()) {
    throw refused("random weights of this architecture are not written: it has " + what, s.id,
                  "dense decoders are, as llama, qwen2 and qwen3 are");
  }
  constexpr std::int64_t special_tokens = 3 + 256;
  if (s.vocab <= special_tokens) throw refused("its vocabulary has no words", s.id);
  for (const std::int64_t row : {s.hidden, s.heads * s.head_dim, s.intermediate}) {
    if (type == GgufType::q8_0 && row % q8_values != 0) {
      throw refused("rows of " + std::to_string(row) + " values are no whole blocks of Q8_0", s.id);
    }
  }
  GgufFile out;
  add_facts(s, longest, out);
  add_vocabulary(s, out);
  out.tensors.push_back({"token_embd.weight", {s.hidden, s.vocab}, type});
  for (const std::int64_t layer : below(s.layers)) add_layer(s, type, layer, out);
  out.tensors.push_back({"output_norm.weight", {s.hidden}, GgufType::f32, true});
  if (!s.tied) out.tensors.push_back({"output.weight", {s.hidden, s.vocab}, type});
  return out;
}

}  // namespace halmark::deploy
