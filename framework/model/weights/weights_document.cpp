#include "model/weights/weights_document.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/weights/checkpoint.hpp"

namespace halmark {

namespace {

Json format_json(const std::optional<Quantization>& format) {
  if (!format) return nullptr;
  return {{"method", format->method},         {"weights", dtype_name(format->weights)},
          {"block", format->block},           {"block_rows", format->block_rows},
          {"scale_bits", format->scale_bits}, {"matrix_scale_bytes", format->matrix_scale_bytes}};
}

Json matrix_json(const StoredMatrix& matrix) {
  return {{"name", matrix.name},       {"kind", kernel_kind_name(matrix.kind)},
          {"rows", matrix.rows},       {"columns", matrix.columns},
          {"experts", matrix.experts}, {"format", format_json(matrix.format)}};
}

// Layers that are stored alike are one kind; of a file whose every layer is made up there are many.
Json kinds_json(const Checkpoint& checkpoint, const std::string& place, Json& of_layer) {
  constexpr std::size_t matrices_max = 8192;
  std::size_t listed = 0;
  std::map<std::string, std::size_t> kinds;
  Json out = Json::array();
  for (const StoredLayer& layer : checkpoint.layers) {
    Json matrices = json_list(layer.matrices, matrix_json);
    Json kind = {{"matrices", std::move(matrices)}, {"vector_values", layer.vector_values}};
    const auto [it, is_new] = kinds.try_emplace(dump_json(kind), kinds.size());
    of_layer.push_back(it->second);
    if (!is_new) continue;
    listed += layer.matrices.size();
    if (listed > matrices_max) {
      throw refused("has more than " + std::to_string(matrices_max) +
                        " matrices in layers of different kinds",
                    place, "name a configuration that is read");
    }
    out.push_back(std::move(kind));
  }
  return out;
}

// A size of the configuration, whatever tower it is nested in and whatever it is called.
std::int64_t stated_size(const Json& config, std::initializer_list<const char*> names) {
  if (!config.is_object()) return 0;
  for (const char* name : names) {
    const auto it = config.find(name);
    if (it != config.end() && it->is_number_integer() && *it > 0) return it->get<std::int64_t>();
  }
  for (const char* tower : {"text_config", "llm_config", "language_config", "thinker_config"}) {
    const auto it = config.find(tower);
    if (it == config.end()) continue;
    if (const std::int64_t found = stated_size(*it, names); found > 0) return found;
  }
  return 0;
}

// "qwen3.attention.head_count" of GGUF; of a list per layer the largest.
std::int64_t fact_of(const WeightsHeader& header, const char* key) {
  const auto architecture = header.texts.find("general.architecture");
  if (architecture == header.texts.end()) return 0;
  const auto it = header.numbers.find(architecture->second + '.' + key);
  if (it == header.numbers.end() || it->second.empty()) return 0;
  return std::max<std::int64_t>(0, *std::ranges::max_element(it->second));
}

}  // namespace

Json weights_document(const WeightsHeader& header, const Json& config, const std::string& why) {
  const Checkpoint checkpoint = checkpoint_of(header);
  Json of_layer = Json::array();
  Json kinds = kinds_json(checkpoint, header.place, of_layer);
  const auto size = [&](const char* key, std::initializer_list<const char*> names) {
    const std::int64_t of_header = fact_of(header, key);
    return of_header > 0 ? of_header : stated_size(config, names);
  };
  const auto table = [](const std::optional<StoredMatrix>& matrix) {
    return matrix ? Json::array({matrix_json(*matrix)}) : Json::array();
  };
  return {{"model_type", "stored_matrices"},
          {"why", why},
          {"hidden_size", checkpoint.hidden},
          {"num_hidden_layers", checkpoint.layers.size()},
          {"num_attention_heads", size("attention.head_count", {"num_attention_heads", "n_head"})},
          {"num_key_value_heads",
           size("attention.head_count_kv",
                {"num_key_value_heads", "num_kv_heads", "multi_query_group_num"})},
          {"head_dim", size("attention.key_length", {"head_dim", "kv_channels"})},
          {"max_position_embeddings",
           size("context_length", {"max_position_embeddings", "seq_length", "n_positions"})},
          {"num_experts_per_tok",
           size("expert_used_count",
                {"num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k",
                 "experts_per_token", "top_k_experts", "moe_num_experts_per_tok", "top_k"})},
          {"embedding", table(checkpoint.embedding)},
          {"head", table(checkpoint.head)},
          {"rest_values", checkpoint.rest_values},
          {"is_f32", checkpoint.types.size() == 1 && checkpoint.types.contains("F32")},
          {"kinds", std::move(kinds)},
          {"of_layer", std::move(of_layer)}};
}

}  // namespace halmark
