#include <string>
#include <utility>

#include "core/lists.hpp"
#include "model/families/mixers.hpp"

namespace halmark::mixers {

namespace {

std::int64_t number(Dtype dtype) { return as_int64(dtype); }

// The convolution's own state is the last kernel - 1 tokens.
void short_convolution(const Extent& channels, std::int64_t kernel, bool has_bias,
                       GraphBuilder& b) {
  const Dtype dtype = b.precision().activation;
  const std::string dims = shape_text({b.tokens().whole, channels.whole});
  b.op({.name = "short_convolution",
        .op = "short_convolution",
        .split = Split::head,
        .shape_in = dims,
        .shape_out = dims},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},     {"new_tokens", b.new_tokens()},
                       {"channels", channels.*side},   {"kernel", kernel},
                       {"has_bias", has_bias ? 1 : 0}, {"dtype", number(dtype)}};
       });
  const auto bytes = [&](const Size& width) { return dtype_bytes(dtype, (kernel - 1) * width); };
  b.cache({.constant_bytes = {bytes(channels.whole), bytes(channels.local)}});
}

void out_proj(const ModelSpec& spec, const Extent& columns, bool has_bias, GraphBuilder& b) {
  const Dtype dtype = b.precision().output;
  b.quantize_input("out_quantize", b.tokens(), columns, dtype, Split::column);
  b.linear({.name = "out_proj",
            .rows = b.tokens(),
            .columns_in = columns,
            .columns_out = GraphBuilder::replicated(spec.hidden),
            .split = Split::row,
            .dtype = dtype,
            .has_bias = has_bias});
}

// All that a recurrence reads of a token, out of one product.
void in_proj(const ModelSpec& spec, const Extent& columns, bool has_bias, GraphBuilder& b) {
  const Dtype dtype = b.precision().qkv;
  const Extent hidden = GraphBuilder::replicated(spec.hidden);
  b.quantize_input("in_quantize", b.tokens(), hidden, dtype, Split::replicated);
  b.linear({.name = "in_proj",
            .rows = b.tokens(),
            .columns_in = hidden,
            .columns_out = columns,
            .dtype = dtype,
            .has_bias = has_bias});
}

// A state is kept in its own type, whatever the activations are.
void keep_states(const Extent& heads, std::int64_t values_per_head, Dtype dtype, GraphBuilder& b) {
  b.cache({.constant_bytes = {dtype_bytes(dtype, heads.whole * values_per_head),
                              dtype_bytes(dtype, heads.local * values_per_head)}});
}

}  // namespace

namespace {

void from_hidden(std::string name, const Extent& columns, Split split, Dtype dtype,
                 const ModelSpec& spec, GraphBuilder& b) {
  b.linear({.name = std::move(name),
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(spec.hidden),
            .columns_out = columns,
            .split = split,
            .dtype = dtype});
}

// q, k, v and the gate of the output; the two scalars per head decide more than they cost.
void gated_delta_projections(const ModelSpec& spec, const Extent& heads, const Extent& keys,
                             const Extent& values, GraphBuilder& b) {
  const Dtype dtype = b.precision().qkv;
  b.quantize_input("qkvz_quantize", b.tokens(), GraphBuilder::replicated(spec.hidden), dtype,
                   Split::replicated);
  from_hidden("qkvz_proj", keys * 2 + values * 2, Split::column, dtype, spec, b);
  from_hidden("ba_proj", heads * 2, Split::column, b.precision().activation, spec, b);
}

// q, k and v, a scalar per head, and through low ranks a decay per key channel and the gate of the
// output. Every rank has both low ranks whole.
void channel_decay_projections(const ModelSpec& spec, const Extent& heads, const Extent& keys,
                               const Extent& values, GraphBuilder& b) {
  const std::int64_t rank = spec.delta_rule->gate_rank;
  const Dtype dtype = b.precision().qkv, narrow = b.precision().activation;
  b.quantize_input("qkv_quantize", b.tokens(), GraphBuilder::replicated(spec.hidden), dtype,
                   Split::replicated);
  from_hidden("qkv_proj", keys * 2 + values, Split::column, dtype, spec, b);
  from_hidden("beta_proj", heads, Split::column, narrow, spec, b);
  const bool is_full = spec.delta_rule->has_full_gate;
  from_hidden("gates_down_proj", GraphBuilder::replicated((is_full ? 1 : 2) * rank),
              Split::replicated, narrow, spec, b);
  const auto up = [&](const char* name, const Extent& columns) {
    b.linear({.name = name,
              .rows = b.tokens(),
              .columns_in = GraphBuilder::replicated(rank),
              .columns_out = columns,
              .dtype = narrow});
  };
  up("decay_up_proj", keys);
  if (is_full) return from_hidden("output_gate_proj", values, Split::column, dtype, spec, b);
  up("output_gate_up_proj", values);
}

}  // namespace

void delta_rule(const ModelSpec& spec, GraphBuilder& b) {
  const DeltaRuleSpec& delta = *spec.delta_rule;
  const bool is_per_channel = delta.gate_rank > 0;
  const Extent key_heads = b.split_by_tp(delta.key_heads);
  const Extent heads = b.split_by_tp(delta.value_heads);
  const Extent keys = key_heads * delta.key_dim;
  const Extent values = heads * delta.value_dim;
  (is_per_channel ? channel_decay_projections : gated_delta_projections)(spec, heads, keys, values,
                                                                         b);
  short_convolution(keys * 2 + values, delta.kernel, false, b);
  b.op({.name = "delta_rule",
        .op = "delta_rule",
        .kind = OperatorKind::attention,
        .split = Split::head,
        .shape_in = shape_text({b.tokens().whole, 2 * keys.whole + values.whole}),
        .shape_out = shape_text({b.tokens().whole, values.whole})},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},
                       {"new_tokens", b.new_tokens()},
                       {"key_heads", key_heads.*side},
                       {"key_dim", delta.key_dim},
                       {"value_heads", heads.*side},
                       {"value_dim", delta.value_dim},
                       {"src_dtype", number(b.precision().activation)},
                       {"dst_dtype", number(b.precision().activation)},
                       {"state_dtype", number(delta.state_dtype)},
                       {"channel_decay", is_per_channel ? 1 : 0},
                       {"chunk", side == &Extent::local ? b.form().delta_chunk : 0}};
       });
  keep_states(heads, delta.key_dim * delta.value_dim, delta.state_dtype, b);
  b.norm({.name = "delta_norm",
          .rows = b.tokens() * heads,
          .columns = GraphBuilder::replicated(delta.value_dim),
          .split = Split::head});
  out_proj(spec, values, false, b);
}

void read_state_space(ConfigReader& config, ModelSpec& spec) {
  StateSpaceSpec& ssm = spec.state_space.emplace();
  ssm.heads = config.required_size("mamba_n_heads");
  const std::int64_t width =
      config.size("mamba_d_ssm").value_or(config.size_or("mamba_expand", 2) * spec.hidden);
  if (width % ssm.heads != 0) {
    config.refuse("mamba_n_heads", "is " + std::to_string(ssm.heads) +
                                       ", which does not divide the width " +
                                       std::to_string(width));
  }
  config.ignore({"mamba_expand"});
  ssm.head_dim = width / ssm.heads;
  const bool is_stated = config.has("mamba_d_head") && !config.is_text("mamba_d_head", "auto");
  if (is_stated && config.size("mamba_d_head") != ssm.head_dim) {
    config.refuse("mamba_d_head", "x mamba_n_heads is not the width " + std::to_string(width));
  }
  ssm.state_dim = config.required_size("mamba_d_state");
  ssm.groups = config.size_or("mamba_n_groups", 1);
  if (ssm.heads % ssm.groups != 0) {
    config.refuse("mamba_n_groups", "is " + std::to_string(ssm.groups) +
                                        ", which does not divide mamba_n_heads " +
                                        std::to_string(ssm.heads));
  }
  ssm.kernel = config.required_size("mamba_d_conv");
  ssm.has_kernel_bias = config.flag("mamba_conv_bias").value_or(true);
  ssm.has_linear_bias = config.flag("mamba_proj_bias").value_or(false);
}

namespace {

void scan(const StateSpaceSpec& ssm, const Extent& heads, const Extent& groups,
          const Extent& inputs, GraphBuilder& b) {
  const Extent values = heads * ssm.head_dim;
  b.op({.name = "state_scan",
        .op = "state_scan",
        .kind = OperatorKind::attention,
        .split = Split::head,
        .shape_in = shape_text({b.tokens().whole, inputs.whole}),
        .shape_out = shape_text({b.tokens().whole, values.whole}),
        .has_parameters = !ssm.is_linear_attention},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},
                       {"new_tokens", b.new_tokens()},
                       {"heads", heads.*side},
                       {"head_dim", ssm.head_dim},
                       {"state_dim", ssm.state_dim},
                       {"groups", groups.*side},
                       {"src_dtype", number(b.precision().activation)},
                       {"dst_dtype", number(b.precision().activation)},
                       {"state_dtype", number(ssm.state_dtype)}};
       });
  keep_states(heads, ssm.head_dim * ssm.state_dim, ssm.state_dtype, b);
}

void linear_attention(const ModelSpec& spec, GraphBuilder& b) {
  const StateSpaceSpec& ssm = *spec.state_space;
  const Dtype dtype = b.precision().qkv;
  const Extent heads = b.split_by_tp(ssm.heads), values = heads * ssm.head_dim;
  b.quantize_input("qkv_quantize", b.tokens(), GraphBuilder::replicated(spec.hidden), dtype,
                   Split::replicated);
  from_hidden("qkv_proj", values * 3, Split::column, dtype, spec, b);
  from_hidden("output_gate_proj", values, Split::column, dtype, spec, b);
  scan(ssm, heads, heads, values * 3, b);
  b.norm({.name = "scan_norm", .rows = b.tokens(), .columns = values, .split = Split::head});
  b.all_reduce("scan_norm_all_reduce", 1);
  out_proj(spec, values, false, b);
}

}  // namespace

void state_space(const ModelSpec& spec, GraphBuilder& b) {
  if (spec.state_space->is_linear_attention) return linear_attention(spec, b);
  const StateSpaceSpec& ssm = *spec.state_space;
  const Extent heads = b.split_by_tp(ssm.heads);
  const Extent groups = b.split_kv_heads(ssm.groups);  // like KV heads: replicated beyond them
  const Extent values = heads * ssm.head_dim;
  const Extent convolved = values + groups * (2 * ssm.state_dim);

  // z, x, B, C and one step per head.
  in_proj(spec, values + convolved + heads, ssm.has_linear_bias, b);
  short_convolution(convolved, ssm.kernel, ssm.has_kernel_bias, b);
  scan(ssm, heads, groups, convolved, b);
  // Normalised group by group, so that a split by groups needs no sum over ranks.
  if (ssm.has_norm) {
    b.norm({.name = "scan_norm", .rows = b.tokens(), .columns = values, .split = Split::head});
  } else {
    b.gated_activation("scan_gate", values, spec.gate);
  }
  out_proj(spec, values, ssm.has_linear_bias, b);
}

namespace {

// Two gates out of blocks of channels, a decay per channel, and a gate on what comes out.
void recurrence(const ConvolutionSpec& conv, const Extent& channels, GraphBuilder& b) {
  b.linear({.name = "gates_proj",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(conv.recurrent / conv.blocks),
            .columns_out = channels * 2,
            .dtype = b.precision().activation,
            .has_bias = true});
  b.activation("recurrence", channels, ActivationKind::silu, conv.recurrent);
  keep_states(channels, 1, Dtype::f32, b);
  b.gated_activation("recurrence_gate", channels, GateKind::gelu_tanh);
}

}  // namespace

// Both gates ride on their neighbours: one product in front of the convolution, one behind it. A
// recurrence has one gate, an operator of its own.
void convolution(const ModelSpec& spec, GraphBuilder& b) {
  const ConvolutionSpec& conv = *spec.convolution;
  const bool recurs = conv.recurrent > 0;
  const Extent channels = b.split_by_tp(recurs ? conv.recurrent : spec.hidden);
  in_proj(spec, channels * (recurs ? 2 : 3), conv.has_bias, b);
  short_convolution(channels, conv.kernel, conv.has_bias, b);
  if (recurs) recurrence(conv, channels, b);
  out_proj(spec, channels, conv.has_bias, b);
}

namespace {

// Steps, B and C out of one product over the channels of all ranks, and a step per channel.
void scan_inputs(const SelectiveScanSpec& scan, const Extent& channels, GraphBuilder& b) {
  const Dtype narrow = b.precision().activation;
  b.linear({.name = "x_proj",
            .rows = b.tokens(),
            .columns_in = channels,
            .columns_out = GraphBuilder::replicated(scan.narrow_width()),
            .split = Split::row,
            .dtype = narrow});
  b.all_reduce("scan_all_reduce", scan.narrow_width());
  if (scan.has_inner_norms) {
    b.rmsnorm("step_norm", b.tokens(), scan.step_rank, Split::replicated);
    b.rmsnorm("b_norm", b.tokens(), scan.state_dim, Split::replicated);
    b.rmsnorm("c_norm", b.tokens(), scan.state_dim, Split::replicated);
  }
  b.linear({.name = "dt_proj",
            .rows = b.tokens(),
            .columns_in = GraphBuilder::replicated(scan.step_rank),
            .columns_out = channels,
            .dtype = narrow,
            .has_bias = true});
}

}  // namespace

void selective_scan(const ModelSpec& spec, GraphBuilder& b) {
  const SelectiveScanSpec& scan = *spec.selective_scan;
  const Extent channels = b.split_by_tp(scan.channels);
  in_proj(spec, channels * 2, scan.has_linear_bias, b);  // x and its gate
  short_convolution(channels, scan.kernel, scan.has_kernel_bias, b);
  scan_inputs(scan, channels, b);
  const std::string dims = shape_text({b.tokens().whole, channels.whole});
  b.op({.name = "selective_scan",
        .op = "selective_scan",
        .kind = OperatorKind::attention,
        .split = Split::head,
        .shape_in = dims,
        .shape_out = dims},
       [&](Side side) {
         return Sizing{{"batch", b.batch().*side},
                       {"new_tokens", b.new_tokens()},
                       {"channels", channels.*side},
                       {"state_dim", scan.state_dim},
                       {"src_dtype", number(b.precision().activation)},
                       {"dst_dtype", number(b.precision().activation)},
                       {"state_dtype", number(scan.state_dtype)}};
       });
  keep_states(channels, scan.state_dim, scan.state_dtype, b);
  b.gated_activation("scan_gate", channels, spec.gate);
  out_proj(spec, channels, scan.has_linear_bias, b);
}

}  // namespace halmark::mixers
