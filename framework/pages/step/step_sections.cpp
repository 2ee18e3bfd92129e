// halmark model: sums over the step, memory of a rank, what training adds, utilisation, and what
// had to be assumed.
#include <fmt/format.h>

#include "model/spec/coverage.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::pages {

namespace {

std::string inference_memory(const StepPage& page) {
  const RankMemory& rank = page.step.memory.largest;
  return fmt::format(
      "memory per rank {}: weights {}, KV cache {} ({} per token of the model), activations {}\n",
      size_text(rank.total()), size_text(rank.weight_bytes), size_text(rank.kv_bytes),
      size_text(page.step.memory.kv_bytes_per_token), size_text(rank.activation_bytes));
}

// Where the stated weights are not the checkpoint's, and where a device lacks their products.
std::string packed_note(const StepPage& page) {
  const auto& stated = page.step.graph.spec.quantization;
  const Precision& priced = page.step.graph.configuration.precision;
  if (stated && !stated->kinds.empty() && priced.of(stated->kinds.front()) != stated->weights) {
    return fmt::format("note: the checkpoint stores {} weights; --dtype {} prices them\n",
                       stated->method, "checkpoint");
  }
  const auto format = packed_format(page.step.graph.spec, priced, Dtype::f4_e2m1);
  const bool has_such = std::ranges::any_of(kernel_kinds, [&](const KernelKindRow& row) {
    return row.is_linear && priced.*row.field == Dtype::f4_e2m1;
  });
  if (!page.step.device || !format || !has_such) return {};
  const Dtype computed = multiplying_dtype(*page.step.device, Dtype::f4_e2m1);
  if (computed == Dtype::f4_e2m1) return {};
  return fmt::format("note: {} states no 4-bit peak: {} weights are multiplied in {}\n",
                     page.step.device->id, format->method, dtype_name(computed));
}

std::string measured_text(const StepPage& page, const StepUtilisation& u) {
  std::string out =
      fmt::format("MFU {} (executed {}, HFU {}, roofline {})", report::percent_text(u.model),
                  report::percent_text(u.executed), report::percent_text(u.hfu),
                  u.roofline ? report::percent_text(u.roofline) : "unknown: " + u.roofline_reason);
  out += fmt::format(" at {} on {} x {}, {} peak {}\n",
                     milliseconds(*page.step.question.measured_ms * 1e6),
                     page.step.graph.configuration.devices(), page.step.device->id,
                     page.step.question.peak, report::flops_text(*u.peak_flops_per_s));
  if (u.bound && *u.bound > 1) {
    out += "quarantined: faster_than_roofline, the step cannot have taken so little\n";
  }
  return out;
}

}  // namespace

std::string totals_text(const StepPage& page) {
  const GraphTotals& totals = page.step.totals();
  const std::string text = fmt::format(
      "matmul {} a step; per rank {}, {} moved\n{}", report::flop_text(totals.matmul_flops),
      report::flop_text(totals.matmul_flops_per_rank), report::bytes_text(totals.bytes_per_rank),
      page.step.is_training() ? "" : inference_memory(page));
  return report::wrapped_lines(text, page.form.width);
}

std::string fit_text(const StepPage& page) {
  const std::optional<Fit> fit = fit_of(page.step);
  if (!fit || !fit->device_bytes) return {};
  const std::string& device = page.step.device->id;
  if (fit->short_by_bytes() == 0) {
    if (!page.form.shows_all) return {};  // the answer says so
    return fmt::format("fits {}: {} of {} a rank\n", device, size_text(fit->needed_bytes),
                       size_text(*fit->device_bytes));
  }
  return fmt::format("does not fit {}: {} a rank and {} there, short by {}\n", device,
                     size_text(fit->needed_bytes), size_text(*fit->device_bytes),
                     size_text(fit->short_by_bytes()));
}

std::string mfu_text(const StepPage& page) {
  // The switches matter to who chose them, and stand in the JSON.
  const StepQuestion& asked = page.step.question;
  const bool is_chosen = !asked.convention.empty() || !asked.switches.empty();
  const std::string convention = is_chosen || page.form.shows_all
                                     ? "convention: " + page.step.convention.line() + '\n'
                                     : std::string();
  if (!page.step.question.measured_ms) return convention;
  const StepUtilisation u = utilisation_of(page.step);
  return (u.model ? measured_text(page, u) : "MFU unknown: " + u.reason + '\n') + convention;
}

std::string experts_text(const StepPage& page) {
  const OperatorGraph& g = page.step.graph;
  if (!g.spec.moe) return {};
  const ExpertUse& use = *g.expert_use;
  return fmt::format(
      "experts {} of {} per token, routing skew {} %: {} of {} active in a step; a rank holds {}, "
      "the heaviest uses {} and has {:.3f} x the mean rows\n",
      g.spec.moe->top_k, g.spec.moe->experts, g.configuration.workload.routing_skew, use.active,
      g.spec.moe->experts, use.held_per_rank, use.active_per_rank, use.imbalance);
}

std::string recurrence_text(const StepPage& page) {
  const OperatorGraph& g = page.step.graph;
  if (!g.spec.delta_rule || g.form.delta_chunk == 0) return {};
  return fmt::format(
      "delta rule: model FLOPs as the recurrence counts them, executed in chunks of {} tokens\n",
      g.form.delta_chunk);
}

std::string notes_text(const StepPage& page) {
  std::string text = packed_note(page);
  for (const std::string& line : page.step.basis) text += "times: " + line + '\n';
  for (const std::string& line : model_notes(page.step.graph.spec)) text += line + '\n';
  for (const std::string& line : page.step.graph.warnings) text += "warning: " + line + '\n';
  return text;
}

}  // namespace halmark::pages
