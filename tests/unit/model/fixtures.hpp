// Small deployments that the tests of this room share.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/device.hpp"
#include "model/graph/graph.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/says.hpp"

namespace halmark::model_test {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

inline const std::filesystem::path& model_dir() {
  static const std::filesystem::path dir =
      std::filesystem::path(test::in_source()) / "configs/models";
  return dir;
}

inline std::vector<std::string> shipped_ids() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(model_dir())) {
    if (entry.path().extension() == ".json") out.push_back(entry.path().stem().string());
  }
  std::ranges::sort(out);
  return out;
}
inline std::string test_name(std::string id) {
  for (char& c : id) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return id;
}

inline ModelSpec shipped(std::string_view id) { return load_model(id, {model_dir()}); }

// A decoder small enough to compute by hand: 4 layers, H 8, 4 heads and 2 KV heads of width 4,
// FFN 16, vocabulary 32.
inline constexpr std::string_view tiny_json = R"({"model_type": "llama", "num_hidden_layers": 4,
  "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4,
  "intermediate_size": 16, "vocab_size": 32, "tie_word_embeddings": false,
  "max_position_embeddings": 128})";
inline ModelSpec tiny() { return read_model(tiny_json, "tiny.json"); }

// The same with 8 experts of width 16 in every layer, of which a token takes 2.
inline constexpr std::string_view tiny_moe_json = R"({"model_type": "qwen3_moe",
  "num_hidden_layers": 4, "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2,
  "head_dim": 4, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
  "norm_topk_prob": true, "vocab_size": 32, "tie_word_embeddings": false,
  "max_position_embeddings": 128})";
inline ModelSpec tiny_moe() { return read_model(tiny_moe_json, "tiny_moe.json"); }

inline Precision bf16() { return Precision::uniform("bf16", Dtype::bf16); }
inline Precision f32() { return {"f32"}; }
// `linear` for all linears but the head, bf16 around them.
inline Precision narrow(std::string name, Dtype linear) {
  Precision out = Precision::uniform(std::move(name), Dtype::bf16);
  out.set_linears(linear);
  return out;
}
inline Precision int8() {
  Precision out = narrow("int8", Dtype::s8);
  out.head = Dtype::s8;
  return out;
}
// f8 linears on bf16 activations; head, attention and cache in bf16.
inline Precision fp8() { return narrow("fp8", Dtype::f8_e4m3fn); }

// All that the model may be stated in, packed weights where its checkpoint has them.
inline std::vector<Precision> precisions(const ModelSpec& spec) {
  std::vector<Precision> out = {bf16(), f32(), int8(), fp8()};
  if (!spec.quantization) return out;
  Precision packed = bf16();
  packed.name = "packed";
  for (const KernelKind kind : spec.quantization->kinds) {
    packed.set(kind, spec.quantization->weights);
  }
  out.push_back(packed);
  return out;
}

// Lengths at which some size of the model changes its form.
inline std::vector<std::int64_t> length_limits(const ModelSpec& spec) {
  std::vector<std::int64_t> out = {4, 128, 2048};
  out.insert(out.end(), spec.windows.begin(), spec.windows.end());
  for (const LayerMixer& mixer : spec.mixers) {
    out.push_back(mixer.window);
    out.push_back(mixer.chunk);
  }
  std::ranges::sort(out);
  const auto rest = std::ranges::unique(out);
  out.erase(rest.begin(), rest.end());
  std::erase(out, 0);
  return out;
}

inline Configuration decode(std::int64_t batch, std::int64_t context, Parallel parallel = {},
                            Precision precision = bf16()) {
  return {"m", parallel, precision, {Phase::decode, batch, 1, context}};
}
inline Configuration prefill(std::int64_t batch, std::int64_t new_tokens, std::int64_t context,
                             Parallel parallel = {}, Precision precision = bf16()) {
  return {"m", parallel, precision, {Phase::prefill, batch, new_tokens, context}};
}

inline Configuration training(std::int64_t batch, std::int64_t tokens, Parallel parallel = {},
                              std::int64_t micro_batch = 0) {
  Configuration out = prefill(batch, tokens, tokens, parallel);
  out.workload.phase = Phase::training;
  out.workload.micro_batch = micro_batch;
  return out;
}

// "reason: text"; "" where there is none.
inline std::string text_of(const Refusal* refusal) {
  return refusal != nullptr ? refusal->reason + ": " + refusal->text : "";
}
inline std::string refusal_of(const ModelSpec& spec, const Configuration& configuration) {
  const auto found = check_configuration(spec, configuration);
  return text_of(found ? &*found : nullptr);
}

// Throws when the deployment is refused: the test then fails with the reason.
template <class... Form>
OperatorGraph graph_of(const ModelSpec& spec, const Configuration& configuration, Form... form) {
  auto built = build_graph(spec, configuration, form...);
  if (built.why() != nullptr) throw std::runtime_error(text_of(built.why()));
  return *std::move(built);
}
template <class... Form>
OperatorGraph graph_of(std::string_view id, const Configuration& configuration, Form... form) {
  return graph_of(shipped(id), configuration, form...);
}

// Of one operator, or of all of that name.
inline double matmul_flops(const OperatorGraph& graph, std::string_view name) {
  double out = 0;
  for (const Operator& op : graph.operators) out += op.name == name ? op.matmul_flops : 0;
  return out;
}

inline const Operator& operator_of(const OperatorGraph& graph, std::string_view type,
                                   std::string_view name) {
  for (const Operator& op : graph.operators) {
    if (op.name == name && op.layer_type == type) return op;
  }
  throw std::runtime_error("no operator " + std::string(name) + " in " + std::string(type));
}

inline std::vector<std::string> names_of(const OperatorGraph& graph, std::string_view type) {
  std::vector<std::string> out;
  for (const Operator& op : graph.operators) {
    if (op.layer_type == type) out.push_back(op.name);
  }
  return out;
}

// A peak of bf16 and a memory.
inline Device device_of(double flops_per_s, double bytes_per_s) {
  Device out{.id = "d"};
  out.peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = flops_per_s}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = bytes_per_s}};
  return out;
}

inline const Operator& find_operator(const OperatorGraph& graph, std::string_view name) {
  for (const Operator& op : graph.operators) {
    if (op.name == name) return op;
  }
  throw std::runtime_error("no operator " + std::string(name));
}

inline bool has_operator(const OperatorGraph& graph, std::string_view name) {
  for (const Operator& op : graph.operators) {
    if (op.name == name) return true;
  }
  return false;
}

}  // namespace halmark::model_test
