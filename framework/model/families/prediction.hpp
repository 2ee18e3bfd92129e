// Multi-token prediction (DeepSeek-V3, 2412.19437, section 2.2): a module joins the hidden state of
// a token and the embedding of the next one, passes them through one layer of the model's kind, and
// reads logits from the model's own head. Embedding and head are shared with the model. GLM-4.5,
// MiMo-7B, Qwen3.5 and Nemotron-3 have modules of the same parts, DeepSeek-V4 another join.
#pragma once

#include <cstdint>
#include <optional>

#include "model/families/family.hpp"
#include "model/graph/graph.hpp"

namespace halmark::prediction {

// The layer type of one module's pass over the builder's tokens: one of every sequence in a draft.
void emit(const ModelSpec& spec, GraphBuilder& builder, const Family& family);

// Why a step cannot draft so many tokens; nothing where it can.
std::optional<Refusal> check(const ModelSpec& spec, const Configuration& configuration,
                             const Speculation& speculation);

// Why a training step cannot predict so many tokens beyond the next; nothing where it can.
std::optional<Refusal> check_trained(const ModelSpec& spec, const Configuration& configuration,
                                     std::int64_t predicted);

// Modules that the configuration states; 0 for none.
std::int64_t read_modules(const ConfigReader& config);

}  // namespace halmark::prediction
