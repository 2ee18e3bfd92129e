#include "simulate/sharding/plan_json.hpp"

#include "core/json/json.hpp"

namespace halmark::simulate {
namespace {

Json layout_json(const PlannedLayout& layout) {
  return {{"key", layout.configuration.key()},
          {"parallel", layout.configuration.parallel},
          {"step_ns", layout.cost.ns()},
          {"alone_ns", layout.cost.alone_ns},
          {"compute_ns", layout.cost.step.compute_ns},
          {"communication_ns", layout.cost.step.communication_ns},
          {"stage_ns", layout.cost.stage_ns},
          {"bytes_per_shard", layout.largest.total()},
          {"weight_bytes", layout.largest.weight_bytes},
          {"kv_bytes", layout.largest.kv_bytes},
          {"activation_bytes", layout.largest.activation_bytes},
          {"fits", layout.fits},
          {"measured_ns", optional_number(layout.measured_ns)}};
}

Json row_json(const ShardRow& row, const std::vector<std::string>& owners) {
  Json also = json_list(row.also, strategy_name);
  return {{"layer", row.layer < 0 ? Json(nullptr) : Json(row.layer)},
          {"layer_type", row.layer_type},
          {"stage", row.stage},
          {"tensor", row.tensor},
          {"shape", row.shape},
          {"shard_shape", row.shard_shape},
          {"dtype", dtype_name(row.dtype)},
          {"strategy", strategy_name(row.strategy)},
          {"also", std::move(also)},
          {"bytes", row.bytes},
          {"bytes_per_shard", row.shard_bytes},
          {"owners", owners.at(row.stage)},
          {"owner_count", row.owners},
          {"replication", row.replication()},
          {"collective", row.collective},
          {"collective_bytes_per_step", row.collective_bytes},
          {"reason", row.reason}};
}

Json calibration_json(const Calibration& c) {
  return {{"pairs", c.pairs},
          {"factor", c.factor},
          {"interval", c.interval ? Json(*c.interval) : Json(nullptr)},
          {"is_applied", c.is_applied()}};
}

Json offload_json(const PlanAnswer& answer) {
  if (!answer.offload) return nullptr;
  Json items = json_list(answer.offloaded, [](const OffloadedItem& item) -> Json {
    return {{"tensor", item.name}, {"bytes", item.bytes}, {"ns", item.ns}};
  });
  return {{"tier", answer.offload->tier},
          {"bytes", answer.offload->bytes},
          {"ns", answer.offload->ns},
          {"items", std::move(items)}};
}

}  // namespace

Json shard_table_json(const ShardTable& table, const std::vector<std::string>& owners) {
  Json rows = json_list(table.rows, [&](const ShardRow& row) { return row_json(row, owners); });
  return {{"shards", table.shards},
          {"tensor_bytes", table.tensor_bytes},
          {"held_bytes", table.held_bytes},
          {"padding_bytes", table.padding_bytes},
          {"replication", table.replication()},
          {"collective_bytes_per_step", table.collective_bytes},
          {"hand_over_bytes_per_step", table.hand_over_bytes},
          {"rows", std::move(rows)}};
}

Json plan_json(const PlanAnswer& answer) {
  Json layouts = json_list(answer.plan.layouts, layout_json);
  const auto& grouped = answer.plan.grouped;
  const auto& winner = answer.plan.winner;
  Json out = {{"model", answer.model},
              {"device", answer.device},
              {"fabric", answer.fabric.empty() ? Json(nullptr) : Json(answer.fabric)},
              {"times_from", answer.basis},
              {"shards", answer.question.shards},
              {"configuration", answer.plan.chosen()->configuration},
              {"step_ns", answer.step_ns()},
              {"tokens_per_s", answer.tokens_per_s()},
              {"layouts", std::move(layouts)},
              {"tried", answer.plan.tried},
              {"refused", answer.plan.refused},
              {"planning_s", answer.planning_s},
              {"table", shard_table_json(answer.table, answer.owners)},
              {"offload", offload_json(answer)},
              {"executable", answer.not_executable.empty()},
              {"not_executable", answer.not_executable},
              {"command", answer.command},
              {"command_ns", answer.command_ns}};
  out["grouped"] = grouped ? Json{{"configuration", grouped->configuration},
                                  {"step_ns", grouped->ns},
                                  {"bytes_per_shard", grouped->bytes},
                                  {"executable", false}}
                           : Json(nullptr);
  out["winner"] = nullptr;
  if (winner) {
    out["winner"] = {{"key", winner->first},
                     {"measured_ns", winner->second},
                     {"choice_is_slower_by", optional_number(answer.plan.slower_than_winner())}};
  }
  out["overruled"] = answer.plan.overruled ? layout_json(*answer.plan.overruled) : Json(nullptr);
  out["calibration"] =
      answer.reads_journal
          ? Json{{"compute", calibration_json(answer.calibration.compute)},
                 {"communication", calibration_json(answer.calibration.communication)},
                 {"before", answer.before ? layout_json(*answer.before) : Json()}}
          : Json(nullptr);
  out["placement"] = answer.placement ? Json{{"shards", answer.places},
                                             {"tensor_groups", answer.placement->groups},
                                             {"in_one_numa_domain", answer.placement->in_domain}}
                                      : Json(nullptr);
  return out;
}

}  // namespace halmark::simulate
