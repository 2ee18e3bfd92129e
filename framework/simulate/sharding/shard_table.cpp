// Rows come in the order in which a stage executes; a collective belongs to the last tensor before
// it, because the split of that one is what it repairs.
#include "simulate/sharding/shard_table.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "model/graph/expert_layout.hpp"
#include "model/graph/rank_places.hpp"
#include "model/pricing/memory.hpp"
#include "simulate/sharding/tensors.hpp"

namespace halmark::simulate {
namespace {

struct Context {
  const OperatorGraph& graph;
  const TrainingPlan* plan;
  const Parallel& parallel;
};

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

// Ranks with the same part of the tensor, of those that work on different tokens.
std::int64_t copies_of(const Context& c, const Operator& op) {
  const std::int64_t cp = c.parallel.cp;
  if (op.split != Split::expert) return cp * c.parallel.dp;
  return cp * std::max(1, c.parallel.dp / expert_layout(c.parallel).across_replicas);
}

// All that holds of a tensor, the one that its size follows from first.
std::vector<ShardStrategy> strategies_of(const Context& c, const Operator& op, bool is_split) {
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

std::string reason_of(const Context& c, const Operator& op, ShardStrategy strategy) {
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

std::int64_t elements_of(const ShardRow& row) {
  return std::accumulate(row.shard_shape.begin(), row.shard_shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

void place(const Context& c, const Operator& op, ShardRow& row) {
  const bool is_split = row.shard_bytes < row.bytes;
  std::vector<ShardStrategy> all = strategies_of(c, op, is_split);
  row.strategy = all.front();
  row.also.assign(all.begin() + 1, all.end());
  row.reason = reason_of(c, op, row.strategy);
  row.owners = c.parallel.devices() / c.parallel.pp;
  if (op.split == Split::vocab) {
    row.padding_bytes = row.held_bytes() - row.owners / c.parallel.tp * row.bytes;
  }
  if (std::ranges::find(all, ShardStrategy::zero3) == all.end()) return;
  // As in the memory of training: bytes that do not divide are rounded up.
  const std::int64_t copies = copies_of(c, op), before = row.held_bytes() / copies;
  row.shard_shape = {(elements_of(row) + copies - 1) / copies};
  row.shard_bytes = dtype_bytes(row.dtype, row.shard_shape.front());
  row.padding_bytes = row.padding_bytes / copies + row.held_bytes() - before;
}

// What data-parallel ranks exchange of a tensor's gradient once a step.
void add_gradients(const Context& c, const Operator& op, ShardRow& row) {
  if (c.plan == nullptr || copies_of(c, op) <= 1 || c.plan->lora_rank > 0) return;
  const bool is_shared_out = row.strategy == ShardStrategy::zero3;
  const std::int64_t elements = elements_of(row) * (is_shared_out ? copies_of(c, op) : 1);
  const auto bytes = static_cast<double>(dtype_bytes(c.plan->gradient, elements));
  row.collective += std::string(row.collective.empty() ? "" : " + ") +
                    (c.plan->zero == 0 ? "all_reduce of gradients" : "reduce_scatter, all_gather");
  row.collective_bytes += c.plan->zero == 0 ? bytes : 2 * bytes;
}

class Writer {
 public:
  explicit Writer(const Context& context) : c_(context) {}

  ShardTable write() {
    table_.shards = c_.parallel.devices();
    for (std::size_t s = 0; s < c_.graph.stages.size(); ++s) write_stage(s);
    for (ShardRow& row : table_.rows) {
      table_.tensor_bytes += row.bytes;
      table_.held_bytes += row.held_bytes();
      table_.padding_bytes += row.padding_bytes;
      table_.collective_bytes += row.collective_bytes;
    }
    return std::move(table_);
  }

 private:
  void write_stage(std::size_t s) {
    const Stage& stage = c_.graph.stages[s];
    first_of_stage_ = table_.rows.size();
    waiting_bytes_ = 0;
    if (c_.parallel.pp > 1) table_.hand_over_bytes.push_back(0);
    std::int64_t layer = stage.first_layer, modules = 0;
    const std::int64_t end = stage.first_layer + stage.layers;
    const auto sequence = c_.graph.stage_sequence(s);
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      const bool is_layer = layer < end && i >= (stage.has_embedding && c_.graph.embedding_type);
      const bool is_module = !is_layer && sequence[i] == c_.graph.prediction_type;
      const bool has_weights = !is_module || modules++ < c_.graph.prediction_instances();
      write_type(sequence[i], s, is_layer ? layer++ : ShardRow::no_layer, has_weights);
    }
  }

  void write_type(std::int32_t type, std::size_t s, std::int64_t layer, bool has_weights) {
    const LayerType& of = c_.graph.layer_types[static_cast<std::size_t>(type)];
    std::vector<std::int32_t> seen;  // a ring repeats its step: messages count, weights do not
    for (const std::int32_t index : of.operators) {
      const auto at = static_cast<std::size_t>(index);
      const Operator& op = c_.graph.operators[at];
      if (op.kind == OperatorKind::collective) {
        add_collective(op);
        continue;
      }
      const bool is_repeated = std::ranges::find(seen, index) != seen.end();
      seen.push_back(index);
      // A tied head reads the table of its stage: what it exchanges is because of that one.
      const bool is_shared = op.kind == OperatorKind::head &&
                             shared_table_bytes(c_.graph, c_.graph.stages[s]) > 0 &&
                             !c_.graph.is_prediction(op);
      if (is_shared) exchanging_ = first_of_stage_;
      if (!has_weights || is_repeated || is_shared || op.weight_bytes_whole == 0) continue;
      exchanging_ = table_.rows.size();  // the weights, not their biases and scales
      for (ShardRow& row : tensors_of(op, c_.graph.configuration.precision.activation)) {
        row.layer = layer;
        row.stage = s;
        row.op = at;
        row.layer_type = of.name;
        place(c_, op, row);
        add_gradients(c_, op, row);
        if (waiting_bytes_ > 0) {
          row.collective = waiting_;
          row.collective_bytes += waiting_bytes_;
          waiting_bytes_ = 0;
        }
        table_.rows.push_back(std::move(row));
      }
    }
  }

  void add_collective(const Operator& op) {
    const double bytes =
        op.local_work.message_bytes * static_cast<double>(c_.graph.micro_batches());
    if (op.split == Split::pipeline) {
      table_.hand_over_bytes.back() += bytes;
      table_.collective_bytes += bytes;
      return;
    }
    if (table_.rows.size() == first_of_stage_) {
      waiting_ = op.local.op;
      waiting_bytes_ += bytes;
      return;
    }
    ShardRow& row = table_.rows[exchanging_];
    if (row.collective.find(op.local.op) == std::string::npos) {
      row.collective += (row.collective.empty() ? "" : " + ") + op.local.op;
    }
    row.collective_bytes += bytes;
  }

  const Context& c_;
  ShardTable table_;
  std::size_t first_of_stage_ = 0;
  std::size_t exchanging_ = 0;  // row that the next collective belongs to
  std::string waiting_;
  double waiting_bytes_ = 0;
};

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

ShardTable shard_table(const OperatorGraph& graph, const std::optional<TrainingPlan>& plan) {
  const Context context{graph, plan ? &*plan : nullptr, graph.configuration.parallel};
  return Writer(context).write();
}

std::vector<ShardRun> owners_of(const Parallel& parallel, std::size_t stage) {
  const std::int64_t across = expert_layout(parallel).across_replicas;
  const std::int64_t within = std::int64_t{parallel.tp} * parallel.cp * across;
  const std::int64_t of_replicas = group_stride(parallel, Split::data);
  std::vector<ShardRun> out;
  for (std::int64_t r = 0; r < parallel.dp / across; ++r) {
    const std::int64_t first = r * of_replicas + static_cast<std::int64_t>(stage) *
                                                     group_stride(parallel, Split::pipeline);
    if (!out.empty() && out.back().first + out.back().count == first) {
      out.back().count += within;
    } else {
      out.push_back({.first = first, .count = within});
    }
  }
  return out;
}

std::string owners_text(const std::vector<ShardRun>& runs) {
  std::string out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == 2 && runs.size() > 3) {
      out += ", ... " + std::to_string(runs.size()) + " runs";
      break;
    }
    const ShardRun& run = runs[i];
    out += (i == 0 ? "" : ", ") + std::to_string(run.first);
    if (run.count > 1) out += '-' + std::to_string(run.first + run.count - 1);
  }
  return out;
}

}  // namespace halmark::simulate
