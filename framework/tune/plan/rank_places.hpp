// Whether the ranks of a configuration can do on their places what it asks of them.
#pragma once

#include <optional>

#include "model/pricing/memory.hpp"
#include "tune/plan/target.hpp"

namespace halmark::tune {

// Refusal places_do_not_match where there are more or fewer places than ranks, not_executable where
// ranks on two backends would meet in a collective and `is_executed`. Nothing without places.
std::optional<Refusal> check_places(const Configuration& configuration, bool is_executed);

// Refusal places_do_not_match where the ranks do not fill the target's nodes, not_executable where
// those of one collective lie unevenly over them. Nothing for ranks of one machine.
std::optional<Refusal> check_nodes(const Configuration& configuration, const Target& target);

// check_memory of every rank against what its device has for it.
std::optional<Refusal> check_ranks(const MemoryUse& use, const Configuration& configuration,
                                   const Target& target);

}  // namespace halmark::tune
