#include "simulate/sharding/shard_strategies.hpp"

#include <algorithm>

#include "model/graph/expert_layout.hpp"

namespace halmark::simulate {
namespace {

std::optional<ShardStrategy> split_strategy(const Operator& op) {
  switch (op.split) {
    case Split::column:
    case Split::head:
      return ShardStrategy::tensor_column;
    case Split::row:
      return ShardStrategy::tensor_row;
    case Split::vocab:
      return ShardStrategy::vocab;
    case Split::expert:
      return ShardStrategy::expert;
    case Split::replicated:
    case Split::pipeline:
    case Split::data:
    case Split::context:
      return std::nullopt;
  }
  return std::nullopt;
}

ShardStrategy of_zero(int stage) {
  return stage == 1   ? ShardStrategy::zero1
         : stage == 2 ? ShardStrategy::zero2
                      : ShardStrategy::zero3;
}

}  // namespace

std::string_view strategy_name(ShardStrategy strategy) {
  switch (strategy) {
    case ShardStrategy::replicate:
      return "replicate";
    case ShardStrategy::pipeline:
      return "pipeline";
    case ShardStrategy::tensor_column:
      return "tensor_column";
    case ShardStrategy::tensor_row:
      return "tensor_row";
    case ShardStrategy::vocab:
      return "vocab";
    case ShardStrategy::expert:
      return "expert";
    case ShardStrategy::data:
      return "data";
    case ShardStrategy::zero1:
      return "zero1";
    case ShardStrategy::zero2:
      return "zero2";
    case ShardStrategy::zero3:
      return "zero3";
    case ShardStrategy::sequence:
      return "sequence";
    case ShardStrategy::context:
      return "context";
  }
  return "replicate";
}

std::optional<std::string> misfit(const Operator& op, ShardStrategy strategy) {
  const bool is_table = op.kind == OperatorKind::embedding || op.kind == OperatorKind::head;
  switch (strategy) {
    case ShardStrategy::expert:
      if (op.kind == OperatorKind::experts || op.split == Split::expert) return std::nullopt;
      return op.name + " is no expert";
    case ShardStrategy::vocab:
      if (is_table) return std::nullopt;
      return op.name + " has no vocabulary";
    case ShardStrategy::pipeline:
      if (op.kind != OperatorKind::norm) return std::nullopt;
      return op.name + " is a norm: it goes with the products of its layer";
    case ShardStrategy::sequence:
      if (op.kind == OperatorKind::norm || op.kind == OperatorKind::elementwise) {
        return std::nullopt;
      }
      return op.name + " works on whole sequences";
    case ShardStrategy::replicate:
    case ShardStrategy::tensor_column:
    case ShardStrategy::tensor_row:
    case ShardStrategy::data:
    case ShardStrategy::zero1:
    case ShardStrategy::zero2:
    case ShardStrategy::zero3:
    case ShardStrategy::context:
      return std::nullopt;
  }
  return std::nullopt;
}

std::int64_t copies_of(const ShardContext& c, const Operator& op) {
  const std::int64_t cp = c.parallel.cp;
  if (op.split != Split::expert) return cp * c.parallel.dp;
  return cp * std::max(1, c.parallel.dp / expert_layout(c.parallel).across_replicas);
}

std::vector<ShardStrategy> strategies_of(const ShardContext& c, const Operator& op, bool is_split) {
  std::vector<ShardStrategy> out;
  const auto add = [&](bool holds, ShardStrategy strategy) {
    if (holds && !misfit(op, strategy)) out.push_back(strategy);
  };
  const auto by_split = split_strategy(op);
  // Heads that are fewer than ranks are copied: the split is of the layer, and not of this tensor.
  if (by_split) add(is_split, *by_split);
  const bool is_trained = c.plan != nullptr;
  const std::int64_t copies = copies_of(c, op);
  add(is_trained && c.plan->zero > 0 && copies > 1, of_zero(is_trained ? c.plan->zero : 1));
  add(is_trained && c.plan->sequence_parallel && c.parallel.tp > 1, ShardStrategy::sequence);
  add(c.parallel.pp > 1, ShardStrategy::pipeline);
  add(c.parallel.cp > 1, ShardStrategy::context);
  add(copies / c.parallel.cp > 1, ShardStrategy::data);
  if (out.empty()) out.push_back(ShardStrategy::replicate);
  return out;
}

std::string reason_of(const ShardContext& c, const Operator& op, ShardStrategy strategy) {
  const auto over = [](const char* what, std::int64_t n) {
    return std::string(what) + " over " + std::to_string(n);
  };
  const std::int64_t tp = c.parallel.tp;
  switch (strategy) {
    case ShardStrategy::replicate:
      if (c.parallel.devices() == 1) return "one shard";
      return op.kind == OperatorKind::norm ? "a norm needs whole rows" : "small, or read by all";
    case ShardStrategy::pipeline:
      return "its stage alone reads it";
    case ShardStrategy::tensor_column:
      return over(op.split == Split::head ? "heads" : "outputs", tp) + ", no exchange before";
    case ShardStrategy::tensor_row:
      return over("inputs", tp) + " follow the columns before";
    case ShardStrategy::vocab:
      return over("the table", tp);
    case ShardStrategy::expert:
      return over("experts", c.parallel.ep);
    case ShardStrategy::data:
      return over("sequences", c.parallel.dp);
    case ShardStrategy::context:
      return over("tokens", c.parallel.cp);
    case ShardStrategy::sequence:
      return over("tokens between products", tp);
    case ShardStrategy::zero1:
      return over("optimizer states", copies_of(c, op));
    case ShardStrategy::zero2:
      return over("states and gradients", copies_of(c, op));
    case ShardStrategy::zero3:
      return over("weights and states", copies_of(c, op));
  }
  return {};
}

}  // namespace halmark::simulate
