// What one kernel of this backend is: plain values in, a prepared object out. A kernel is one file
// with one line in table.cpp; it knows nothing of the ABI's handles.
#pragma once

#include <halmark_plugin_values.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hm_cpu {

// Vector instructions that a kernel may use, already lowered by the device's ISA ceiling.
enum class Isa { generic, avx2, avx512, avx512_vnni, avx512_bf16, amx };

struct Device {
  int threads = 1;                           // OpenMP team of every kernel
  Isa isa = Isa::generic;                    // best path that machine and ceiling allow
  std::int64_t l2_bytes = 1 << 20;           // of one core
  std::int64_t last_level_bytes = 32 << 20;  // shared
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class Comm;  // mpi/comm.hpp; only built with MPI

namespace domain = halmark::plugin::domain;
using halmark::plugin::Domain;
using halmark::plugin::dtype_name;
using halmark::plugin::element_bytes;
using halmark::plugin::invalid;
using halmark::plugin::Operand;
using halmark::plugin::Params;
using halmark::plugin::plain_bytes;
using halmark::plugin::PreparedInfo;
using halmark::plugin::unsupported;

class Prepared {
 public:
  virtual ~Prepared() = default;
  PreparedInfo info;              // library and library_version "" = this plugin's own
  std::vector<Operand> operands;  // in contract order
  int threads = 1;                // team size of run and load_constants

  // One execution, done when it returns; no allocation. operands[i] points at the buffer of
  // operand i, 64-byte aligned; workspace has workspace_bytes, 64-byte aligned.
  virtual void run(void* const* operands, void* workspace) = 0;
  // Packs plain[i] into packed[i] for every constant operand i; the default copies bytes.
  virtual void load_constants(void* const* packed, const void* const* plain);
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::string_view name() const = 0;  // unique in the plugin
  virtual std::string_view op() const = 0;
  virtual bool is_collective() const { return false; }
  // Tunable parameters; "threads" is added by the ABI layer to every kernel that is not collective.
  virtual std::vector<Domain> domains(const Device&, const Params& problem) const {
    static_cast<void>(problem);
    return {};
  }
  // Calls unsupported() with the reason; cheap, no device work. config may be empty; it never holds
  // "threads", and its names and values were checked against domains().
  virtual void require_support(const Device&, const Params& problem,
                               const Params& config) const = 0;
  // require_support was called before. device.threads is the team to use. comm: collectives only.
  virtual std::unique_ptr<Prepared> prepare(const Device& device, const Params& problem,
                                            const Params& config, Comm* comm) const = 0;
};

// The kernel table, in order of preference per op: the host takes the first that supports a
// problem.
std::span<const Kernel* const> kernel_table();

// The isa key of own kernels: "avx512_core" on avx512 and above, "avx2", on 64-bit Arm "asimd", or
// "".
std::string_view isa_key(Isa isa);
std::string_view isa_label(Isa isa);

}  // namespace hm_cpu
