// halmark model: sums over the step, memory of a rank, and what had to be assumed.
#include <fmt/format.h>

#include <algorithm>

#include "cli/console/terminal.hpp"
#include "cli/model/model_page.hpp"

namespace halmark::cli {

namespace {

std::string size_text(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string inference_memory(const ModelPage& page) {
  const RankMemory& rank = page.memory.largest;
  return fmt::format(
      "memory per rank {}: weights {}, KV cache {} ({} per token of the model), activations {}\n",
      size_text(rank.total()), size_text(rank.weight_bytes), size_text(rank.kv_bytes),
      size_text(page.memory.kv_bytes_per_token), size_text(rank.activation_bytes));
}

// Where the stated weights are not the checkpoint's, and where a device lacks their products.
std::string packed_note(const ModelPage& page) {
  const ModelSpec& spec = page.graph.spec;
  if (!spec.packed) return {};
  if (!is_packed(page.graph.configuration.precision)) {
    return fmt::format("note: the checkpoint stores {} weights; --dtype {} prices them\n",
                       spec.packed->name(), spec.packed->name());
  }
  if (!page.device) return {};
  const Dtype computed = multiplying_dtype(*page.device, Dtype::f4_e2m1);
  if (computed == Dtype::f4_e2m1) return {};
  return fmt::format("note: {} states no 4-bit peak: {} weights are multiplied in {}\n",
                     page.device->id, spec.packed->name(), dtype_name(computed));
}

}  // namespace

ModelSection totals_section(const ModelPage& page) {
  const GraphTotals& totals = page.totals();
  const std::int64_t weights = page.is_training() ? largest(page.training_stages).weight_bytes
                                                  : page.memory.largest.weight_bytes;
  return {.data = {{"totals",
                    {{"matmul_flops", totals.matmul_flops},
                     {"flops", totals.flops},
                     {"bytes", totals.bytes},
                     {"flops_per_rank", totals.flops_per_rank},
                     {"matmul_flops_per_rank", totals.matmul_flops_per_rank},
                     {"bytes_per_rank", totals.bytes_per_rank},
                     {"weight_bytes_per_rank", weights},
                     {"kv_bytes_per_token", page.memory.kv_bytes_per_token},
                     {"memory_bytes_per_rank", page.memory_bytes()}}}},
          .text = fmt::format("matmul {:.3f} GFLOP a step; per rank {:.3f} GFLOP, {} moved\n{}",
                              totals.matmul_flops / 1e9, totals.matmul_flops_per_rank / 1e9,
                              bytes_text(totals.bytes_per_rank),
                              page.is_training() ? "" : inference_memory(page))};
}

ModelSection fit_section(const ModelPage& page) {
  if (!page.device) return {};
  const std::int64_t needed = page.memory_bytes(), there = page.device->memory_bytes;
  if (there <= 0) {
    return {.data = {{"fit",
                      {{"fits", nullptr},
                       {"fits_reason", page.device->id + " does not state its memory"},
                       {"needed_bytes", needed},
                       {"device_bytes", nullptr},
                       {"short_by_bytes", nullptr}}}}};
  }
  const std::int64_t missing = std::max<std::int64_t>(0, needed - there);
  return {.data = {{"fit",
                    {{"fits", missing == 0},
                     {"needed_bytes", needed},
                     {"device_bytes", there},
                     {"short_by_bytes", missing}}}},
          .text = missing == 0
                      ? fmt::format("fits {}: {} of {} a rank\n", page.device->id, needed, there)
                      : fmt::format("does not fit {}: {} bytes a rank and {} there, short by {}\n",
                                    page.device->id, needed, there, missing)};
}

// Model FLOPs count the recurrence whatever a kernel does; what a rank executes follows its form.
ModelSection recurrence_section(const ModelPage& page) {
  const OperatorGraph& g = page.graph;
  if (!g.spec.delta_rule) return {};
  const std::int64_t chunk = g.form.delta_chunk;
  const std::string form = chunk == 0 ? "recurrent" : "chunked";
  return {.data = {{"delta_rule",
                    {{"model_flops", "recurrent"},
                     {"executed", form},
                     {"chunk", chunk == 0 ? Json(nullptr) : Json(chunk)}}}},
          .text = chunk == 0 ? ""
                             : fmt::format("delta rule: model FLOPs as the recurrence counts them, "
                                           "executed in chunks of {} tokens\n",
                                           chunk)};
}

ModelSection notes_section(const ModelPage& page) {
  std::string text = packed_note(page);
  for (const std::string& field : page.graph.spec.assumed) text += "assumed: " + field + '\n';
  for (const std::string& line : page.graph.warnings) text += "warning: " + line + '\n';
  return {.data = {{"warnings", page.graph.warnings}}, .text = text};
}

}  // namespace halmark::cli
