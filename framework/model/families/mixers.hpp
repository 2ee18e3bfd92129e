// What a layer does between its norm and the all-reduce behind it, per kind of mixer. Every one
// leaves a partial sum per tensor-parallel rank.
#pragma once

#include <string>

#include "model/graph/builder.hpp"
#include "model/spec/config_reader.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark::mixers {

// Grouped-query attention: projections, q/k norms, rotation, cache, attention, o_proj.
void attention(const ModelSpec& spec, const LayerMixer& mixer, GraphBuilder& builder);

// Attention to mixer.outside tokens of another sequence; names begin with `prefix`.
void attention_outside(const ModelSpec& spec, const LayerMixer& mixer, const std::string& prefix,
                       GraphBuilder& builder);
// Keys and values of that sequence alone. Returns their parameters.
std::int64_t keys_outside(const ModelSpec& spec, const LayerMixer& mixer, const std::string& prefix,
                          GraphBuilder& builder);

// Gated DeltaNet, or KDA: projections, short convolution over q, k and v, delta rule, gated norm,
// out_proj.
void delta_rule(const ModelSpec& spec, GraphBuilder& builder);

// Mamba-2: in_proj, short convolution over x, B and C, state scan, gated norm, out_proj.
void state_space(const ModelSpec& spec, GraphBuilder& builder);

// The state space of a hybrid whose fields begin with `mamba_`.
void read_state_space(ConfigReader& config, ModelSpec& spec);

// Mamba: in_proj, short convolution over x, steps with B and C, selective scan, gate, out_proj.
void selective_scan(const ModelSpec& spec, GraphBuilder& builder);

// LFM2: in_proj, short convolution between two gates, out_proj.
void convolution(const ModelSpec& spec, GraphBuilder& builder);

}  // namespace halmark::mixers
