// A plan of shards as a document, all rows in it.
#pragma once

#include "core/json/json_type.hpp"
#include "simulate/sharding/plan_answer.hpp"

namespace halmark::simulate {

// {"model", "device", "fabric", "chosen", "layouts", "grouped", "refused", "winner", "calibration",
// "table": {"rows", "tensor_bytes", "held_bytes", ...}, "placement", "offload", "executable", ...}.
Json plan_json(const PlanAnswer& answer);
Json shard_table_json(const ShardTable& table, const std::vector<std::string>& owners);

}  // namespace halmark::simulate
