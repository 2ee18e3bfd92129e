// A step on paper whose collectives are priced over a fabric.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/step/priced_step.hpp"

namespace halmark::tune {

// Does nothing without a name. Throws Error (exit 2) as named_fabric does, and for a step without a
// device: nothing has a time then.
void price_over_fabric(PricedStep& step, const std::string& name,
                       const std::vector<std::filesystem::path>& fabrics);

}  // namespace halmark::tune
