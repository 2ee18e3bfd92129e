// MiniMax-M3: experts beside a shared one behind dense first layers, and in the same layers a
// lightning indexer that chooses blocks of keys for every group of heads. Under its own names or
// those of the library.
#include <string>
#include <vector>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "model/families/moe.hpp"

namespace halmark {

namespace {

// Per layer, from a list of 0 and 1 or one of names; nothing where neither is stated.
std::optional<std::vector<bool>> marked_layers(const ConfigReader& config, const ModelSpec& spec,
                                               const char* marks, const char* names,
                                               std::string_view name) {
  std::vector<bool> out;
  const char* field = names;
  if (const auto listed = config.texts(names)) {
    for (const std::string& one : *listed) out.push_back(one == name);
  } else if (config.is_list(marks)) {
    field = marks;
    const auto listed_marks = config.counts(marks).value_or(std::vector<std::int64_t>{});
    for (const std::int64_t mark : listed_marks) out.push_back(mark != 0);
  } else {
    return std::nullopt;
  }
  decoder::check_layer_count(config, spec, field, out.size());
  return out;
}

void read_sparse_layers_m3(ConfigReader& config, ModelSpec& spec) {
  const auto listed = marked_layers(config, spec, "moe_layer_freq", "mlp_layer_types", "sparse");
  const std::int64_t first = config.count("first_k_dense_replace").value_or(0);
  for (const auto i : indices(spec.is_sparse)) {
    spec.is_sparse[i] = listed ? (*listed)[i] : as_int64(i) >= first;
    if (!spec.is_sparse[i]) spec.intermediate = config.required_size("dense_intermediate_size");
  }
  config.ignore({"dense_intermediate_size", "intermediate_size"});
}

void read_indexer_m3(ConfigReader& config, ModelSpec& spec) {
  const std::string own = "sparse_attention_config.";
  config.also_named("index_n_heads", own + "sparse_num_index_heads");
  config.also_named("index_head_dim", own + "sparse_index_dim");
  config.also_named("index_block_size", own + "sparse_block_size");
  config.also_named("index_topk_blocks", own + "sparse_topk_blocks");
  const auto sparse = marked_layers(config, spec, "sparse_attention_config.sparse_attention_freq",
                                    "layer_types", "minimax_m3_sparse");
  config.ignore({"index_local_blocks", "sparse_attention_config"});
  const bool is_off = config.has("sparse_attention_config.use_sparse_attention") &&
                      !config.is_set("sparse_attention_config.use_sparse_attention");
  if (!sparse || is_off) return;
  IndexerSpec& index = spec.indexer.emplace();
  index.heads = config.size_or("index_n_heads", 4);
  index.dim = config.size_or("index_head_dim", 128);
  index.top_k = config.size_or("index_topk_blocks", 16);
  index.runs = *sparse;
  index.is_of_blocks = true;
  const std::int64_t keys = index.top_k * config.size_or("index_block_size", 128);
  spec.mixers = decoder::uniform_mixers(spec);
  for (const auto i : indices(spec.mixers)) {
    if (index.runs[i]) spec.mixers[i].chosen = keys;
  }
  spec.unconfirmed.emplace_back("block-sparse attention and its indexer (sparse_attention_config)");
}

void read_minimax_m3(ConfigReader& config, ModelSpec& spec) {
  config.ignore({"hidden_act", "scoring_func", "attention_output_gate", "use_gemma_norm"});
  if (config.is_set("attention_output_gate")) {
    config.refuse("attention_output_gate", "is true: attention without a gate is modelled");
  }
  config.set_default("moe_intermediate_size", config.required_size("intermediate_size"));
  decoder::read_shape(config, spec);
  if (config.has("rotary_dim")) {
    config.ignore({"partial_rotary_factor"});
    decoder::read_rotary_dim(config, spec);
  } else {
    decoder::read_rotary(config, spec);
  }
  config.also_named("num_local_experts", "num_experts");
  moe::read_experts(config, spec, "num_local_experts", "moe_intermediate_size");
  read_sparse_layers_m3(config, spec);
  spec.moe->shared_width = config.count("n_shared_experts").value_or(1) *
                           config.required_size("shared_intermediate_size");
  spec.moe->scoring = RouterScoring::sigmoid;
  spec.qk_norm = config.flag("use_qk_norm").value_or(true);
  if (config.has("qk_norm_type") && !config.is_text("qk_norm_type", "per_head")) {
    config.refuse("qk_norm_type", "is not 'per_head', which is modelled");
  }
  read_indexer_m3(config, spec);
}

}  // namespace

extern const Family minimax_m3_family = {"minimax_m3",
                                         {"minimax_m3", "minimax_m3_vl", "minimax_m3_vl_text"},
                                         &read_minimax_m3,
                                         &moe::build};

}  // namespace halmark
