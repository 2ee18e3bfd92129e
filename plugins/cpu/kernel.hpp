// What one kernel of this backend is: plain values in, a prepared object out. A kernel is one file
// with one line in table.cpp; it knows nothing of the ABI's handles.
#pragma once

#include <halmark_plugin.h>

#include <cstdint>
#include <initializer_list>
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

class Comm;  // comm.hpp; only built with MPI

// Errors of a problem or of the host; the ABI layer turns them into status codes.
[[noreturn]] void unsupported(const std::string& reason);
[[noreturn]] void invalid(const std::string& reason);

// The parameters of a problem or of a config. Values live for the call only.
class Params {
 public:
  Params() = default;
  Params(const hm_param* values, std::uint32_t count) : values_(values), count_(count) {}
  explicit Params(const hm_problem& problem) : Params(problem.params, problem.count) {}
  explicit Params(const hm_config* config)
      : Params(config ? config->params : nullptr, config ? config->count : 0) {}

  std::int64_t at(std::string_view name) const;  // unsupported when absent
  std::int64_t value_or(std::string_view name, std::int64_t fallback) const;
  std::int64_t size(std::string_view name) const;  // at() that must be >= 1
  std::int32_t dtype(std::string_view name) const { return static_cast<std::int32_t>(at(name)); }
  // Silently ignoring a parameter would measure something else.
  void reject_unknown(std::initializer_list<std::string_view> known) const;

 private:
  const hm_param* find(std::string_view name) const;
  const hm_param* values_ = nullptr;
  std::uint32_t count_ = 0;
};

struct Domain {
  std::string name;
  std::vector<std::int64_t> values;
  std::vector<std::string> labels;  // of values; empty = ordered, else categorical
  std::int64_t default_value = 0;
};

struct Operand {
  std::string name;  // the contract's
  std::int32_t role = HM_ROLE_INPUT;
  std::int32_t dtype = HM_DTYPE_F32;
  std::vector<std::int64_t> dims;  // plain row-major unless opaque
  std::uint64_t bytes = 0;         // 0 = dims * width
  std::string opaque_layout;       // not empty = packed by load_constants
};

struct PreparedInfo {
  std::string implementation;  // verbatim from the library, or "halmark:<kernel>:<isa>"
  std::string isa;             // avx2, avx512_core, ...; "" = unknown
  std::string library = "halmark";
  std::string library_version;  // "" = this plugin's
  std::uint64_t workspace_bytes = 0;
  std::uint32_t launches_per_execution = 1;
  std::uint32_t flags = 0;  // HM_PREPARED_*
};

class Prepared {
 public:
  virtual ~Prepared() = default;
  PreparedInfo info;
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

// Bytes of one element of the dtypes that this backend uses; unsupported() for others.
std::int64_t width_bytes(std::int32_t dtype);
std::string_view dtype_name(std::int32_t dtype);
std::uint64_t plain_bytes(const Operand& operand);
// The isa key of own kernels: "avx512_core" on avx512 and above, "avx2", or "".
std::string_view isa_key(Isa isa);
std::string_view isa_label(Isa isa);

}  // namespace hm_cpu
