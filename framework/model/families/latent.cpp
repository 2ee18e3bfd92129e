#include "model/families/latent.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "kernels/kv_cache.hpp"
#include "model/families/indexer.hpp"
#include "model/families/mixers.hpp"

namespace halmark::latent {

namespace {

void refuse_biases(const ConfigReader& config) {
  if (config.flag("attention_bias").value_or(false)) {
    config.refuse("attention_bias", "is true; latent attention is modelled without biases");
  }
}

// GLM lists the kind of every layer's network; elsewhere the first few are dense.
void read_listed_layers(ConfigReader& config, ModelSpec& spec) {
  const auto listed = config.texts("mlp_layer_types");
  if (!listed) return;
  spec.intermediate = config.size("intermediate_size").value_or(0);
  if (listed->size() != spec.is_sparse.size()) {
    config.refuse("mlp_layer_types", "lists " + std::to_string(listed->size()) +
                                         " layers, but num_hidden_layers is " +
                                         std::to_string(spec.layers));
  }
  for (std::size_t i = 0; i < listed->size(); ++i) {
    const std::string& kind = (*listed)[i];
    if (kind != "dense" && kind != "sparse") {
      config.refuse("mlp_layer_types", "lists '" + printable(kind) + "'; known: dense, sparse");
    }
    if (!config.has("first_k_dense_replace")) spec.is_sparse[i] = kind == "sparse";
    if (spec.is_sparse[i] != (kind == "sparse")) {
      config.refuse("mlp_layer_types", "has layer " + std::to_string(i) + " as " + kind +
                                           ", which contradicts first_k_dense_replace");
    }
  }
}

// The output of a low rank is normed before it is expanded.
void low_rank(const std::string& name, std::int64_t columns, std::int64_t normed, GraphBuilder& b,
              std::int64_t hidden) {
  b.linear({.name = name,
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(hidden),
            .columns_out = GraphBuilder::replicated(columns),
            .split = Split::replicated,
            .dtype = b.precision().qkv});
  b.rmsnorm(name + "_norm", b.tokens(), normed, Split::replicated);
}

void query(const ModelSpec& spec, Extent heads, GraphBuilder& b) {
  const LatentSpec& latent = *spec.latent;
  const Dtype dtype = b.precision().qkv;
  const Extent columns = heads * latent.query_dim();
  if (latent.q_rank == 0) {
    b.linear({.name = "q_proj",
              .rows = b.tokens(),
              .columns_in = GraphBuilder::replicated(spec.hidden),
              .columns_out = columns,
              .dtype = dtype});
    return;
  }
  low_rank("q_a_proj", latent.q_rank, latent.q_rank, b, spec.hidden);
  const Extent rank = GraphBuilder::replicated(latent.q_rank);
  b.quantize_input("q_b_quantize", b.tokens(), rank, dtype, Split::replicated);
  b.linear({.name = "q_b_proj",
            .rows = b.tokens(),
            .columns_in = rank,
            .columns_out = columns,
            .dtype = dtype});
}

// The latent row of each new token: normed part and rotated part, appended to the cache, which
// every tensor-parallel rank keeps whole.
void latent_row(const ModelSpec& spec, Extent heads, GraphBuilder& b) {
  const LatentSpec& latent = *spec.latent;
  const Precision& precision = b.precision();
  low_rank("kv_a_proj", latent.row_dim(), latent.kv_rank, b, spec.hidden);
  if (latent.has_rotary) {
    b.rope("rope", heads + GraphBuilder::replicated(1), latent.rope_dim, latent.rope_dim,
           precision.attention);
  }
  b.copy("latent_append", b.tokens() * b.append_bytes(latent.row_dim(), 1), Split::replicated);
  b.cache({.entry_bytes =
               GraphBuilder::replicated(kv_row_bytes(precision.kv_cache, latent.row_dim()))});
}

// Which keys the queries read. Every rank runs the whole indexer.
void choose_keys(const ModelSpec& spec, GraphBuilder& b) {
  const IndexerSpec& index = *spec.indexer;
  const Precision& precision = b.precision();
  const auto project = [&](const char* name, std::int64_t in, std::int64_t out, Dtype dtype) {
    b.linear({.name = name,
              .rows = b.tokens(),
              .columns_in = GraphBuilder::replicated(in),
              .columns_out = GraphBuilder::replicated(out),
              .split = Split::replicated,
              .dtype = dtype});
  };
  // They read what q_b and q_a read, already quantised.
  project("index_q_proj", spec.latent->q_rank, index.heads * index.dim, precision.qkv);
  project("index_k_proj", spec.hidden, index.dim, precision.qkv);
  project("index_weights_proj", spec.hidden, index.heads, precision.activation);
  indexer::choose(spec, Split::replicated, b.tokens(), 1, b);
}

void attend(const ModelSpec& spec, Extent heads, bool is_absorbed, GraphBuilder& b) {
  const LatentSpec& latent = *spec.latent;
  const std::int64_t qk = is_absorbed ? latent.row_dim() : latent.query_dim();
  const std::int64_t value = is_absorbed ? latent.kv_rank : latent.value_dim;
  const Precision& precision = b.precision();
  // Expanded keys and values are activations of this step; only the latent rows are cached.
  const Dtype kv = is_absorbed ? precision.kv_cache : precision.attention;
  b.op({.name = is_absorbed ? "attention_absorbed" : "attention_explicit",
        .op = "latent_attention",
        .kind = OperatorKind::attention,
        .split = Split::head,
        .shape_in = shape_text({b.batch().whole, b.new_tokens(), heads.whole, qk}),
        .shape_out = shape_text({b.batch().whole, b.new_tokens(), heads.whole, value})},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},
                       {"heads", heads.*side},
                       {"qk_dim", qk},
                       {"v_dim", value},
                       {"new_tokens", b.new_tokens()},
                       {"context", b.context()},
                       {"top_k", spec.indexer ? spec.indexer->top_k : 0},
                       {"absorbed", is_absorbed ? 1 : 0},
                       {"q_dtype", as_int64(precision.attention)},
                       {"kv_dtype", as_int64(kv)},
                       {"dst_dtype", as_int64(precision.activation)}};
       });
}

// Keys and values of every head for all tokens of the context: those of a cached prefix are
// expanded again.
void attend_explicit(const ModelSpec& spec, Extent heads, GraphBuilder& b) {
  const LatentSpec& latent = *spec.latent;
  const Extent rows = b.context_rows();
  const Extent rank = GraphBuilder::replicated(latent.kv_rank);
  b.quantize_input("kv_b_quantize", rows, rank, b.precision().qkv, Split::replicated);
  b.linear({.name = "kv_b_proj",
            .rows = rows,
            .columns_in = rank,
            .columns_out = heads * (latent.nope_dim + latent.value_dim),
            .dtype = b.precision().qkv});
  // Each rank expands its own tokens; what the others need of them are keys and values.
  b.ring_exchange("attention_ring", b.context(), heads * (latent.query_dim() + latent.value_dim),
                  b.precision().attention);
  attend(spec, heads, false, b);
}

// kv_b's two halves move to the queries and to the outputs, head by head, in 16 bits: the products
// are small and their inputs differ per head.
void attend_absorbed(const ModelSpec& spec, Extent heads, GraphBuilder& b) {
  const LatentSpec& latent = *spec.latent;
  b.batched_linear({.name = "q_up",
                    .groups = heads,
                    .rows = b.tokens(),
                    .columns_in = latent.nope_dim,
                    .columns_out = latent.kv_rank,
                    .dtype = b.precision().activation});
  attend(spec, heads, true, b);
  b.batched_linear({.name = "v_up",
                    .groups = heads,
                    .rows = b.tokens(),
                    .columns_in = latent.kv_rank,
                    .columns_out = latent.value_dim,
                    .dtype = b.precision().activation});
}

void latent_attention(const ModelSpec& spec, bool runs_indexer, GraphBuilder& b) {
  const Precision& precision = b.precision();
  const Extent heads = b.split_by_tp(spec.heads);
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input("qkv_quantize", b.tokens(), hidden, precision.qkv, Split::replicated);
  query(spec, heads, b);
  latent_row(spec, heads, b);
  if (runs_indexer) choose_keys(spec, b);
  if (b.phase() == Phase::decode) {
    attend_absorbed(spec, heads, b);
  } else {
    attend_explicit(spec, heads, b);
  }
  const Extent values = heads * spec.latent->value_dim;
  if (spec.latent->output_gate) {
    b.linear({.name = "output_gate_proj",
              .rows = b.tokens(),
              .columns_in = hidden,
              .columns_out = values,
              .dtype = precision.qkv});
  }
  b.quantize_input("o_quantize", b.tokens(), values, precision.output, Split::column);
  b.linear({.name = "o_proj",
            .rows = b.tokens(),
            .columns_in = values,
            .columns_out = hidden,
            .split = Split::row,
            .dtype = precision.output});
}

}  // namespace

void read_attention(ConfigReader& config, ModelSpec& spec) {
  refuse_biases(config);
  if (config.is_set("sliding_window")) {
    config.refuse("sliding_window", "is set; latent attention is modelled without windows");
  }
  decoder::read_outline(config, spec);
  config.ignore({"num_key_value_heads", "head_dim", "qk_head_dim"});
  spec.heads = config.required_size("num_attention_heads");
  spec.kv_heads = spec.heads;  // expanded; num_key_value_heads says nothing about the cache
  LatentSpec& latent = spec.latent.emplace();
  latent.q_rank = config.size("q_lora_rank").value_or(0);
  latent.kv_rank = config.required_size("kv_lora_rank");
  latent.nope_dim = config.required_size("qk_nope_head_dim");
  latent.rope_dim = config.required_size("qk_rope_head_dim");
  latent.value_dim = config.required_size("v_head_dim");
  if (latent.rope_dim % 2 != 0) config.refuse("qk_rope_head_dim", "must be even");
  spec.head_dim = latent.query_dim();
  spec.rotary_dim = latent.rope_dim;
  spec.windows.assign(as_size(spec.layers), 0);
}

void read(ConfigReader& config, ModelSpec& spec, std::initializer_list<std::string_view> known) {
  std::vector<std::string_view> all = {"first_k_dense_replace", "n_shared_experts", "q_lora_rank",
                                       "kv_lora_rank"};
  append_all(all, known);
  moe::refuse_unmodelled(config, all);
  read_attention(config, spec);
  read_networks(config, spec);
}

void read_networks(ConfigReader& config, ModelSpec& spec) {
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  moe::read_sparse_layers(config, spec);
  read_listed_layers(config, spec);
  spec.moe->shared_width = config.count("n_shared_experts").value_or(0) * spec.moe->width;
  read_scoring(config, *spec.moe);
}

void read_scoring(ConfigReader& config, ExpertSpec& experts) {
  const std::string name = config.text("scoring_func").value_or("softmax");
  if (name != "softmax" && name != "sigmoid" && name != "sqrtsoftplus") {
    config.refuse("scoring_func",
                  "is '" + printable(name) + "'; known: softmax, sigmoid, sqrtsoftplus");
  }
  if (name == "sqrtsoftplus") config.assume("scoring_func sqrtsoftplus is priced as sigmoid");
  experts.scoring = name == "softmax" ? RouterScoring::softmax : RouterScoring::sigmoid;
  experts.renormalize = config.flag_or("norm_topk_prob", false);
}

namespace {

// What one layer has that another may not.
struct LayerKind {
  Mixer mixer = Mixer::attention;
  bool runs_indexer = false;
  auto operator<=>(const LayerKind&) const = default;
};

void one_layer(const ModelSpec& spec, LayerKind kind, const decoder::FeedForward& ffn,
               GraphBuilder& b) {
  b.rmsnorm("input_norm", b.tokens(), spec.hidden, Split::replicated);
  if (kind.mixer == Mixer::delta_rule) {
    mixers::delta_rule(spec, b);
  } else {
    latent_attention(spec, kind.runs_indexer, b);
  }
  b.all_reduce("attention_all_reduce", spec.hidden);
  b.residual_add("attention_residual_add", spec.hidden);
  b.rmsnorm("post_norm", b.tokens(), spec.hidden, Split::replicated);
  ffn.emit(spec, b);
  b.all_reduce("ffn_all_reduce", spec.hidden);
  b.residual_add("ffn_residual_add", spec.hidden);
}

std::string type_name(const ModelSpec& spec, LayerKind kind, const decoder::FeedForward& ffn) {
  if (kind.mixer == Mixer::delta_rule) return ffn.layer_type + "_delta_rule";
  const bool reuses_choice = spec.indexer && !kind.runs_indexer;
  return reuses_choice ? ffn.layer_type + "_shared_index" : ffn.layer_type;
}

}  // namespace

// A module has an indexer of its own where the model has any.
void predict(const ModelSpec& spec, GraphBuilder& b) {
  one_layer(spec, {.runs_indexer = spec.indexer.has_value()},
            moe::feed_forward_of(spec, spec.layers - 1), b);
}

void build(const ModelSpec& spec, GraphBuilder& b) {
  decoder::begin(spec, b);
  std::map<std::tuple<std::string, LayerKind, std::int32_t>, std::int32_t> types;
  std::map<std::string, int> used_names;
  for (const std::int64_t layer : below(spec.layers)) {
    const decoder::FeedForward ffn = moe::feed_forward_of(spec, layer);
    const LayerKind kind = {.mixer = mixer_of(spec, layer).kind,
                            .runs_indexer = spec.indexer && spec.indexer->runs[as_size(layer)]};
    const auto [it, is_new] = types.try_emplace({ffn.layer_type, kind, b.storage_class(layer)}, 0);
    if (is_new) {
      it->second =
          b.begin_layer_type(decoder::numbered(type_name(spec, kind, ffn), used_names), layer);
      one_layer(spec, kind, ffn, b);
    }
    b.add_layer(it->second);
  }
  decoder::end(spec, spec.hidden, b);
}

}  // namespace halmark::latent
