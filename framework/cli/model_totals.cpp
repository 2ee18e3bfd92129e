// halmark model: sums over the step, memory of a rank, and what had to be assumed.
#include <fmt/format.h>

#include "cli/model_page.hpp"
#include "cli/terminal.hpp"

namespace halmark::cli {

ModelSection totals_section(const ModelPage& page) {
  const GraphTotals& totals = page.graph.totals;
  const RankMemory& rank = page.memory.largest;
  const auto bytes = [](std::int64_t value) { return bytes_text(static_cast<double>(value)); };
  return {.data = {{"totals",
                    {{"matmul_flops", totals.matmul_flops},
                     {"flops", totals.flops},
                     {"bytes", totals.bytes},
                     {"flops_per_rank", totals.flops_per_rank},
                     {"bytes_per_rank", totals.bytes_per_rank},
                     {"weight_bytes_per_rank", rank.weight_bytes},
                     {"kv_bytes_per_token", page.memory.kv_bytes_per_token},
                     {"memory_bytes_per_rank", rank.total()}}}},
          .text = fmt::format(
              "matmul {:.3f} GFLOP a step; per rank {:.3f} GFLOP, {} moved\n"
              "memory per rank {}: weights {}, KV cache {} ({} per token of the model), "
              "activations {}\n",
              totals.matmul_flops / 1e9, totals.matmul_flops_per_rank / 1e9,
              bytes_text(totals.bytes_per_rank), bytes(rank.total()), bytes(rank.weight_bytes),
              bytes(rank.kv_bytes), bytes(page.memory.kv_bytes_per_token),
              bytes(rank.activation_bytes))};
}

ModelSection notes_section(const ModelPage& page) {
  std::string text;
  for (const std::string& field : page.graph.spec.assumed) text += "assumed: " + field + '\n';
  for (const std::string& line : page.graph.warnings) text += "warning: " + line + '\n';
  return {.data = {{"warnings", page.graph.warnings}}, .text = text};
}

}  // namespace halmark::cli
