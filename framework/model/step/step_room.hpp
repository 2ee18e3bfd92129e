// What the memory of a served step's device holds: sequences beside the weights, the longest
// context, and from how many devices a step fits that does not. All of it by fit_of: what an engine
// keeps of a GPU for itself is not available.
#pragma once

#include <cstdint>
#include <optional>

#include "model/step/priced_step.hpp"

namespace halmark {

// Of a step that fits; sequences over the whole deployment.
struct StepRoom {
  std::int64_t cache_bytes = 0;  // of a rank, for keys, values and states
  std::int64_t context = 0;      // of one sequence: 8192, or the longest that the model takes
  std::int64_t sequences = 0;
};
// Nothing for training and where the device or its memory is not known.
std::optional<StepRoom> room_of(const PricedStep& step);

// The fewest devices, by doubling, over which tensor, expert or pipeline parallelism makes the step
// fit; nothing where 1024 do not.
std::optional<Parallel> least_layout(const PricedStep& step);

// Of decode with the batch of `configuration`. The device must state its memory, or the model its
// longest context: nothing otherwise.
std::optional<LongestContext> longest_context(const ModelSpec& spec,
                                              const Configuration& configuration,
                                              const Device& device);

}  // namespace halmark
