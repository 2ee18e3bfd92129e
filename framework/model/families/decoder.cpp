#include "model/families/decoder.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/lists.hpp"
#include "model/families/mixers.hpp"

namespace halmark::decoder {

namespace {

std::int64_t table_width(const ModelSpec& spec) {
  return spec.embedding_width > 0 ? spec.embedding_width : spec.hidden;
}

void norm(const ModelSpec& spec, std::string name, Extent rows, GraphBuilder& b,
          std::int64_t width = 0) {
  b.norm({.name = std::move(name),
          .rows = rows,
          .columns = GraphBuilder::replicated(width > 0 ? width : spec.hidden),
          .kind = spec.norm,
          .has_gain = spec.norm_has_gain});
}

void mix(const ModelSpec& spec, const LayerMixer& mixer, GraphBuilder& b) {
  switch (mixer.kind) {
    case Mixer::attention:
      mixers::attention(spec, mixer, b);
      if (!mixer.has_state_space) return;
      mixers::state_space(spec, b);
      return b.residual_add("mixer_add", spec.hidden);
    case Mixer::delta_rule:
      return mixers::delta_rule(spec, b);
    case Mixer::state_space:
      return mixers::state_space(spec, b);
    case Mixer::selective_scan:
      return mixers::selective_scan(spec, b);
    case Mixer::convolution:
      return mixers::convolution(spec, b);
    case Mixer::none:
      return;
  }
}

// Operators keep these names whatever mixes the tokens, so that layers of a hybrid compare.
void one_after_the_other(const ModelSpec& spec, const LayerMixer& mixer, const FeedForward& ffn,
                         GraphBuilder& b) {
  if (mixer.kind != Mixer::none) {
    if (spec.pre_norms && mixer.has_norm) norm(spec, "input_norm", b.tokens(), b);
    mix(spec, mixer, b);
    b.all_reduce("attention_all_reduce", spec.hidden);
    if (spec.post_norms) norm(spec, "attention_post_norm", b.tokens(), b);
    b.residual_add("attention_residual_add", spec.hidden);
  }
  if (ffn.before) ffn.before(spec, b);
  if (ffn.emit) {
    if (spec.pre_norms) norm(spec, "post_norm", b.tokens(), b);
    ffn.emit(spec, b);
    if (!ffn.is_reduced) b.all_reduce("ffn_all_reduce", spec.hidden);
    if (spec.post_norms) norm(spec, "ffn_post_norm", b.tokens(), b);
    b.residual_add("ffn_residual_add", spec.hidden);
  }
  if (ffn.after) ffn.after(spec, b);
}

// Both read one norm, or one each; their partial sums are added before the only all-reduce.
void side_by_side(const ModelSpec& spec, const LayerMixer& mixer, const FeedForward& ffn,
                  GraphBuilder& b) {
  norm(spec, "input_norm", b.tokens(), b);
  mix(spec, mixer, b);
  if (spec.parallel_norms) norm(spec, "post_norm", b.tokens(), b);
  ffn.emit(spec, b);
  b.residual_add("block_add", spec.hidden);
  b.all_reduce("block_all_reduce", spec.hidden);
  b.residual_add("block_residual_add", spec.hidden);
}

std::string mixer_suffix(const LayerMixer& mixer) {
  switch (mixer.kind) {
    case Mixer::attention:
      return mixer.window > 0   ? "_window"
             : mixer.chunk > 0  ? "_chunk"
             : mixer.chosen > 0 ? "_sparse"
                                : "";
    case Mixer::delta_rule:
      return "_delta_rule";
    case Mixer::state_space:
      return "_state_space";
    case Mixer::selective_scan:
      return "_selective_scan";
    case Mixer::convolution:
      return "_convolution";
    case Mixer::none:
      return "";
  }
  return "";
}

}  // namespace

std::string numbered(const std::string& name, std::map<std::string, int>& used) {
  const int count = ++used[name];
  return count == 1 ? name : name + '_' + std::to_string(count);
}

namespace {

void between_widths(const ModelSpec& spec, std::string name, Extent rows, bool widens,
                    GraphBuilder& b) {
  const Extent narrow = GraphBuilder::replicated(spec.embedding_width);
  const Extent wide = GraphBuilder::replicated(spec.hidden);
  b.linear({.name = std::move(name),
            .rows = rows,
            .columns_in = widens ? narrow : wide,
            .columns_out = widens ? wide : narrow,
            .split = Split::replicated,
            .dtype = b.precision().activation,
            .has_bias = spec.embedding_norm});
}

}  // namespace

// Narrower tables are widened behind their sum where it has a norm (BERT's line), before it where
// it has none (OPT).
void begin(const ModelSpec& spec, GraphBuilder& b) {
  const std::int64_t table = table_width(spec);
  const bool widens = table != spec.hidden, widens_first = widens && !spec.embedding_norm;
  const std::int64_t width = widens_first ? spec.hidden : table;
  b.set_embedding(b.begin_layer_type("embedding"));
  b.embedding("embedding", spec.vocab + spec.extra_rows, table);
  b.all_reduce("embedding_all_reduce", table);
  if (widens_first) between_widths(spec, "embedding_proj", b.tokens(), true, b);
  if (spec.learned_positions > 0) {
    b.embedding("position_embedding", spec.learned_positions, width, Split::replicated);
    b.residual_add("position_add", width);
  }
  if (spec.segments > 0) {
    b.embedding("segment_embedding", spec.segments, width, Split::replicated);
    b.residual_add("segment_add", width);
  }
  if (spec.embedding_norm) norm(spec, "embedding_norm", b.tokens(), b, table);
  if (widens && !widens_first) between_widths(spec, "embedding_proj", b.tokens(), true, b);
  if (!spec.stored_layers) b.hold("rest", spec.rest_values);
}

namespace {

// A head of few rows, held whole by every rank.
void small_head(const ModelSpec& spec, GraphBuilder& b) {
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  const auto linear = [&](std::string name, Extent rows, std::int64_t columns, bool has_bias) {
    b.linear({.name = std::move(name),
              .rows = rows,
              .columns_in = hidden,
              .columns_out = GraphBuilder::replicated(columns),
              .split = Split::replicated,
              .dtype = b.precision().activation,
              .has_bias = has_bias});
  };
  if (spec.has_pooler) linear("pooler", b.batch(), spec.hidden, true);
  if (spec.labels == 0) return;
  linear("score", spec.label_of_each_token ? b.tokens() : b.batch(), spec.labels, spec.labels_bias);
}

}  // namespace

// The final norm sees no more rows than the logits need.
void head(const ModelSpec& spec, const std::string& prefix, bool is_shared, GraphBuilder& b) {
  const Dtype dtype = b.precision().head;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  const Extent table = GraphBuilder::replicated(table_width(spec));
  const Extent rows = b.logit_rows();
  if (spec.head_transform) {
    b.linear({.name = prefix + "head_transform",
              .rows = rows,
              .columns_in = hidden,
              .columns_out = table,
              .split = Split::replicated,
              .dtype = b.precision().activation,
              .has_bias = spec.transform_bias});
    norm(spec, prefix + "head_norm", rows, b, table_width(spec));
  }
  if (spec.final_norm) norm(spec, prefix + "final_norm", rows, b);
  if (!spec.has_lm_head) return small_head(spec, b);
  if (!spec.head_transform && table_width(spec) != spec.hidden) {
    between_widths(spec, prefix + "head_proj", rows, false, b);
  }
  b.quantize_input(prefix + "lm_head_quantize", rows, table, dtype, Split::replicated);
  b.linear({.name = prefix + "lm_head",
            .rows = rows,
            .columns_in = table,
            .columns_out = b.padded_by_tp(spec.vocab),
            .split = Split::vocab,
            .kind = OperatorKind::head,
            .dtype = dtype,
            .has_bias = spec.head_bias,
            .shares_embedding = is_shared});
  b.all_gather(prefix + "logits_all_gather", rows, b.padded_by_tp(spec.vocab));
}

void end(const ModelSpec& spec, std::int64_t boundary_columns, GraphBuilder& b) {
  b.set_head(b.begin_layer_type("head"));
  head(spec, "", spec.tied, b);
  b.set_pipeline(b.begin_layer_type("pipeline"));
  b.send_recv("stage_send_recv", boundary_columns);
}

void emit_layer(const ModelSpec& spec, const LayerMixer& mixer, const FeedForward& ffn,
                GraphBuilder& b) {
  (spec.is_parallel ? side_by_side : one_after_the_other)(spec, mixer, ffn, b);
  b.hold("layer_held", spec.held);
}

void last_layer(const ModelSpec& spec, GraphBuilder& b,
                FeedForward (*choose)(const ModelSpec&, std::int64_t)) {
  emit_layer(spec, mixer_of(spec, spec.layers - 1), choose(spec, spec.layers - 1), b);
}

void build(const ModelSpec& spec, GraphBuilder& b,
           FeedForward (*choose)(const ModelSpec&, std::int64_t),
           void (*behind_embedding)(const ModelSpec&, GraphBuilder&)) {
  begin(spec, b);
  if (behind_embedding != nullptr) behind_embedding(spec, b);
  // One layer type per feed-forward network and mixer; most models have one.
  std::map<std::tuple<std::string, LayerMixer, std::int32_t>, std::int32_t> types;
  std::map<std::string, int> used_names;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    FeedForward ffn = choose(spec, layer);
    const LayerMixer mixer = mixer_of(spec, layer);
    const bool is_again = spec.shares_layers && layer > 0;
    if (is_again) ffn.layer_type += "_again";
    b.count_parameters(!is_again);
    const auto [it, is_new] = types.try_emplace({ffn.layer_type, mixer, b.storage_class(layer)}, 0);
    if (is_new) {
      it->second = b.begin_layer_type(
          numbered(ffn.layer_type + (ffn.emit ? mixer_suffix(mixer) : ""), used_names), layer);
      emit_layer(spec, mixer, ffn, b);
    }
    b.add_layer(it->second);
  }
  b.count_parameters(true);
  end(spec, spec.hidden, b);
}

}  // namespace halmark::decoder
