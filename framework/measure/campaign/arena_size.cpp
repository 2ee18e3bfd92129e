#include "measure/campaign/arena_size.hpp"

#include <algorithm>
#include <numeric>

#include "core/lists.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/case_group.hpp"

namespace halmark {
namespace {

constexpr std::int64_t buffer_overhead_bytes = 8192;  // canaries and page alignment
constexpr std::int64_t workspace_bytes = 16 << 20;    // scratchpads of usual size

bool has_set_of_its_own(Role role, CacheMode mode) {
  return role != Role::input || mode == CacheMode::rotate_all;
}

struct Staged {
  std::int64_t held = 0;
  std::int64_t plain = 0;  // of the constants, while they are packed
};

Staged staged(const KernelCase& kernel_case) {
  const Problem problem = complete_problem(kernel_case.problem);
  const std::int64_t sets = std::max(1, kernel_case.sets);
  Staged out;
  for (const OperandSpec& operand : find_contract(problem.op)->operands(problem.params)) {
    const bool is_constant = operand.role == Role::constant;
    // Packed layouts pad to whole blocks; the plain source lives beside them while packing.
    const std::int64_t bytes =
        (is_constant ? operand.bytes() + operand.bytes() / 8 : operand.bytes()) +
        buffer_overhead_bytes;
    out.held += bytes * (has_set_of_its_own(operand.role, kernel_case.mode) ? sets : 1);
    if (is_constant) out.plain += operand.bytes() + buffer_overhead_bytes;
  }
  return out;
}

KernelCase with_sets(KernelCase kernel_case, std::int64_t sets) {
  kernel_case.sets = as_int(std::clamp<std::int64_t>(sets, 1, 1 << 20));
  return kernel_case;
}

// Those that share no arguments with an earlier one.
std::vector<KernelCase> staged_kernels(const Stack& stack) {
  std::vector<KernelCase> out;
  for (const auto k : indices(stack.kernels)) {
    const auto shares = [&](const KernelCase& o) { return o.shares_arguments(stack.kernels[k]); };
    if (std::ranges::any_of(out, shares)) continue;
    out.push_back(with_sets(stack.kernels[k], stack.instances[k]));
  }
  return out;
}

std::int64_t sum_of(std::span<const std::int64_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

void raise_to(std::vector<std::int64_t>& most, std::span<const std::int64_t> bytes) {
  if (most.size() < bytes.size()) most.resize(bytes.size(), 0);
  for (const auto i : indices(bytes)) most[i] = std::max(most[i], bytes[i]);
}

}  // namespace

std::int64_t staged_bytes(const KernelCase& kernel_case) {
  const Staged bytes = staged(kernel_case);
  return bytes.held + bytes.plain;
}

std::int64_t arena_bytes(const KernelCase& kernel_case) {
  return staged_bytes(kernel_case) + workspace_bytes;
}

std::vector<std::int64_t> stack_arena_bytes(std::span<const Stack> stacks) {
  std::vector<std::int64_t> out;
  for (const Stack& stack : stacks) {
    std::int64_t bytes = 0;
    for (const KernelCase& kernel_case : staged_kernels(stack)) bytes += arena_bytes(kernel_case);
    out.push_back(bytes);
  }
  return out;
}

std::int64_t least_bytes(std::span<const KernelCase> together) {
  std::int64_t held = 0, plain = 0;
  for (const KernelCase& kernel_case : together) {
    const Staged bytes = staged(with_sets(kernel_case, 1));
    held += bytes.held;
    plain = std::max(plain, bytes.plain);
  }
  return held + plain;
}

void ArenaNeed::add(const KernelCase& kernel_case) {
  const auto workers = as_size(case_group(kernel_case).workers());
  const std::vector<std::int64_t> more(workers, arena_bytes(kernel_case));
  raise(more, std::vector<std::int64_t>(workers, least_bytes(std::span(&kernel_case, 1))));
}

void ArenaNeed::add(std::span<const Stack> stacks) {
  auto more_least =
      mapped(stacks, [&](const Stack& stack) { return least_bytes(staged_kernels(stack)); });
  raise(stack_arena_bytes(stacks), more_least);
}

void ArenaNeed::raise(std::span<const std::int64_t> more,
                      std::span<const std::int64_t> more_least) {
  raise_to(wanted, more);
  raise_to(least, more_least);
  least_at_once = std::max(least_at_once, sum_of(more_least));
}

std::int64_t ArenaNeed::wanted_bytes() const { return sum_of(wanted); }

std::optional<std::string> memory_refusal(std::int64_t bytes, std::size_t workers,
                                          const RunMemory& memory) {
  if (bytes <= memory.at_most_bytes()) return std::nullopt;
  const auto mib = [](std::int64_t b) { return std::to_string(b >> 20) + " MiB"; };
  return "needs " + mib(bytes) + " of memory for one argument set of each kernel on " +
         std::to_string(workers) + (workers == 1 ? " shard" : " shards") +
         ", and this run may use " + mib(memory.at_most_bytes()) + " (" +
         (memory.limited_by.empty() ? "the machine's memory" : "limit of " + memory.limited_by) +
         ")";
}

}  // namespace halmark
