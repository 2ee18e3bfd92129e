// What vLLM leaves to the KV cache, as it logs it: four servers of release 0.11 on H100 at the
// default share of 0.9 (llm-d-incubation/llm-d-planner@e50305af90f0, Apache-2.0) and one of 0.19 on
// an RTX 4090 (casys-kaist/LLMServingSim, serve-01, MIT). Share of the device less weights less
// cache is 4.9 and 5.7 GiB on one rank, 1.15 GiB on the small device, and 0.5 GiB more on two
// ranks. It follows the vocabulary and not the widths of a model: logits of 1,024 sequences (the
// default from 70 GiB of device memory on; 256 below: vllm/engine/arg_utils.py) at 39 bytes each,
// which are their copies in 2 and 4 bytes, what sorts them (4 and 8), probabilities with their sums
// (4 each), and masks.
#include "model/pricing/engine_memory.hpp"

#include <array>

namespace halmark {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

struct Row {
  std::string_view engine;
  double share;
  std::int64_t group_bytes, logit_bytes;  // group: of more than one rank
  std::int64_t large_device_bytes, sequences_large, sequences_small;
};
constexpr std::array rows = {Row{"vllm", 0.9, gib / 2, 39, 70 * gib, 1024, 256}};

}  // namespace

std::optional<EngineMemory> engine_memory(std::string_view engine, const Device& device, int tp,
                                          std::int64_t vocab, std::int64_t sequences) {
  const auto* const row = std::ranges::find(rows, engine, &Row::engine);
  if (row == rows.end()) return std::nullopt;
  if (sequences == 0) {
    sequences = device.memory_bytes >= row->large_device_bytes ? row->sequences_large
                                                               : row->sequences_small;
  }
  return EngineMemory{.share = row->share,
                      .group_bytes = tp > 1 ? row->group_bytes : 0,
                      .sampling_bytes = sequences * vocab * row->logit_bytes};
}

}  // namespace halmark
