// The decoder with multi-head latent attention (DeepSeek-V2, 2405.04434), with or without the
// sparse indexer of DeepSeek-V3.2, and with layers of the delta rule between those of attention
// (Kimi Linear). Decode scores against the cached latent rows (absorbed form),
// prefill expands them to heads (explicit form). Feed-forward networks are those of moe.hpp.
#pragma once

#include <initializer_list>
#include <string_view>

#include "model/families/moe.hpp"

namespace halmark::latent {

// Sizes, ranks and experts. `known` lists fields that change the cost and that the family reads
// itself, beside those of latent attention.
void read(ConfigReader& config, ModelSpec& spec, std::initializer_list<std::string_view> known);

// Experts and which layers have them.
void read_networks(ConfigReader& config, ModelSpec& spec);

// Sizes and ranks alone, for decoders without experts.
void read_attention(ConfigReader& config, ModelSpec& spec);

// How the router scores, from `scoring_func` and `norm_topk_prob`.
void read_scoring(ConfigReader& config, ExpertSpec& experts);

void build(const ModelSpec& spec, GraphBuilder& builder);

// Family::predict: a layer like the last one.
void predict(const ModelSpec& spec, GraphBuilder& builder);

}  // namespace halmark::latent
