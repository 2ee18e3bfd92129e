// Configurations of the shapes that published training rows print.
#pragma once

#include "core/json/json.hpp"

namespace halmark::published {

// GPT of 2104.04473 and 2205.05198; MPT with learned positions; gated decoders; plain ones with
// heads of any width.
inline Json gpt_config(const Json& row) {
  return {{"model_type", "gpt2"},          {"n_layer", row.at("n_layers")},
          {"n_embd", row.at("d_model")},   {"n_head", row.at("n_heads")},
          {"vocab_size", row.at("vocab")}, {"n_positions", row.at("seq")}};
}

inline Json mpt_config(const Json& row) {
  return {{"model_type", "mpt"},           {"n_layers", row.at("n_layers")},
          {"d_model", row.at("d_model")},  {"n_heads", row.at("n_heads")},
          {"vocab_size", row.at("vocab")}, {"max_seq_len", row.at("seq")},
          {"expansion_ratio", 4},          {"no_bias", false},
          {"learned_pos_emb", true},       {"attn_config", {{"alibi", false}}}};
}

inline Json decoder_config(const Json& row, const char* type) {
  Json out = {
      {"model_type", type},
      {"num_hidden_layers", row.at("n_layers")},
      {"hidden_size", row.at("d_model")},
      {"num_attention_heads", row.at("n_heads")},
      {"num_key_value_heads", row.value("n_kv_heads", row.at("n_heads").get<std::int64_t>())},
      {"intermediate_size", row.at("d_ff")},
      {"vocab_size", row.at("vocab")},
      {"tie_word_embeddings", false},
      {"max_position_embeddings", row.at("seq")}};
  if (row.contains("head_dim")) out["head_dim"] = row.at("head_dim");
  return out;
}

// 24 heads of 128, as table 2.1 has them, would be wider than the model: 1.51 G parameters, not the
// 1.32 G of the table.
inline Json gpt_3_xl() {
  return {{"model_type", "gpt2"}, {"n_layer", 24},       {"n_embd", 2048},
          {"n_head", 16},         {"vocab_size", 50257}, {"n_positions", 2048}};
}

}  // namespace halmark::published
