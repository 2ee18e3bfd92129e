// Which rank has what: one row per operator with weights or an exchange, as the graph splits it.
#pragma once

#include "core/json/json_type.hpp"
#include "pages/serve/composed_step.hpp"

namespace halmark::pages {

// {"rows": [{"layer", "tensor", "shape", "bits", "strategy", "count", "bytes", "bytes_per_shard",
// "owners", "collective", "collective_bytes", "reason"}], "sum", "held", "replication"}: bytes of
// all instances; `owners` ranks hold a part each. `held`: over all ranks.
Json sharding_json(const ComposedStep& step);

}  // namespace halmark::pages
