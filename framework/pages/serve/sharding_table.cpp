#include "pages/serve/sharding_table.hpp"

#include <algorithm>

#include "core/json/json.hpp"

namespace halmark::pages {
namespace {

// "tensor_column" and the like: the words of sharding tables.
std::string strategy_of(const Operator& op, const Parallel& parallel) {
  switch (op.split) {
    case Split::column:
    case Split::head:
      return parallel.tp > 1 ? "tensor_column" : "replicate";
    case Split::row:
      return parallel.tp > 1 ? "tensor_row" : "replicate";
    case Split::vocab:
      return parallel.tp > 1 ? "vocab" : "replicate";
    case Split::expert:
      return parallel.ep > 1 ? "expert" : "replicate";
    case Split::context:
      return "context";
    case Split::pipeline:
      return "pipeline";
    case Split::data:
      return "data";
    case Split::replicated:
      break;
  }
  return "replicate";
}

std::string reason_of(const std::string& strategy, const Parallel& p) {
  if (strategy == "tensor_column") {
    return "outputs are cut over tp " + std::to_string(p.tp) +
           ": no exchange before the next row cut";
  }
  if (strategy == "tensor_row") {
    return "inputs are cut over tp " + std::to_string(p.tp) +
           ": partial sums meet in an all-reduce";
  }
  if (strategy == "vocab") return "the vocabulary is cut over tp " + std::to_string(p.tp);
  if (strategy == "expert") return "whole experts on ep " + std::to_string(p.ep) + " ranks";
  return p.devices() == 1 ? "one device holds everything" : "every rank needs all of it";
}

// The exchange that follows an operator in its layer before the next one with weights.
const Operator* exchange_behind(const OperatorGraph& graph, std::size_t index) {
  for (std::size_t i = index + 1; i < graph.operators.size(); ++i) {
    const Operator& next = graph.operators[i];
    if (next.layer_type != graph.operators[index].layer_type) return nullptr;
    if (next.kind == OperatorKind::collective) return &next;
    if (next.weight_bytes_whole > 0 && next.kind != OperatorKind::norm) return nullptr;
  }
  return nullptr;
}

// Of one weight as it is stored, scales counted.
double bits_of(const Operator& op) {
  return op.parameters > 0
             ? static_cast<double>(op.weight_bytes_whole) * 8 / static_cast<double>(op.parameters)
             : 0;
}

double instances_on_all(const Operator& op) {
  double out = 0;
  for (const std::int64_t count : op.stage_counts) out += static_cast<double>(count);
  return out;
}

}  // namespace

Json sharding_json(const ComposedStep& step) {
  const OperatorGraph& graph = step.graph;
  const Parallel& p = graph.configuration.parallel;
  const double of_stage = static_cast<double>(p.devices()) / p.pp;
  Json rows = Json::array();
  double sum = 0, held = 0;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const Operator& op = graph.operators[i];
    if (op.weight_bytes_whole <= 0) continue;
    const double instances = static_cast<double>(op.count);
    const std::string strategy = strategy_of(op, p);
    const Operator* exchange = exchange_behind(graph, i);
    Json row = {{"layer", op.layer_type},
                {"tensor", op.name},
                {"shape", op.shape_in + " -> " + op.shape_out},
                {"bits", bits_of(op)},
                {"strategy", strategy},
                {"count", op.count},
                {"bytes", static_cast<double>(op.weight_bytes_whole) * instances},
                {"bytes_per_shard", op.weight_bytes_local},
                {"owners", of_stage},
                {"reason", reason_of(strategy, p)}};
    if (exchange != nullptr) {
      row["collective"] = exchange->local.op;
      row["collective_bytes"] = exchange->local_work.message_bytes;
    }
    sum += static_cast<double>(op.weight_bytes_whole) * instances;
    held += static_cast<double>(op.weight_bytes_local) * instances_on_all(op) * of_stage;
    rows.push_back(std::move(row));
  }
  return {{"rows", std::move(rows)},
          {"sum", sum},
          {"held", held},
          {"replication", sum > 0 ? held / sum : 1}};
}

}  // namespace halmark::pages
