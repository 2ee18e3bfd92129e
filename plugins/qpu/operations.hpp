// A pass in the numbers of a state's type: what a block goes through, one sweep over it each.
#pragma once

#include <variant>
#include <vector>

#include "phases.hpp"
#include "plan.hpp"
#include "simd/block_loops.hpp"

namespace hm_qpu {

template <class T>
struct Controlled {
  OneArguments<T> arguments;
  Mask outer_controls = 0;
};

template <class T>
using Operation = std::variant<Turns<T>, Diagonal<T>, Controlled<T>>;

template <class T>
std::vector<Operation<T>> make_operations(const Pass& pass, const PlanShape& shape, int lane_bits);

}  // namespace hm_qpu
