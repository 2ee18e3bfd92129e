#include "model/families/indexer.hpp"

#include "core/lists.hpp"

namespace halmark::indexer {

namespace {

// Queries and keys alike; every rank makes all keys, and the queries of its heads.
void transform(const ModelSpec& spec, Extent heads, Extent new_keys, Split split, GraphBuilder& b) {
  const Extent tokens = b.tokens();
  const Extent rows = tokens * heads + new_keys;
  const std::string dims = shape_text({rows.whole, spec.indexer->dim});
  const Dtype activation = b.precision().activation;
  b.op({.name = "index_hadamard",
        .op = "hadamard",
        .split = split,
        .shape_in = dims,
        .shape_out = dims},
       [&](Side side) {
         return Sizing{
             {"rows", rows.*side}, {"cols", spec.indexer->dim}, {"dtype", as_int64(activation)}};
       });
  if (dtype(b.precision()) == activation) return;
  b.quantize_input("index_quantize", rows, GraphBuilder::replicated(spec.indexer->dim),
                   dtype(b.precision()), split);
}

void append(const ModelSpec& spec, Extent new_keys, std::int64_t ratio, GraphBuilder& b) {
  const std::int64_t bytes = entry_bytes(spec, b.precision());
  b.cache({.entry_bytes = GraphBuilder::replicated(bytes), .tokens_per_entry = ratio});
  if (!b.is_any(new_keys.local)) return;  // a step that completes no entry
  b.copy("index_append", new_keys * bytes, Split::replicated);
}

}  // namespace

void read(ConfigReader& config, ModelSpec& spec) {
  IndexerSpec& index = spec.indexer.emplace();
  index.heads = config.required_size("index_n_heads");
  index.dim = config.required_size("index_head_dim");
  index.top_k = config.required_size("index_topk");
  index.runs.assign(as_size(spec.layers), true);
}

Dtype dtype(const Precision& precision) {
  return precision.qkv == Dtype::f8_e4m3fn ? precision.qkv : precision.activation;
}

namespace {

// Blocks are chosen by unquantised keys.
Dtype scored_in(const ModelSpec& spec, const Precision& precision) {
  return spec.indexer->is_of_blocks ? precision.activation : dtype(precision);
}

}  // namespace

std::int64_t entry_bytes(const ModelSpec& spec, const Precision& precision) {
  constexpr std::int64_t scale_bytes = 4;
  const Dtype type = scored_in(spec, precision);
  const bool is_scaled = type != precision.activation;
  return dtype_bytes(type, spec.indexer->dim) + (is_scaled ? scale_bytes : 0);
}

void choose_blocks(const ModelSpec& spec, GraphBuilder& b) {
  const IndexerSpec& index = *spec.indexer;
  const auto project = [&](const std::string& name, std::int64_t heads) {
    b.linear({.name = name + "_proj",
              .rows = b.tokens(),
              .columns_in = GraphBuilder::replicated(spec.hidden),
              .columns_out = GraphBuilder::replicated(heads * index.dim),
              .split = Split::replicated,
              .dtype = b.precision().activation});
    b.rmsnorm(name + "_norm", b.tokens() * heads, index.dim, Split::replicated);
  };
  project("index_q", index.heads);
  project("index_k", 1);
  choose(spec, Split::replicated, b.tokens(), 1, b);
}

void choose(const ModelSpec& spec, Split split, Extent new_keys, std::int64_t ratio,
            GraphBuilder& b) {
  const IndexerSpec& index = *spec.indexer;
  const Extent heads =
      split == Split::head ? b.split_by_tp(index.heads) : GraphBuilder::replicated(index.heads);
  if (!index.is_of_blocks) transform(spec, heads, new_keys, split, b);
  append(spec, new_keys, ratio, b);
  const auto type = as_int64(scored_in(spec, b.precision()));
  b.op({.name = "index_score",
        .op = "index_score",
        .kind = OperatorKind::attention,
        .split = split,
        .shape_in = shape_text({b.batch().whole, b.new_tokens(), index.heads, index.dim}),
        .shape_out = shape_text({b.batch().whole, b.new_tokens(), index.top_k})},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},     {"heads", heads.*side},   {"dim", index.dim},
                       {"new_tokens", b.new_tokens()}, {"context", b.context()}, {"ratio", ratio},
                       {"top_k", index.top_k},         {"q_dtype", type},        {"k_dtype", type}};
       });
  // Ranks that have only some of the heads add up their partial scores before the choice.
  const Size entries = b.context() / ratio;
  const bool is_split = heads.local.constant() < heads.whole.constant();
  if (is_split && b.is_any(entries)) b.all_reduce("index_all_reduce", entries);
}

}  // namespace halmark::indexer
