// The shown state as files that a serving engine starts from.
#pragma once

#include <string>

#include "core/json/json_type.hpp"
#include "pages/serve/state/composed_step.hpp"

namespace halmark::pages {

// {"engine", "files": [{"name", "text"}, ...]} of the engine's latest release that is known. Throws
// Error (exit 2) with the reason where the engine cannot do what the state says, and for a step
// that does not fit the device.
Json deployment_files(const PricedSystem& system, const ComposedStep& step,
                      const PageSources& sources, const std::string& engine);

}  // namespace halmark::pages
