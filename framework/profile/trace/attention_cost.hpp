// Attention operators of torch and of the serving libraries: where each keeps its batch, heads,
// lengths and mask.
#pragma once

#include "profile/trace/operator_cost.hpp"

namespace halmark::trace {

// `name` of class attention.
OperatorCost attention_cost(std::string_view name, const std::vector<Argument>& arguments);

}  // namespace halmark::trace
