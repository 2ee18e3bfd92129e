// Which activations a training step computes again instead of keeping them.
#pragma once

#include <optional>
#include <string_view>

namespace halmark {

// selective: the attention core, scores and values. full: every layer, from its input.
enum class Recompute { none, selective, full };

std::string_view recompute_name(Recompute recompute);
std::optional<Recompute> parse_recompute(std::string_view text);

}  // namespace halmark
