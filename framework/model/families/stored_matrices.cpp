// The graph of last resort, of a checkpoint whose configuration is not read: every token meets
// every matrix of its header, of routed experts as many as it takes. Norms, activations and
// whatever else has no matrix are left out, attention where no heads are stated. See
// weights/weights_document.hpp.
#include <algorithm>
#include <map>
#include <utility>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "model/families/decoder.hpp"
#include "model/spec/stored_layers.hpp"

namespace halmark {

namespace {

constexpr std::int64_t values_max = std::int64_t{1} << 46;  // of all kinds of layers

std::int64_t stored_count(const ConfigReader& config, std::string_view field) {
  const Json* value = config.value(field);
  if (value == nullptr) return 0;
  if (!value->is_number_integer() || *value < 0 || *value > values_max) {
    config.refuse(field, "must be a count of at most " + std::to_string(values_max));
  }
  return value->get<std::int64_t>();
}

std::optional<Quantization> read_format(const ConfigReader& config) {
  if (!config.is_set("format")) return std::nullopt;
  Quantization out{
      .method = config.text("format.method").value_or(""),
      .block = stored_count(config, "format.block"),
      .block_rows = std::max<std::int64_t>(1, stored_count(config, "format.block_rows")),
      .scale_bits = stored_count(config, "format.scale_bits"),
      .matrix_scale_bytes = stored_count(config, "format.matrix_scale_bytes")};
  const auto weights = parse_dtype(config.text("format.weights").value_or(""));
  const bool is_narrow = weights && dtype_bits(*weights) <= 8;
  if (!is_narrow || out.scale_bits > 64) config.refuse("format", "is none of packed weights");
  out.weights = *weights;
  return out;
}

StoredMatrix read_matrix(const ConfigReader& config) {
  const auto kind = parse_kernel_kind(config.text("kind").value_or(""));
  if (!kind) config.refuse("kind", "is none of a linear");
  StoredMatrix out{.name = config.text("name").value_or("matrix"),
                   .kind = *kind,
                   .rows = config.required_size("rows"),
                   .columns = config.required_size("columns"),
                   .experts = stored_count(config, "experts"),
                   .format = read_format(config)};
  if (out.experts > stored_experts_max) config.refuse("experts", "are more than any model has");
  if (out.rows > values_max / out.columns / std::max<std::int64_t>(1, out.experts)) {
    config.refuse("rows", "are more than any memory holds");
  }
  return out;
}

void read_layers(const ConfigReader& config, ModelSpec& spec) {
  StoredLayers& out = spec.stored_layers.emplace();
  std::int64_t values = 0;
  for (const ConfigReader& kind : config.objects("kinds").value_or(std::vector<ConfigReader>{})) {
    StoredLayer& layer = out.kinds.emplace_back();
    layer.vector_values = stored_count(kind, "vector_values");
    values += layer.vector_values;
    const auto matrices = kind.objects("matrices");
    if (!matrices) continue;
    for (const ConfigReader& matrix : *matrices) {
      layer.matrices.push_back(read_matrix(matrix));
      values += layer.matrices.back().values();
      if (values > values_max) config.refuse("kinds", "have more values than any memory holds");
    }
  }
  const auto of_layer = config.counts("of_layer").value_or(std::vector<std::int64_t>{});
  for (const std::int64_t kind : of_layer) {
    if (kind >= std::ssize(out.kinds)) config.refuse("of_layer", "names a kind that is not there");
    out.of_layer.push_back(as_int(kind));
  }
  decoder::check_layer_count(config, spec, "of_layer", out.of_layer.size());
}

const StoredLayer& layer_of(const ModelSpec& spec, std::size_t layer) {
  return spec.stored_layers->kinds[as_size(spec.stored_layers->of_layer[layer])];
}

// Experts of every layer are as many and as wide: their rows are planned once.
void read_experts(ConfigReader& config, ModelSpec& spec) {
  ExpertSpec moe;
  for (const StoredLayer& layer : spec.stored_layers->kinds) {
    for (const StoredMatrix& m : layer.matrices) {
      if (m.experts == 0) continue;
      if (moe.experts > 0 && moe.experts != m.experts) {
        config.refuse("kinds", "have " + std::to_string(moe.experts) + " and " +
                                   std::to_string(m.experts) + " experts");
      }
      const std::int64_t width = m.columns == spec.hidden ? m.rows : m.columns;
      moe.experts = m.experts;
      moe.width = moe.width == 0 ? width : std::min(moe.width, width);
    }
  }
  if (moe.experts == 0) return;
  constexpr std::int64_t usual_top_k = 8;
  moe.top_k = config.size("num_experts_per_tok").value_or(std::min(usual_top_k, moe.experts));
  if (!config.is_set("num_experts_per_tok")) {
    config.assume(std::to_string(moe.top_k) + " experts per token (no configuration says)");
  }
  moe.top_k = std::min(moe.top_k, moe.experts);
  spec.moe = moe;
  for (std::size_t i = 0; i < spec.stored_layers->of_layer.size(); ++i) {
    spec.is_sparse.push_back(std::ranges::any_of(
        layer_of(spec, i).matrices, [](const StoredMatrix& m) { return m.experts > 0; }));
  }
}

bool has_matrix_word(const StoredLayer& layer, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(layer.matrices, [&](const StoredMatrix& m) {
    return std::ranges::any_of(
        words, [&](std::string_view word) { return m.name.find(word) != std::string::npos; });
  });
}

// Of keys per head: those of latent attention and of recurrences are smaller.
bool attends(const StoredLayer& layer) {
  return has_matrix_word(layer, {"k_proj", "attn_k.", "attn_k", "qkv", "query_key_value", "c_attn",
                                 "W_pack", "Wqkv", ".wk", "self.key"}) &&
         !has_matrix_word(layer, {"kv_a", "kv_b", "linear_attn"});
}

const StoredMatrix* ends_with_any(const StoredLayer& layer,
                                  std::initializer_list<std::string_view> endings) {
  const auto* it = find_or_null(layer.matrices, true, [&](const StoredMatrix& m) {
    return std::ranges::any_of(endings, [&](std::string_view e) { return m.name.ends_with(e); });
  });
  return it;
}

// Their products and their cache follow from the rows of queries and keys; how many heads those are
// changes little.
void read_heads(ConfigReader& config, ModelSpec& spec) {
  spec.windows.assign(as_size(spec.layers), 0);
  const auto& kinds = spec.stored_layers->kinds;
  const auto* attending = find_or_null(kinds, true, attends);
  if (!attending) {
    return config.assume(
        "no attention and no cache (no layer has keys per head): times and memory "
        "are too low by them");
  }
  const StoredMatrix* query = ends_with_any(*attending, {"q_proj", "attn_q"});
  const StoredMatrix* key = ends_with_any(*attending, {"k_proj", "attn_k"});
  const auto stated = config.size("num_attention_heads");
  for (const std::int64_t width : {128, 64}) {
    if (stated || query == nullptr || key == nullptr || spec.heads > 0) break;
    if (query->rows % width != 0 || key->rows % width != 0) continue;
    spec.heads = query->rows / width;
    spec.head_dim = width;
    config.assume("heads of " + std::to_string(width) + " values (none are stated)");
  }
  if (stated) {
    spec.heads = *stated;
    const std::int64_t rows = query == nullptr ? spec.hidden : query->rows;
    spec.head_dim = config.size("head_dim").value_or(std::max<std::int64_t>(1, rows / *stated));
  }
  if (spec.heads == 0) {
    return config.assume(
        "no attention and no cache (no heads are stated): times and memory are "
        "too low by them");
  }
  const std::int64_t of_key = key == nullptr ? spec.heads : key->rows / spec.head_dim;
  spec.kv_heads = config.size("num_key_value_heads").value_or(std::max<std::int64_t>(1, of_key));
  if (!std::ranges::all_of(kinds, attends)) {
    config.assume("attention and its cache in the layers alone that have keys per head");
  }
}

struct StoredFormat {
  std::int64_t bytes = 0;
  Quantization what;
};

// The format with most bytes stands for the checkpoint; matrices in others are stored otherwise.
void read_formats(const ConfigReader& config, ModelSpec& spec,
                  const std::optional<StoredMatrix>& embedding,
                  const std::optional<StoredMatrix>& head) {
  std::vector<StoredFormat> formats;
  const auto add = [&](const StoredMatrix& m) {
    if (!m.format) return;
    auto it = std::ranges::find(formats, *m.format, &StoredFormat::what);
    if (it == formats.end()) it = formats.insert(it, {0, *m.format});
    it->bytes += m.values() * dtype_bits(m.format->weights) / 8;
  };
  for (std::size_t i = 0; i < spec.stored_layers->of_layer.size(); ++i) {
    std::ranges::for_each(layer_of(spec, i).matrices, add);
  }
  if (config.is_set("is_f32")) spec.stored_dtype = Dtype::f32;
  if (formats.empty()) return;
  Quantization main = std::ranges::max_element(formats, {}, &StoredFormat::bytes)->what;
  const std::optional<Quantization> usual = main;
  std::map<std::pair<std::string, std::int32_t>, StoredOtherwise> otherwise;
  const auto note = [&](const StoredMatrix& m, std::size_t layer) {
    const bool is_known = contains(main.kinds, m.kind);
    if (m.format && !is_known) main.kinds.push_back(m.kind);
    if (m.format == usual) return;
    const std::int32_t kind =
        layer < spec.stored_layers->of_layer.size() ? spec.stored_layers->of_layer[layer] : -1;
    StoredOtherwise& one = otherwise[{m.name, kind}];
    one.kind = m.kind;
    one.linear = m.name;
    one.format = m.format;
    one.layers.resize(as_size(spec.layers));
    if (layer < one.layers.size()) one.layers[layer] = true;
  };
  for (std::size_t i = 0; i < spec.stored_layers->of_layer.size(); ++i) {
    for (const StoredMatrix& m : layer_of(spec, i).matrices) note(m, i);
  }
  const auto table = head ? head : embedding;
  if (table) note({.name = "lm_head", .kind = KernelKind::head, .format = table->format}, -1);
  main.packs_embedding = embedding && embedding->format;
  if (main.packs_embedding && embedding->format != usual) {
    spec.stored_otherwise.push_back({main.kinds.front(), "embed_tokens",
                                     std::vector<bool>(as_size(spec.layers)), embedding->format});
  }
  for (auto& [name, one] : otherwise) {
    const bool is_packed = contains(main.kinds, one.kind);
    if (is_packed) spec.stored_otherwise.push_back(std::move(one));
  }
  config.ignore({"quantization_config"});
  spec.quantization = std::move(main);
}

std::optional<StoredMatrix> stored_table(const ConfigReader& config, const char* field) {
  auto list = config.objects(field);
  if (!list || list->empty()) return std::nullopt;
  return read_matrix(list->front());
}

void read_stored(ConfigReader& config, ModelSpec& spec) {
  spec.hidden = config.required_size("hidden_size");
  spec.layers = config.required_size("num_hidden_layers");
  spec.max_position = config.size("max_position_embeddings");
  spec.rest_values = stored_count(config, "rest_values");
  read_layers(config, spec);
  const auto embedding = stored_table(config, "embedding"), head = stored_table(config, "head");
  spec.vocab = embedding ? embedding->rows : head ? head->rows : 1;
  spec.tied = embedding && !head;
  spec.has_lm_head = embedding || head;
  if (!embedding) config.assume("no table of embeddings (none is in the weights)");
  read_experts(config, spec);
  read_heads(config, spec);
  read_formats(config, spec, embedding, head);
  const std::string why = config.text("why").value_or("");
  spec.unconfirmed.push_back(
      "a graph of last resort: every matrix of the weights once for every "
      "token" +
      (why.empty() ? "" : "; " + why));
}

// Split where the ranks divide it.
Extent even_split(std::int64_t size, const GraphBuilder& b) {
  return size % b.tp() == 0 ? b.split_by_tp(size) : GraphBuilder::replicated(size);
}

// What ends in the model's width is split by its rows: partial sums, until they are added.
void emit_matrix(const ModelSpec& spec, const StoredMatrix& m, GraphBuilder& b) {
  const bool ends =
      m.rows == spec.hidden && (m.columns != spec.hidden || m.kind == KernelKind::output);
  if (m.experts > 0) {
    return b.expert_linear(
        {.name = m.name,
         .columns_in = ends ? b.split_expert_width(m.columns) : GraphBuilder::replicated(m.columns),
         .columns_out = ends ? GraphBuilder::replicated(m.rows) : b.split_expert_width(m.rows),
         .split = ends ? Split::row : Split::column});
  }
  const bool is_split = (ends ? m.columns : m.rows) % b.tp() == 0;
  b.linear({.name = m.name,
            .rows = b.tokens(),
            .columns_in = ends ? even_split(m.columns, b) : GraphBuilder::replicated(m.columns),
            .columns_out = ends ? GraphBuilder::replicated(m.rows) : even_split(m.rows, b),
            .split = !is_split ? Split::replicated
                     : ends    ? Split::row
                               : Split::column,
            .dtype = b.precision().of(m.kind)});
  if (is_split && ends) b.all_reduce(m.name + "_all_reduce", spec.hidden);
}

void emit_stored_layer(const ModelSpec& spec, const StoredLayer& layer, GraphBuilder& b) {
  for (const StoredMatrix& m : layer.matrices) {
    if (m.experts == 0) emit_matrix(spec, m, b);
  }
  if (spec.heads > 0 && attends(layer)) {
    b.attention({.name = "attention",
                 .heads = b.split_by_tp(spec.heads),
                 .kv_heads = b.split_kv_heads(spec.kv_heads),
                 .head_dim = spec.head_dim});
  }
  const bool is_sparse =
      std::ranges::any_of(layer.matrices, [](const auto& m) { return m.experts > 0; });
  if (is_sparse) {
    b.route("moe_route", *spec.moe);
    b.dispatch("moe_dispatch");
    b.exchange_rows("dispatch_all_to_all");
    b.regroup_rows("dispatch_regroup");
    for (const StoredMatrix& m : layer.matrices) {
      if (m.experts > 0) emit_matrix(spec, m, b);
    }
    b.regroup_rows("combine_regroup");
    b.exchange_rows("combine_all_to_all");
    b.combine("moe_combine");
    b.all_reduce("experts_all_reduce", spec.hidden);
  }
  b.hold("vectors", layer.vector_values);
}

void build_stored(const ModelSpec& spec, GraphBuilder& b) {
  decoder::begin(spec, b);
  b.hold("rest",
         std::max<std::int64_t>(0, spec.rest_values - spec.hidden));  // without a final norm
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> types;
  for (std::size_t i = 0; i < spec.stored_layers->of_layer.size(); ++i) {
    const auto layer = as_int64(i);
    const std::int32_t kind = spec.stored_layers->of_layer[i];
    const auto [it, is_new] = types.try_emplace({kind, b.storage_class(layer)}, 0);
    if (is_new) {
      it->second = b.begin_layer_type("layer_" + std::to_string(types.size()), layer);
      emit_stored_layer(spec, layer_of(spec, i), b);
    }
    b.add_layer(it->second);
  }
  decoder::end(spec, spec.hidden, b);
}

}  // namespace

extern const Family stored_matrices_family = {
    "stored_matrices", {"stored_matrices"}, &read_stored, &build_stored};

}  // namespace halmark
