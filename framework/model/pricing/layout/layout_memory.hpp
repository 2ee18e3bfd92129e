// LayoutMemory: what a rank of a layout holds, apart by what it follows from.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/pricing/layout/layouts.hpp"
#include "model/pricing/memory.hpp"

namespace halmark {

struct StageMemory {
  std::int64_t weight_bytes = 0, kv_bytes_per_sequence = 0;
  bool has_head = false;
  std::int64_t stages = 1;  // that are alike
};

// One thread. Keeps a reference to `layouts`.
class LayoutMemory {
 public:
  explicit LayoutMemory(const Layouts& layouts) : layouts_(layouts) {}

  // Of the distinct stages, on one rank; sequences of `context` tokens. References stay valid.
  const std::vector<StageMemory>& stages(Layouts::Id layout, std::int64_t context);
  // Activations of a step of `tokens` tokens of one sequence, one row of logits included.
  std::int64_t activation_bytes(Layouts::Id layout, std::int64_t tokens);

 private:
  const Layouts& layouts_;
  std::map<std::pair<Layouts::Id, std::int64_t>, std::vector<StageMemory>> memories_;
  std::map<std::pair<Layouts::Id, std::int64_t>, std::vector<StageMemory>>::const_iterator last_ =
      memories_.end();
  std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> activations_;
  // Samples by rank class; stages or load are overwritten each time.
  std::map<std::int32_t, OperatorGraph> cuts_, steps_;
};

}  // namespace halmark
