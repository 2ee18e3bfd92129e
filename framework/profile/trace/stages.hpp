// Prefill or decode: from what annotations say, else from the lengths that attention was given.
#pragma once

#include <optional>
#include <string_view>

#include "profile/trace/attribution.hpp"

namespace halmark::trace {

// "execute_context_1(512)_generation_7(7)" -> mixed; nothing for a name that speaks of no stage.
std::optional<TraceStage> stage_of_annotation(std::string_view name);

// N of "ProfilerStep#N".
std::optional<std::int64_t> step_of_annotation(std::string_view name);

// Fills the stage of every pass that no annotation named.
void find_stages(Attribution& attribution);

}  // namespace halmark::trace
