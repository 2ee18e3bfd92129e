#include "simulate/schedule/program/pass_order.hpp"

#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"
#include "core/text/error.hpp"

namespace halmark::schedule {
namespace {

constexpr auto orders = enum_names<Order>("forward", "1f1b", "interleaved", "zero-bubble");

std::vector<Pass> forward_order(const Pipeline& p) {
  std::vector<Pass> out;
  for (const std::int32_t m : below(p.micro_batches)) out.push_back({PassKind::forward, m, 0});
  return out;
}

// The k-th forward or backward pass of a stage with several chunks: groups of as many micro-batches
// as there are stages go through chunk after chunk.
Pass interleaved_pass(const Pipeline& p, PassKind kind, std::int32_t k) {
  const std::int32_t group = p.stages * p.chunks;
  const std::int32_t chunk = k % group / p.stages;
  return {kind, k / group * p.stages + k % p.stages,
          kind == PassKind::forward ? chunk : p.chunks - 1 - chunk};
}

// Forward passes before the first backward one. Interleaved: two more for every stage behind, and
// all chunks but the last.
std::int32_t warm_up(Order order, const Pipeline& p, std::int32_t stage) {
  const std::int32_t behind = p.stages - 1 - stage;
  const std::int32_t all = p.micro_batches * p.chunks;
  if (order != Order::interleaved || p.chunks == 1) return std::min(behind, all);
  return std::min(2 * behind + (p.chunks - 1) * p.stages, all);
}

// One forward, one backward. With gradients of weights apart, stage s leaves s of them behind its
// backward passes: what 1F1B spends on them before the stage in front gets its gradients.
std::vector<Pass> alternating_order(Order order, const Pipeline& p, std::int32_t stage) {
  const std::int32_t all = p.micro_batches * p.chunks;
  const bool splits = order == Order::zero_bubble;
  std::vector<Pass> out;
  std::int32_t forward = 0, backward = 0, weight = 0;
  const auto add = [&](PassKind kind, std::int32_t& next) {
    out.push_back(interleaved_pass(p, kind == PassKind::weight ? PassKind::backward : kind, next));
    out.back().kind = kind;
    ++next;
  };
  while (forward < warm_up(order, p, stage)) add(PassKind::forward, forward);
  while (backward < all) {
    if (forward < all) add(PassKind::forward, forward);
    add(PassKind::backward, backward);
    if (splits && backward - weight > stage) add(PassKind::weight, weight);
  }
  while (splits && weight < all) add(PassKind::weight, weight);
  return out;
}

}  // namespace

std::string_view order_name(Order order) { return orders.of(order); }

std::optional<Order> parse_training_order(std::string_view text) {
  const auto order = orders.parse(text);
  return order == Order::forward ? std::nullopt : order;
}

std::vector<std::string> training_order_names() {
  return {orders.all.begin() + 1, orders.all.end()};
}

void check(Order order, const Pipeline& p) {
  const std::string stages = std::to_string(p.stages);
  if (order != Order::interleaved) {
    if (p.chunks == 1) return;
    throw refused("virtual stages are of schedule interleaved, not of " +
                  std::string(order_name(order)));
  }
  if (p.stages < 2 || p.chunks < 2) {
    throw refused("schedule interleaved needs stages with several chunks of layers: pp is " +
                      stages + ", virtual stages are " + std::to_string(p.chunks),
                  {}, "use --pp 2 or more and --virtual-stages 2 or more, or --schedule 1f1b");
  }
  if (p.micro_batches % p.stages != 0) {
    throw refused("schedule interleaved takes micro-batches in groups of pp: " +
                      std::to_string(p.micro_batches) + " are no multiple of " + stages,
                  {}, "change --batch or --micro-batch, or use --schedule 1f1b");
  }
}

std::vector<Pass> pass_order(Order order, const Pipeline& pipeline, std::int32_t stage) {
  return order == Order::forward ? forward_order(pipeline)
                                 : alternating_order(order, pipeline, stage);
}

std::vector<StagePass> passes_in_order(Order order, const Pipeline& p) {
  std::vector<std::vector<Pass>> of_stage;
  std::size_t left = 0;
  for (const std::int32_t s : below(p.stages)) {
    of_stage.push_back(pass_order(order, p, s));
    left += of_stage.back().size();
  }
  const auto number_max = as_size(p.chunks_in_all());
  const auto batches = as_size(p.micro_batches);
  std::array<std::vector<char>, 2> done;  // forward, backward; by chunk and micro-batch
  done.fill(std::vector<char>(number_max * batches, 0));
  const auto place = [&](std::int32_t number, std::int32_t micro_batch) {
    return as_size(number) * batches + as_size(micro_batch);
  };
  const auto is_ready = [&](std::int32_t stage, const Pass& pass) {
    const std::int32_t number = p.number(stage, pass.chunk), m = pass.micro_batch;
    if (pass.kind == PassKind::forward) return number == 0 || done[0][place(number - 1, m)] != 0;
    if (pass.kind == PassKind::weight) return done[1][place(number, m)] != 0;
    const bool is_last = number + 1 == p.chunks_in_all();
    return (is_last ? done[0][place(number, m)] : done[1][place(number + 1, m)]) != 0;
  };
  std::vector<std::size_t> next(of_stage.size(), 0);
  std::vector<StagePass> out;
  while (left > 0) {
    const std::size_t before = left;
    for (const std::int32_t s : below(p.stages)) {
      const std::vector<Pass>& own = of_stage[as_size(s)];
      std::size_t& at = next[as_size(s)];
      for (; at < own.size() && is_ready(s, own[at]); ++at, --left) {
        out.push_back({s, own[at]});
        const auto kind = as_size(own[at].kind);
        if (kind < 2) done[kind][place(p.number(s, own[at].chunk), own[at].micro_batch)] = 1;
      }
    }
    // A pass that waits for one behind itself would be a fault of pass_order.
    if (left == before) throw refused("the schedule waits for itself");
  }
  return out;
}

}  // namespace halmark::schedule
