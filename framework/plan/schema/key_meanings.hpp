// What the keys of files mean; a test finds keys without a meaning, and meanings without a key.
#pragma once

#include <span>

#include "plan/schema/file_schema.hpp"

namespace halmark {

std::span<const KeyMeaning> sweep_meanings();  // of traffic, too
std::span<const KeyMeaning> device_meanings();
std::span<const KeyMeaning> space_meanings();  // of nodes, too

}  // namespace halmark
