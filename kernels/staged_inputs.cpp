#include "kernels/staged_inputs.hpp"

namespace halmark {

int source_set(Role role, CacheMode mode, bool constants_shared, int set) {
  switch (role) {
    case Role::constant:
      return constants_shared ? 0 : set;
    case Role::state:
      return set;
    case Role::input:
    case Role::in_out:
    case Role::output:
      return mode == CacheMode::rotate_all || mode == CacheMode::flush ? set : 0;
  }
  return set;
}

StagedInputs::StagedInputs(std::uint64_t seed, std::span<const OperandSpec> operands,
                           CacheMode mode, bool constants_shared)
    : mode_(mode), constants_shared_(constants_shared) {
  pools_.reserve(operands.size());
  for (const OperandSpec& operand : operands) {
    pools_.emplace_back(seed, operand);
    roles_.push_back(operand.role);
  }
}

void StagedInputs::read(int rank, std::size_t operand, std::int64_t offset,
                        std::span<double> out) const {
  const Role role = roles_.at(operand);
  const int set = role == Role::input && inputs_from_
                      ? *inputs_from_
                      : source_set(role, mode_, constants_shared_ && set_ != witness_, set_);
  pools_[operand].read(rank, set, operand, offset, out);
}

}  // namespace halmark
