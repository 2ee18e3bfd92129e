// Which types the kernel kinds of a model can have beside each other: a linear, and the products of
// attention, read their input in a type to which the graph has a conversion.
#pragma once

#include <optional>

#include "model/graph/graph.hpp"

namespace halmark {

// The first kind, in the order of kernel_kinds, whose type has no conversion from the activations
// or is not that of the checkpoint's packed weights; nothing when there is none. Types that no op
// takes are refused by its contract.
std::optional<Refusal> check_precision(const ModelSpec& spec, const Configuration& configuration);

}  // namespace halmark
