// Which rank has what: the table of simulate/sharding, layers that are alike in one row.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/state/composed_step.hpp"

namespace halmark::pages {

// {"rows": [{"layer", "tensor", "shape", "bits", "strategy", "count", "bytes", "bytes_per_shard",
// "owners", "collective", "collective_bytes", "reason"}], "sum", "held", "replication"}: bytes of
// all layers; `owners` ranks hold a part of one each. `held`: over all ranks.
Json sharding_json(const ComposedStep& step);

}  // namespace halmark::pages
