// What a kernel of this backend is: its domains, what it refuses, and executions over buffers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "nccl.hpp"

namespace hm_cuda {

struct Operand {
  std::string name;
  std::int32_t role = HM_ROLE_INPUT;
  std::int64_t dtype = 0;
  std::vector<std::int64_t> dims;
  bool is_turned = false;  // the last two dims are stored column by column; only constants are
};

using Buffers = std::span<hm_buffer* const>;
inline void* address_of(hm_buffer* buffer) { return plug::object_of<Buffer>(buffer).data(); }

class Prepared {
 public:
  virtual ~Prepared() = default;
  // Queues one execution.
  virtual void enqueue(cudaStream_t stream, Buffers buffers, void* workspace) = 0;
  // Packs one constant; both have its plain size.
  virtual void load_constant(cudaStream_t stream, std::uint32_t operand, const void* plain,
                             void* packed);

  std::vector<Operand> operands;
  std::string implementation, library, library_version;
  std::uint64_t workspace_bytes = 0;
  std::uint32_t launches = 1;  // of one execution; a held stream takes about a thousand in all

 protected:
  std::uint64_t bytes_of(std::uint32_t operand) const;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view op() const = 0;
  // Throws plug::failure with the reason why no config could work.
  virtual void require_support(OpenedDevice& device, plug::Params problem) const = 0;
  // Of a problem that is supported.
  virtual std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const = 0;
  // Every value of `config` lies in its domain.
  virtual std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                            plug::Params config) const = 0;
  // A collective is prepared in a group and has no domains.
  virtual bool is_collective() const { return false; }
  virtual std::unique_ptr<Prepared> prepare_in(OpenedDevice& device, plug::Params problem,
                                               const Comm& comm) const;
};

std::span<const Kernel* const> kernel_table();

}  // namespace hm_cuda
