// DeepSeek-V4: one latent row per token is key and value of all heads; each layer attends to a
// window of tokens and, by its compression ratio, to entries of 4 tokens chosen by an indexer or to
// all entries of 128. The output projection is grouped, and hyper-connections of several residual
// streams stand around every sub-layer. The first layers route by a table; their router runs all
// the same, for the weights.
#include <map>
#include <string>
#include <utility>

#include "core/lists.hpp"
#include "kernels/kv_cache.hpp"
#include "model/families/indexer.hpp"
#include "model/families/latent.hpp"

namespace halmark {

namespace {

constexpr std::int64_t indexed_ratio = 4;
constexpr std::int64_t heavy_ratio = 128;

std::int64_t number_deepseek_v4(Dtype dtype) { return as_int64(dtype); }

// Windows of ratio 4 overlap, so an entry is made of two sets of columns.
std::int64_t sets_of(std::int64_t ratio) { return ratio == indexed_ratio ? 2 : 1; }

void read_ratios(const ConfigReader& config, ModelSpec& spec) {
  const auto listed = config.counts("compress_ratios");
  if (!listed) config.refuse("compress_ratios", "is missing; a ratio per layer is expected");
  // Entries past the layers belong to prediction modules.
  if (as_int64(listed->size()) < spec.layers) {
    config.refuse("compress_ratios", "lists " + std::to_string(listed->size()) +
                                         " layers, but num_hidden_layers is " +
                                         std::to_string(spec.layers));
  }
  spec.compressed->ratios.assign(listed->begin(), listed->begin() + spec.layers);
  const std::int64_t listed_ratios = std::ssize(*listed);
  if (listed_ratios > spec.layers) {
    spec.compressed->prediction_ratio = (*listed)[as_size(spec.layers)];
  }
  for (const std::int64_t ratio : *listed) {
    if (ratio == 0 || ratio == indexed_ratio || ratio == heavy_ratio) continue;
    config.refuse("compress_ratios", "lists " + std::to_string(ratio) + "; known: 0, 4, 128");
  }
}

void read_heads_deepseek_v4(ConfigReader& config, ModelSpec& spec) {
  spec.heads = config.required_size("num_attention_heads");
  spec.kv_heads = config.size_or("num_key_value_heads", 1);
  if (spec.kv_heads != 1) {
    config.refuse("num_key_value_heads", "is " + std::to_string(spec.kv_heads) +
                                             "; one latent row for all heads is known");
  }
  spec.head_dim = config.required_size("head_dim");
  spec.rotary_dim = config.required_size("qk_rope_head_dim");
  if (spec.rotary_dim % 2 != 0 || spec.rotary_dim > spec.head_dim) {
    config.refuse("qk_rope_head_dim", "must be even and at most head_dim");
  }
}

void read_output(const ConfigReader& config, ModelSpec& spec) {
  spec.compressed->output_groups = config.required_size("o_groups");
  spec.compressed->output_rank = config.required_size("o_lora_rank");
  if (spec.heads % spec.compressed->output_groups != 0) {
    config.refuse("o_groups", "is " + std::to_string(spec.compressed->output_groups) +
                                  ", which does not divide num_attention_heads " +
                                  std::to_string(spec.heads));
  }
}

void read_deepseek_v4(ConfigReader& config, ModelSpec& spec) {
  moe::refuse_unmodelled(config, {"n_shared_experts", "q_lora_rank", "index_topk",
                                  "compress_ratios", "num_hash_layers", "hc_mult", "o_lora_rank"});
  if (config.flag("attention_bias").value_or(false)) {
    config.refuse("attention_bias", "is true; compressed attention is modelled without biases");
  }
  decoder::read_outline(config, spec);
  config.ignore({"num_hash_layers"});  // their router runs all the same
  CompressedSpec& compressed = spec.compressed.emplace();
  read_heads_deepseek_v4(config, spec);
  read_output(config, spec);
  read_ratios(config, spec);
  compressed.q_rank = config.required_size("q_lora_rank");
  compressed.window = config.required_size("sliding_window");
  compressed.streams = config.required_size("hc_mult");
  compressed.sinkhorn_iterations = config.count("hc_sinkhorn_iters").value_or(0);
  spec.windows.assign(as_size(spec.layers), compressed.window);
  indexer::read(config, spec);
  for (const auto i : indices(compressed.ratios)) {
    spec.indexer->runs[i] = compressed.ratios[i] == indexed_ratio;
  }
  moe::read_experts(config, spec, "n_routed_experts", "moe_intermediate_size");
  spec.moe->shared_width = config.count("n_shared_experts").value_or(0) * spec.moe->width;
  latent::read_scoring(config, *spec.moe);
}

// Their gains are 1e-6 of the weights and are left out of published and of our counts.
void latent_norm(std::string name, std::int64_t columns, GraphBuilder& b) {
  const std::string dims = shape_text({b.tokens().whole, columns});
  b.op({.name = std::move(name),
        .op = "rmsnorm",
        .kind = OperatorKind::norm,
        .shape_in = dims,
        .shape_out = dims,
        .has_parameters = false},
       [&](Side side) {
         return Sizing{{"rows", b.tokens().*side},
                       {"cols", columns},
                       {"src_dtype", number_deepseek_v4(b.precision().activation)},
                       {"dst_dtype", number_deepseek_v4(b.precision().activation)}};
       });
}

void replicated_linear(std::string name, std::int64_t in, std::int64_t out, Dtype dtype,
                       GraphBuilder& b) {
  b.linear({.name = std::move(name),
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(in),
            .columns_out = GraphBuilder::replicated(out),
            .split = Split::replicated,
            .dtype = dtype});
}

void hyper_connection(const ModelSpec& spec, std::string name, std::int64_t stage,
                      std::int64_t iterations, GraphBuilder& b) {
  const std::int64_t streams = spec.compressed->streams;
  const std::string all = shape_text({b.tokens().whole, streams, spec.hidden});
  const std::string one = shape_text({b.tokens().whole, spec.hidden});
  b.op({.name = std::move(name),
        .op = "hyper_connection",
        .shape_in = all,
        .shape_out = stage == 0 ? one : all},
       [&](Side side) {
         return Sizing{
             {"rows", b.tokens().*side}, {"streams", streams},
             {"hidden", spec.hidden},    {"iterations", iterations},
             {"stage", stage},           {"dtype", number_deepseek_v4(b.precision().activation)}};
       });
}

// hc (2 + hc) coefficients from all streams of a token; 16 bits, as they steer everything else.
void enter(const ModelSpec& spec, const std::string& sublayer, GraphBuilder& b) {
  const CompressedSpec& compressed = *spec.compressed;
  replicated_linear(sublayer + "_mix", compressed.streams * spec.hidden,
                    (2 + compressed.streams) * compressed.streams, b.precision().activation, b);
  hyper_connection(spec, sublayer + "_pre", 0, compressed.sinkhorn_iterations, b);
}

void leave(const ModelSpec& spec, const std::string& sublayer, GraphBuilder& b) {
  b.all_reduce(sublayer + "_all_reduce", spec.hidden);
  hyper_connection(spec, sublayer + "_post", 1, 0, b);
}

void projections_deepseek_v4(const ModelSpec& spec, Extent heads, GraphBuilder& b) {
  const Dtype dtype = b.precision().qkv;
  const std::int64_t rank = spec.compressed->q_rank;
  b.quantize_input("qkv_quantize", b.tokens(), GraphBuilder::replicated(spec.hidden), dtype,
                   Split::replicated);
  replicated_linear("q_a_proj", spec.hidden, rank, dtype, b);
  latent_norm("q_a_norm", rank, b);
  b.quantize_input("q_b_quantize", b.tokens(), GraphBuilder::replicated(rank), dtype,
                   Split::replicated);
  b.linear({.name = "q_b_proj",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(rank),
            .columns_out = heads * spec.head_dim,
            .dtype = dtype});
  replicated_linear("kv_proj", spec.hidden, spec.head_dim, dtype, b);
  latent_norm("kv_norm", spec.head_dim, b);
  b.rope("rope", heads + GraphBuilder::replicated(1), spec.head_dim, spec.rotary_dim,
         b.precision().attention);
}

// A ring of the last tokens, whatever the context, and the compressed entries.
void caches(const ModelSpec& spec, std::int64_t ratio, GraphBuilder& b) {
  const std::int64_t row_bytes = kv_row_bytes(b.precision().kv_cache, spec.head_dim);
  b.copy("latent_append", b.tokens() * b.append_bytes(spec.head_dim, 1), Split::replicated);
  b.cache({.constant_bytes = GraphBuilder::replicated(spec.compressed->window * row_bytes)});
  if (ratio == 0) return;
  b.cache({.entry_bytes = GraphBuilder::replicated(row_bytes), .tokens_per_entry = ratio});
}

// Which entries of 4 tokens a query reads; split by index heads.
void choose_entries(const ModelSpec& spec, GraphBuilder& b) {
  const IndexerSpec& index = *spec.indexer;
  const Extent heads = b.split_by_tp(index.heads);
  b.linear({.name = "index_q_proj",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(spec.compressed->q_rank),
            .columns_out = heads * index.dim,
            .dtype = b.precision().qkv});
  b.linear({.name = "index_weights_proj",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(spec.hidden),
            .columns_out = heads,
            .dtype = b.precision().activation});
  replicated_linear("index_compressor", spec.hidden, 2 * sets_of(indexed_ratio) * index.dim,
                    b.precision().activation, b);
  const Size entries = b.context() / indexed_ratio - b.cached() / indexed_ratio;
  indexer::choose(spec, Split::head, b.batch() * entries, indexed_ratio, b);
}

void attend_deepseek_v4(const ModelSpec& spec, Extent heads, std::int64_t ratio, GraphBuilder& b) {
  const std::string dims =
      shape_text({b.batch().whole, b.new_tokens(), heads.whole, spec.head_dim});
  b.op({.name = "attention",
        .op = "compressed_attention",
        .kind = OperatorKind::attention,
        .split = Split::head,
        .shape_in = dims,
        .shape_out = dims},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},
                       {"heads", heads.*side},
                       {"head_dim", spec.head_dim},
                       {"new_tokens", b.new_tokens()},
                       {"context", b.context()},
                       {"window", spec.compressed->window},
                       {"ratio", ratio},
                       {"top_k", ratio == indexed_ratio ? spec.indexer->top_k : 0},
                       {"q_dtype", number_deepseek_v4(b.precision().attention)},
                       {"kv_dtype", number_deepseek_v4(b.precision().kv_cache)},
                       {"dst_dtype", number_deepseek_v4(b.precision().activation)}};
       });
}

// The heads of a group are projected to a low rank, the groups together back to the hidden width.
void output(const ModelSpec& spec, Extent heads, GraphBuilder& b) {
  const CompressedSpec& compressed = *spec.compressed;
  const Dtype dtype = b.precision().output;
  const bool has_grouped = dtype != Dtype::s8 && dtype_bits(dtype) >= 8;
  const Dtype grouped = has_grouped ? dtype : b.precision().activation;
  const Extent groups = b.split_by_tp(compressed.output_groups);
  const Extent rank = groups * compressed.output_rank;
  b.quantize_input("o_a_quantize", b.tokens(), heads * spec.head_dim, grouped, Split::column);
  b.batched_linear({.name = "o_a_proj",
                    .groups = groups,
                    .rows = b.tokens(),
                    .columns_in = spec.heads / compressed.output_groups * spec.head_dim,
                    .columns_out = compressed.output_rank,
                    .dtype = grouped});
  b.quantize_input("o_b_quantize", b.tokens(), rank, dtype, Split::column);
  b.linear({.name = "o_b_proj",
            .rows = b.tokens(),
            .columns_in = rank,
            .columns_out = GraphBuilder::replicated(spec.hidden),
            .split = Split::row,
            .dtype = dtype});
}

void layer(const ModelSpec& spec, std::int64_t ratio, GraphBuilder& b) {
  const Extent heads = b.split_by_tp(spec.heads);
  enter(spec, "attention", b);
  b.rmsnorm("input_norm", b.tokens(), spec.hidden, Split::replicated);
  projections_deepseek_v4(spec, heads, b);
  caches(spec, ratio, b);
  if (ratio > 0) {
    // Value and gate of every entry, before the gate pools its tokens.
    replicated_linear("compressor", spec.hidden, 2 * sets_of(ratio) * spec.head_dim,
                      b.precision().activation, b);
  }
  if (ratio == indexed_ratio) choose_entries(spec, b);
  attend_deepseek_v4(spec, heads, ratio, b);
  output(spec, heads, b);
  leave(spec, "attention", b);
  enter(spec, "ffn", b);
  b.rmsnorm("post_norm", b.tokens(), spec.hidden, Split::replicated);
  moe::feed_forward_of(spec, 0).emit(spec, b);
  leave(spec, "ffn", b);
}

std::string layer_name(std::int64_t ratio) {
  return ratio == 0 ? "decoder_moe_window" : "decoder_moe_compressed_" + std::to_string(ratio);
}

void build_deepseek_v4(const ModelSpec& spec, GraphBuilder& b) {
  decoder::begin(spec, b);
  std::map<std::pair<std::int64_t, std::int32_t>, std::int32_t> types;
  std::map<std::string, int> used_names;
  for (const std::int64_t i : below(spec.layers)) {
    const std::int64_t ratio = spec.compressed->ratios[as_size(i)];
    const auto [it, is_new] = types.try_emplace({ratio, b.storage_class(i)}, 0);
    if (is_new) {
      it->second = b.begin_layer_type(decoder::numbered(layer_name(ratio), used_names), i);
      layer(spec, ratio, b);
    }
    b.add_layer(it->second);
  }
  // Stages exchange every stream.
  decoder::end(spec, spec.compressed->streams * spec.hidden, b);
}

void predict_deepseek_v4(const ModelSpec& spec, GraphBuilder& b) {
  layer(spec, spec.compressed->prediction_ratio, b);
}

// The embedding is projected once, and every stream of the hidden state.
void join_deepseek_v4(const ModelSpec& spec, GraphBuilder& b) {
  replicated_linear("draft_join_embedding", spec.hidden, spec.hidden, b.precision().activation, b);
  b.linear({.name = "draft_join",
            .rows = b.tokens() * spec.compressed->streams,
            .columns_in = GraphBuilder::replicated(spec.hidden),
            .columns_out = GraphBuilder::replicated(spec.hidden),
            .split = Split::replicated,
            .dtype = b.precision().activation});
}

}  // namespace

extern const Family deepseek_v4_family = {"deepseek_v4",        {"deepseek_v4"},
                                          &read_deepseek_v4,    &build_deepseek_v4,
                                          &predict_deepseek_v4, &join_deepseek_v4};

}  // namespace halmark
