// What no step can be asked. Both throw Error (exit 2).
#pragma once

#include <optional>

#include "model/step/priced_step.hpp"

namespace halmark {

// Times that nothing takes, drafts and their acceptance without each other.
void check_question(const StepQuestion& question);
// Measured peaks of a device that has none.
void check_peak(const StepQuestion& question, const std::optional<Device>& device);

}  // namespace halmark
