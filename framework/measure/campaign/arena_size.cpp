#include "measure/campaign/arena_size.hpp"

#include <algorithm>

#include "kernels/contract.hpp"

namespace halmark {
namespace {

constexpr std::int64_t buffer_overhead_bytes = 8192;  // canaries and page alignment
constexpr std::int64_t workspace_bytes = 16 << 20;    // scratchpads of usual size

bool has_set_of_its_own(Role role, CacheMode mode) {
  return role != Role::input || mode == CacheMode::rotate_all;
}

}  // namespace

std::int64_t staged_bytes(const KernelCase& kernel_case) {
  const Problem problem = complete_problem(kernel_case.problem);
  const std::int64_t sets = std::max(1, kernel_case.sets);
  std::int64_t total = 0;
  for (const OperandSpec& operand : find_contract(problem.op)->operands(problem.params)) {
    const bool is_constant = operand.role == Role::constant;
    // Packed layouts pad to whole blocks; the plain source lives beside them while packing.
    const std::int64_t bytes =
        (is_constant ? operand.bytes() + operand.bytes() / 8 : operand.bytes()) +
        buffer_overhead_bytes;
    total += bytes * (has_set_of_its_own(operand.role, kernel_case.mode) ? sets : 1);
    if (is_constant) total += operand.bytes() + buffer_overhead_bytes;
  }
  return total;
}

std::int64_t arena_bytes(const KernelCase& kernel_case) {
  return staged_bytes(kernel_case) + workspace_bytes;
}

}  // namespace halmark
