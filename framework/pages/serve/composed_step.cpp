#include "pages/serve/composed_step.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "model/pricing/composer.hpp"
#include "tune/evaluate/placed_latencies.hpp"

namespace halmark::pages {
namespace {

double flops_of(const std::vector<Problem>& blocks) {
  double out = 0;
  for (const Problem& block : blocks) out += find_contract(block.op)->work(block.params).flops();
  return out;
}

// One launch after the other: the latencies of the blocks of the heaviest rank, summed.
std::optional<Latency> of_blocks(const PricedSystem& system, const Operator& op) {
  const auto heaviest = std::ranges::max_element(op.of_context_rank, {}, flops_of);
  std::optional<Latency> out;
  for (const Problem& block : *heaviest) {
    const Work work = find_contract(block.op)->work(block.params);
    const auto one = system.chain().latency(block, work, op.group_stride);
    if (!one) return std::nullopt;
    if (!out) {
      out = one;
      continue;
    }
    out->ns += one->ns;
    out->low_ns += one->low_ns;
    out->high_ns += one->high_ns;
    out->lower_bound_ns += one->lower_bound_ns;
  }
  return out;
}

Latency latency_of(const PricedSystem& system, const Operator& op) {
  const auto out = op.of_context_rank.empty()
                       ? system.chain().latency(op.local, op.local_work, op.group_stride)
                       : of_blocks(system, op);
  if (out) return *out;
  throw refused(system.device().id + " states no figure that '" + op.name + "' needs", {},
                "choose another device or dtype");
}

}  // namespace

ComposedStep composed_step(const PricedSystem& system, const Configuration& configuration) {
  auto built = build_graph(system.spec(), configuration);
  if (const Refusal* refusal = built.why()) throw refused(refusal->text, {}, "auto finds a layout");
  ComposedStep out{.graph = *std::move(built)};
  out.memory = memory_use(out.graph);
  for (const Operator& op : out.graph.operators) out.latencies.push_back(latency_of(system, op));
  const int ranks = configuration.devices();
  const Composer composer(out.graph, system.target().placement(ranks),
                          system.target().facts(ranks));
  Evaluation evaluation = composer.compose(tune::placed(system.chain(), out.graph));
  if (!evaluation.estimate) {
    throw refused("no time of this step is known: " + evaluation.reason, {},
                  "choose another dtype");
  }
  out.estimate = *std::move(evaluation.estimate);
  return out;
}

}  // namespace halmark::pages
