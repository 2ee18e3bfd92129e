// Multi-token prediction (DeepSeek-V3, 2412.19437, section 2.2): a module joins the hidden state of
// a token and the embedding of the next one, passes them through one layer of the model's kind, and
// reads logits from the model's own head. Embedding and head are shared with the model. GLM-4.5,
// MiMo-7B and Qwen3.5 have modules of the same parts.
#pragma once

#include <cstdint>
#include <optional>

#include "model/families/family.hpp"
#include "model/graph/graph.hpp"

namespace halmark::prediction {

// The layer type of one draft: one new token of every sequence of the builder's workload.
// `layer` is Family::predict.
void emit(const ModelSpec& spec, GraphBuilder& builder,
          void (*layer)(const ModelSpec& spec, GraphBuilder& builder));

// Why a step cannot draft so many tokens; nothing where it can.
std::optional<Refusal> check(const ModelSpec& spec, const Configuration& configuration,
                             const Speculation& speculation);

// Modules that the configuration states; 0 for none.
std::int64_t read_modules(const ConfigReader& config);

}  // namespace halmark::prediction
