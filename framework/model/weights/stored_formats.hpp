// The types of a GGUF file on the linears of a model that a configuration describes.
#pragma once

namespace halmark {

struct ModelSpec;
struct WeightsHeader;

// In the place of what the configuration states of its own checkpoint: the type with most bytes is
// the usual one, linears in others are told apart layer by layer.
void take_formats(const WeightsHeader& header, ModelSpec& spec);

}  // namespace halmark
