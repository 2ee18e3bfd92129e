#include "simulate/sharding/tensors.hpp"

#include "kernels/contract.hpp"

namespace halmark::simulate {
namespace {

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

}  // namespace

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

}  // namespace halmark::simulate
