#include "kernel.hpp"

#include <string>

namespace hm_qpu {
namespace {

std::string binary_size(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  return std::to_string(static_cast<std::int64_t>(bytes)) + ' ' + units[unit];
}

}  // namespace

bool is_single(const Params& problem) { return problem.dtype("dtype") == HM_DTYPE_C64; }

Operand state_operand(const char* name, std::int32_t role, const Params& problem) {
  return {name,
          role,
          is_single(problem) ? HM_DTYPE_F32 : HM_DTYPE_F64,
          {std::int64_t{1} << problem.at("qubits"), 2},
          0,
          ""};
}

void require_states(const Device& device, const Params& problem, int states) {
  const std::int32_t dtype = problem.dtype("dtype");
  if (dtype != HM_DTYPE_C64 && dtype != HM_DTYPE_C128) {
    unsupported("amplitudes of c64 and c128 only, got " +
                std::string(halmark::plugin::dtype_name(dtype)));
  }
  const std::int64_t qubits = problem.extent("qubits");
  if (qubits < 2) unsupported("a circuit of at least 2 qubits");
  const double amplitude = dtype == HM_DTYPE_C64 ? 8 : 16;
  const auto bytes = [&](std::int64_t n) {
    double out = amplitude * states;
    for (std::int64_t i = 0; i < n; ++i) out *= 2;
    return out;
  };
  const auto memory = static_cast<double>(device.memory_bytes);
  if (bytes(qubits) <= memory) return;
  std::int64_t most = qubits;
  while (most > 0 && bytes(most) > memory) --most;
  unsupported(std::to_string(qubits) + " qubits of " +
              std::string(halmark::plugin::dtype_name(dtype)) + " need " +
              binary_size(bytes(qubits)) + " and this machine has " + binary_size(memory) +
              ": at most " + std::to_string(most) + " qubits");
}

Domain threads_domain(const Device& device) {
  std::vector<std::int64_t> counts;
  for (std::int64_t n = 1; n < device.threads; n = n < 16 ? n + 1 : 2 * n) counts.push_back(n);
  counts.push_back(device.threads);
  return halmark::plugin::domain::ordered("threads", counts, device.threads);
}

}  // namespace hm_qpu
