// A training step in the words of a command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/chosen/precision.hpp"
#include "model/training/training.hpp"

namespace halmark {

// Of phase training; refused for the others.
struct TrainingWords {
  std::optional<std::string> recompute, optimizer, gradients, loss;
  std::optional<int> zero;
  std::optional<std::int64_t> lora_rank, micro_batch;
  bool sequence_parallel = false;

  bool has_any() const;
};

// What is not said has its default; gradients the type of activations. Throws Error (exit 2) with
// the nearest words.
TrainingPlan training_plan(const TrainingWords& words, const Precision& precision);

}  // namespace halmark
