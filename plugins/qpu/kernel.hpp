// What one kernel of this backend is: plain values in, a prepared object out.
#pragma once

#include <halmark_plugin_values.hpp>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "plan.hpp"
#include "simd/block_loops.hpp"

namespace hm_qpu {

using halmark::plugin::Domain;
using halmark::plugin::Operand;
using halmark::plugin::Params;
using halmark::plugin::PreparedInfo;
using halmark::plugin::unsupported;

struct Device {
  int threads = 1;
  int isa_ceiling = 2;            // of loops_for
  std::int64_t memory_bytes = 0;  // of this machine
  std::int64_t l2_bytes = 1 << 20;
  const AllLoops& loops() const { return loops_for(isa_ceiling); }
};

class Prepared {
 public:
  virtual ~Prepared() = default;
  PreparedInfo info;
  std::vector<Operand> operands;  // in contract order
  virtual void run(void* const* operands) = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view op() const = 0;
  virtual std::vector<Domain> domains(const Device&, const Params& problem) const = 0;
  virtual void require_support(const Device&, const Params& problem) const = 0;
  virtual std::unique_ptr<Prepared> prepare(const Device&, const Params& problem,
                                            const Params& config) const = 0;
};

std::span<const Kernel* const> kernel_table();

// Parts of the operands [2^qubits, 2]: f32 of c64, f64 of c128.
bool is_single(const Params& problem);
Operand state_operand(const char* name, std::int32_t role, const Params& problem);
// Refuses a dtype that is not complex, and states that do not fit into memory, naming the most
// qubits that do.
void require_states(const Device& device, const Params& problem, int states);
// Counts up to the device's threads.
Domain threads_domain(const Device& device);

}  // namespace hm_qpu
