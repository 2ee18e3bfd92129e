// A priced step under the keys of the MFU simulator whose users move here ("Model Compute
// Simulator", --format json), for `halmark model --json-schema reference`.
#pragma once

#include "core/json/json_type.hpp"
#include "model/step/priced_step.hpp"

namespace halmark {

// The keys and their nesting are that tool's; every figure is ours, by the conventions of this
// step, so values differ where the tool's counts do (an embedding as a product, no heads, even
// splits). null where a figure does not exist. Units: FLOPs of the whole batch, ms, us, percent.
Json reference_json(const PricedStep& step);

}  // namespace halmark
