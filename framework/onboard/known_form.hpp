// What was measured of a device here, as a file states a device that is known.
#pragma once

#include <string>

#include "tune/plan/target.hpp"

namespace halmark::onboard {

// Of the whole device, each figure with its source; what only a datasheet states is carried from
// there. Throws Error (exit 5) for a device without measured peaks.
Device known_form(const tune::Target& target, const std::string& id, const std::string& utc);

}  // namespace halmark::onboard
