// A model's architecture as a GGUF file with random weights.
#pragma once

#include <string>

#include "deploy/engine/gguf.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark::deploy {

// What of the model no file of random weights is written for; "" = every operator is.
std::string unwritten(const ModelSpec& spec);

// Dense decoders of gated networks behind RMS norms, with or without norms of queries and keys and
// biases of their projections: what llama.cpp calls llama, qwen2 and qwen3. `longest`: tokens of a
// sequence that will be asked of it. Throws Error (exit 2) for other architectures, naming what
// they have, and for rows that are no whole blocks of the type.
GgufFile random_checkpoint(const ModelSpec& spec, GgufType type, std::int64_t longest);

}  // namespace halmark::deploy
