// Rows come in the order in which a stage executes; a collective belongs to the last tensor before
// it, because the split of that one is what it repairs.
#include "simulate/sharding/shard_table.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "kernels/contract.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/graph/rank_places.hpp"
#include "model/pricing/memory.hpp"
#include "simulate/sharding/shard_strategies.hpp"

namespace halmark::simulate {
namespace {

// The tensors of one operator with their sizes, whole and on one shard. Nothing here knows where
// they lie.

// What of the operator's weights is no constant operand: a bias of as many elements as it has
// parameters beyond them, and the scales of narrow blocks.
void add_rest(const Operator& op, Dtype activation, std::int64_t elements, std::int64_t bytes,
              std::int64_t local_bytes, std::vector<ShardRow>& out) {
  const std::int64_t rest = op.weight_bytes_whole - bytes;
  const std::int64_t local = op.weight_bytes_local - local_bytes;
  if (rest <= 0) return;
  const bool is_bias =
      op.parameters > elements && dtype_bytes(activation, op.parameters - elements) == rest;
  const auto add = [&](const char* name, Dtype dtype) {
    const std::int64_t width = dtype_bytes(dtype, 1);
    ShardRow row{.tensor = op.name + name, .dtype = dtype, .bytes = rest, .shard_bytes = local};
    row.shape = {rest / width};
    row.shard_shape = {local / width};
    out.push_back(std::move(row));
  };
  if (is_bias) return add(".bias", activation);
  const bool is_f32 = rest % 4 == 0 && local % 4 == 0;
  const bool has_both = op.parameters > elements;
  add(has_both ? ".bias and scales" : ".scales", is_f32 && !has_both ? Dtype::f32 : Dtype::u8);
}

// Constant operands as the op's contract states them, then biases and scales, whose bytes the
// operator counts beside them. shard_bytes: before data-parallel ranks share anything out.
std::vector<ShardRow> tensors_of(const Operator& op, Dtype activation) {
  std::vector<ShardRow> out;
  if (!op.whole) return out;
  const OpContract& contract = *find_contract(op.local.op);
  const std::vector<OperandSpec> whole = contract.operands(op.whole->params);
  const std::vector<OperandSpec> local = contract.operands(op.local.params);
  std::int64_t elements = 0, bytes = 0, local_bytes = 0;
  for (std::size_t i = 0; i < whole.size() && op.whole_work.constant_bytes > 0; ++i) {
    if (whole[i].role != Role::constant) continue;
    ShardRow row{.tensor = op.name,
                 .shape = whole[i].dims,
                 .shard_shape = local[i].dims,
                 .dtype = whole[i].dtype,
                 .bytes = whole[i].bytes(),
                 .shard_bytes = local[i].bytes()};
    if (!whole[i].name.empty()) row.tensor += '.' + whole[i].name;
    elements += whole[i].elements();
    bytes += row.bytes;
    local_bytes += row.shard_bytes;
    out.push_back(std::move(row));
  }
  add_rest(op, activation, elements, bytes, local_bytes, out);
  return out;
}

std::int64_t elements_of(const ShardRow& row) {
  return std::accumulate(row.shard_shape.begin(), row.shard_shape.end(), std::int64_t{1},
                         std::multiplies<>());
}

void place(const ShardContext& c, const Operator& op, ShardRow& row) {
  const bool is_split = row.shard_bytes < row.bytes;
  std::vector<ShardStrategy> all = strategies_of(c, op, is_split);
  row.strategy = all.front();
  row.also.assign(all.begin() + 1, all.end());
  row.reason = reason_of(c, op, row.strategy);
  row.owners = c.parallel.devices() / c.parallel.pp;
  if (op.split == Split::vocab) {
    row.padding_bytes = row.held_bytes() - row.owners / c.parallel.tp * row.bytes;
  }
  if (!contains(all, ShardStrategy::zero3)) return;
  // As in the memory of training: bytes that do not divide are rounded up.
  const std::int64_t copies = copies_of(c, op), before = row.held_bytes() / copies;
  row.shard_shape = {(elements_of(row) + copies - 1) / copies};
  row.shard_bytes = dtype_bytes(row.dtype, row.shard_shape.front());
  row.padding_bytes = row.padding_bytes / copies + row.held_bytes() - before;
}

// What data-parallel ranks exchange of a tensor's gradient once a step.
void add_gradients(const ShardContext& c, const Operator& op, ShardRow& row) {
  if (c.plan == nullptr || copies_of(c, op) <= 1 || c.plan->lora_rank > 0) return;
  const bool is_shared_out = row.strategy == ShardStrategy::zero3;
  const std::int64_t elements = elements_of(row) * (is_shared_out ? copies_of(c, op) : 1);
  const auto bytes = as_double(dtype_bytes(c.plan->gradient, elements));
  row.collective += std::string(row.collective.empty() ? "" : " + ") +
                    (c.plan->zero == 0 ? "all_reduce of gradients" : "reduce_scatter, all_gather");
  row.collective_bytes += c.plan->zero == 0 ? bytes : 2 * bytes;
}

class Writer {
 public:
  explicit Writer(const ShardContext& context) : c_(context) {}

  ShardTable write() {
    table_.shards = c_.parallel.devices();
    for (const auto s : indices(c_.graph.stages)) write_stage(s);
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
    for (const auto i : indices(sequence)) {
      const bool is_layer = layer < end && i >= (stage.has_embedding && c_.graph.embedding_type);
      const bool is_module = !is_layer && sequence[i] == c_.graph.prediction_type;
      const bool has_weights = !is_module || modules++ < c_.graph.prediction_instances();
      write_type(sequence[i], s, is_layer ? layer++ : ShardRow::no_layer, has_weights);
    }
  }

  void write_type(std::int32_t type, std::size_t s, std::int64_t layer, bool has_weights) {
    const LayerType& of = c_.graph.layer_types[as_size(type)];
    std::vector<std::int32_t> seen;  // a ring repeats its step: messages count, weights do not
    for (const std::int32_t index : of.operators) {
      const auto at = as_size(index);
      const Operator& op = c_.graph.operators[at];
      if (op.kind == OperatorKind::collective) {
        add_collective(op);
        continue;
      }
      const bool is_repeated = contains(seen, index);
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
    const double bytes = op.local_work.message_bytes * as_double(c_.graph.micro_batches());
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
      append_item(row.collective, " + ", op.local.op);
    }
    row.collective_bytes += bytes;
  }

  const ShardContext& c_;
  ShardTable table_;
  std::size_t first_of_stage_ = 0;
  std::size_t exchanging_ = 0;  // row that the next collective belongs to
  std::string waiting_;
  double waiting_bytes_ = 0;
};

}  // namespace

ShardTable shard_table(const OperatorGraph& graph, const std::optional<TrainingPlan>& plan) {
  const ShardContext context{graph, plan ? &*plan : nullptr, graph.configuration.parallel};
  return Writer(context).write();
}

std::vector<ShardRun> owners_of(const Parallel& parallel, std::size_t stage) {
  const std::int64_t across = expert_layout(parallel).across_replicas;
  const std::int64_t within = std::int64_t{parallel.tp} * parallel.cp * across;
  const std::int64_t of_replicas = group_stride(parallel, Split::data);
  std::vector<ShardRun> out;
  for (const std::int64_t r : below(parallel.dp / across)) {
    const std::int64_t first =
        r * of_replicas + as_int64(stage) * group_stride(parallel, Split::pipeline);
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
  for (const auto i : indices(runs)) {
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
