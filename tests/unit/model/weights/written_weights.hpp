// Headers of checkpoints as their formats are described, written by hand and without any data.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/json/json.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::weights_test {

struct Written {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
};
using Tensors = std::vector<Written>;

template <class T>
std::string little(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

inline std::int64_t bits_of(const std::string& type) {
  if (type == "F4") return 4;
  if (type == "F32" || type == "I32" || type == "U32") return 32;
  return type == "BF16" || type == "F16" ? 16 : 8;
}

// {"x": {"dtype", "shape", "data_offsets"}}, one behind the other.
inline Json safetensors_json(const Tensors& tensors) {
  Json out = Json::object();
  std::int64_t at = 0;
  for (const Written& t : tensors) {
    std::int64_t bits = bits_of(t.type);
    for (const std::int64_t n : t.shape) bits *= n;
    const std::int64_t bytes = (bits + 7) / 8;
    out[t.name] = {{"dtype", t.type}, {"shape", t.shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  return out;
}
inline std::string safetensors_bytes(const Json& header) {
  const std::string text = header.dump();
  return little(std::uint64_t{text.size()}) + text;
}
inline std::string safetensors_bytes(const Tensors& tensors) {
  return safetensors_bytes(safetensors_json(tensors));
}

// A llama as transformers saves it.
inline Tensors llama(std::int64_t layers, std::int64_t hidden, std::int64_t q, std::int64_t kv,
                     std::int64_t ffn, std::int64_t vocab) {
  Tensors out = {{"model.embed_tokens.weight", "BF16", {vocab, hidden}}};
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string at = "model.layers." + std::to_string(i) + '.';
    out.push_back({at + "input_layernorm.weight", "BF16", {hidden}});
    out.push_back({at + "self_attn.q_proj.weight", "BF16", {q, hidden}});
    out.push_back({at + "self_attn.k_proj.weight", "BF16", {kv, hidden}});
    out.push_back({at + "self_attn.v_proj.weight", "BF16", {kv, hidden}});
    out.push_back({at + "self_attn.o_proj.weight", "BF16", {hidden, q}});
    out.push_back({at + "post_attention_layernorm.weight", "BF16", {hidden}});
    out.push_back({at + "mlp.gate_proj.weight", "BF16", {ffn, hidden}});
    out.push_back({at + "mlp.up_proj.weight", "BF16", {ffn, hidden}});
    out.push_back({at + "mlp.down_proj.weight", "BF16", {hidden, ffn}});
  }
  out.push_back({"model.norm.weight", "BF16", {hidden}});
  out.push_back({"lm_head.weight", "BF16", {vocab, hidden}});
  return out;
}

// GGUF of version 3: facts are (key, type, bytes of the value), tensors as GGUF orders dimensions.
struct Fact {
  std::string key;
  std::uint32_t type;
  std::string value;
};
inline std::string gguf_text(const std::string& text) {
  return little(std::uint64_t{text.size()}) + text;
}
struct GgufWritten {
  std::string name;
  std::uint32_t type;
  std::vector<std::uint64_t> shape;  // the contiguous dimension first
  std::uint64_t offset = 0;
};
inline std::string gguf_bytes(const std::vector<Fact>& facts,
                              const std::vector<GgufWritten>& tensors) {
  std::string out = "GGUF" + little(std::uint32_t{3}) + little(std::uint64_t{tensors.size()}) +
                    little(std::uint64_t{facts.size()});
  for (const Fact& f : facts) out += gguf_text(f.key) + little(f.type) + f.value;
  for (const GgufWritten& t : tensors) {
    out += gguf_text(t.name) + little(static_cast<std::uint32_t>(t.shape.size()));
    for (const std::uint64_t n : t.shape) out += little(n);
    out += little(t.type) + little(t.offset);
  }
  return out;
}

// A file of that name in the folder; its path.
inline std::string written(const test::ScratchFolder& folder, const std::string& name,
                           const std::string& bytes) {
  test::write_file(folder / name, bytes);
  return folder / name;
}

}  // namespace halmark::weights_test
