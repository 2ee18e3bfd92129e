// A dense decoder as files of random weights have it, and a folder with a program that tests wrote.
#pragma once

#include <filesystem>
#include <string>

#include "model/spec/model_spec.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::test {

// Two layers: hidden 64, 4 heads of 32 over 2 KV heads, FFN 96, 300 tokens.
inline ModelSpec small_model() {
  return read_model(R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"],
 "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
 "head_dim": 32, "intermediate_size": 96, "vocab_size": 300, "max_position_embeddings": 512,
 "rms_norm_eps": 1e-6, "rope_theta": 10000, "hidden_act": "silu", "tie_word_embeddings": true})",
                    "small.json");
}

inline void write_program(const std::string& path, const std::string& text) {
  write_file(path, text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace halmark::test
