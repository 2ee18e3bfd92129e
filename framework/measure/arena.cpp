#include "measure/arena.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

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

std::int64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view key = "MemAvailable:";
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_of("0123456789");
    if (digit == std::string::npos) return 0;
    std::int64_t kib = 0;
    std::from_chars(line.data() + digit, line.data() + line.size(), kib);
    return kib * 1024;
  }
  return 0;
}

std::vector<SharedMemory> make_arenas(std::span<const std::int64_t> bytes_wanted, double fraction) {
  std::vector<SharedMemory> arenas;
  double total = 0;
  for (const std::int64_t bytes : bytes_wanted) total += static_cast<double>(bytes);
  const auto available = static_cast<double>(available_memory_bytes());
  const double share = available > 0 && total > 0 ? std::min(1.0, fraction * available / total) : 1;
  for (const std::int64_t wanted : bytes_wanted) {
    const auto bytes = static_cast<std::int64_t>(share * static_cast<double>(wanted)) / 4096 * 4096;
    if (bytes <= 0) break;
    try {
      arenas.push_back(SharedMemory::create("halmark-arena", bytes, true));
    } catch (const std::exception&) {
      break;
    }
  }
  return arenas;
}

bool arenas_suffice(std::span<const SharedMemory> arenas,
                    std::span<const std::int64_t> bytes_wanted) {
  if (arenas.size() < bytes_wanted.size()) return false;
  for (std::size_t i = 0; i < bytes_wanted.size(); ++i) {
    if (arenas[i].bytes() < bytes_wanted[i]) return false;
  }
  return true;
}

}  // namespace halmark
