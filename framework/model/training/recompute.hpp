// Which activations a training step computes again instead of keeping them.
#pragma once

#include <optional>
#include <string_view>

namespace halmark {

// selective: the attention core, scores and values (2205.05198). alternate: all of a layer but the
// outputs of attention and of every other product, the first kept (torchtitan's selective
// checkpointing by operator). full: every layer, from its input.
enum class Recompute { none, selective, alternate, full };

std::string_view recompute_name(Recompute recompute);
std::optional<Recompute> parse_recompute(std::string_view text);

}  // namespace halmark
