// RWKV-4 (2305.13048): a decaying average of values, weighed by keys, in the place of attention,
// and a network whose output a product of the token gates. Both mix each token with the one before
// it.

#include "core/numeric/cast.hpp"
#include "model/families/dense.hpp"

namespace halmark {

namespace {

constexpr std::int64_t kept_rows = 5;  // of a sequence and layer: two last tokens, three sums

std::int64_t number(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

void read_rwkv(ConfigReader& config, ModelSpec& spec) {
  config.also_named("max_position_embeddings", "context_length");
  decoder::read_outline(config, spec);
  spec.max_position.reset();  // it is what the model was trained with
  spec.norm = NormKind::layer;
  spec.embedding_norm = true;
  config.set_default("intermediate_size", 4 * spec.hidden);
  dense::read_width(config, spec);
  // Channels of the average, by the name of the other recurrences.
  spec.selective_scan = SelectiveScanSpec{
      .channels = config.size("attention_hidden_size").value_or(spec.hidden), .state_dim = 1};
  spec.mixers.assign(as_size(spec.layers), {.kind = Mixer::none});
  spec.unconfirmed.push_back("a decaying average (RWKV), priced as a scan of one value a channel");
  config.ignore({"rescale_every", "attention_hidden_size"});
}

void product(const char* name, const Extent& in, const Extent& out, Split split, GraphBuilder& b) {
  const Dtype dtype = split == Split::row ? b.precision().output : b.precision().qkv;
  b.linear({.name = name,
            .rows = b.tokens(),
            .columns_in = in,
            .columns_out = out,
            .split = split,
            .dtype = dtype});
}

void norm_rwkv(const ModelSpec& spec, const char* name, GraphBuilder& b) {
  b.norm({.name = name,
          .rows = b.tokens(),
          .columns = GraphBuilder::replicated(spec.hidden),
          .kind = spec.norm});
}

void average(const ModelSpec& spec, GraphBuilder& b) {
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  const Extent channels = b.split_by_tp(spec.selective_scan->channels);
  norm_rwkv(spec, "input_norm", b);
  b.hold("time_mix", 3 * spec.hidden + 2 * spec.selective_scan->channels);
  product("kvr_proj", hidden, channels * 3, Split::column, b);
  const std::string dims = shape_text({b.tokens().whole, channels.whole});
  b.op({.name = "average",
        .op = "selective_scan",
        .kind = OperatorKind::attention,
        .split = Split::head,
        .shape_in = dims,
        .shape_out = dims,
        .has_parameters = false},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},
                       {"new_tokens", b.new_tokens()},
                       {"channels", channels.*side},
                       {"state_dim", 1},
                       {"src_dtype", number(b.precision().activation)},
                       {"dst_dtype", number(b.precision().activation)},
                       {"state_dtype", number(Dtype::f32)}};
       });
  b.cache({.constant_bytes = {dtype_bytes(Dtype::f32, kept_rows * channels.whole),
                              dtype_bytes(Dtype::f32, kept_rows * channels.local)}});
  product("out_proj", channels, hidden, Split::row, b);
  b.all_reduce("attention_all_reduce", spec.hidden);
  b.residual_add("attention_residual_add", spec.hidden);
}

void network(const ModelSpec& spec, GraphBuilder& b) {
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  const Extent width = b.split_by_tp(spec.intermediate);
  b.hold("channel_mix", 2 * spec.hidden);
  product("receptance_proj", hidden, hidden, Split::replicated, b);
  product("key_proj", hidden, width, Split::column, b);
  b.activation("activation", width, ActivationKind::relu_squared);
  product("value_proj", width, hidden, Split::row, b);
}

decoder::FeedForward choose_rwkv(const ModelSpec&, std::int64_t) {
  decoder::FeedForward out{"rwkv", network};
  out.before = average;
  return out;
}

void build_rwkv(const ModelSpec& spec, GraphBuilder& b) { decoder::build(spec, b, choose_rwkv); }

}  // namespace

extern const Family rwkv_family = {"rwkv", {"rwkv"}, &read_rwkv, &build_rwkv};

}  // namespace halmark
