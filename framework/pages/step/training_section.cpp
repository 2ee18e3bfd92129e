// A training step on paper: passes, memory of the fullest rank, gradients on the way.
#include <fmt/format.h>

#include "core/numeric/cast.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/quantity.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::pages {
namespace {

// Modules, adapters and idle stages in the text only where there are any.
std::string passes_text(const PricedStep& step) {
  const TrainingCost& cost = *step.cost;
  std::string out = fmt::format(
      "training: forward {:.3f} + backward {:.3f} GFLOP, recomputed ({}) {:.3f}; {} micro-batches "
      "of {}\n",
      cost.forward / 1e9, cost.backward / 1e9, recompute_name(step.training->recompute),
      cost.recomputed / 1e9, step.graph.micro_batches(), step.graph.micro_batch());
  if (step.graph.drafted > 0) {
    out += fmt::format("of these {:.3f} GFLOP predict {} token(s) beyond the next, {} module(s)\n",
                       prediction_flops(step) / 1e9, step.graph.drafted,
                       step.graph.prediction_instances());
  }
  const auto stages = as_double(step.graph.stages.size());
  if (stages > 1) {
    const auto passing = as_double(step.graph.micro_batches());
    out += fmt::format(
        "pipeline of {:.0f} stages: filling and draining idle for (pp - 1) / "
        "micro-batches = {:.2f} % of the time at work (2104.04473, 2.2)\n",
        stages, 100 * (stages - 1) / passing);
  }
  if (cost.adapters > 0) {
    out += fmt::format("of these {:.3f} GFLOP in adapters of rank {}\n", cost.adapters / 1e9,
                       step.training->lora_rank);
  }
  return out;
}

std::string memory_text(const PricedStep& step) {
  const TrainingPlan& plan = *step.training;
  const TrainingMemory& rank = largest(step.training_stages);
  std::string out = fmt::format(
      "memory per rank {}: weights {}, gradients {}, optimizer ({}, ZeRO {}) {}, activations of {} "
      "micro-batches {}, working set {}",
      size_text(rank.total()), size_text(rank.weight_bytes), size_text(rank.gradient_bytes),
      optimizer_name(plan.optimizer), plan.zero, size_text(rank.optimizer_bytes), rank.in_flight,
      size_text(rank.activation_bytes), size_text(rank.working_bytes));
  if (rank.gathered_bytes > 0) {
    out += ", gathered " + size_text(rank.gathered_bytes);
  }
  return out + "; allocated at the peak, an allocator reserves more\n";
}

}  // namespace

std::string training_text(const StepPage& page) {
  if (!page.step.is_training()) return {};
  const PricedStep& step = page.step;
  const TrainingMemory& rank = largest(step.training_stages);
  const std::string text =
      passes_text(step) + memory_text(step) +
      fmt::format("gradients all-reduced over {} copies of the weights: {} a rank\n",
                  weight_copies(step), size_text(rank.gradient_message_bytes));
  return report::wrapped_lines(text, page.form.width);
}

}  // namespace halmark::pages
