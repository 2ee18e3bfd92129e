// What `prepare` returned for one staged case: one prepared kernel, or one per argument set on
// devices that compile constants in.
#pragma once

#include <vector>

#include "kernels/contract.hpp"
#include "worker/device_context.hpp"
#include "worker/staging/kernel_choice.hpp"

namespace halmark::worker {

class PreparedKernels {
 public:
  // Chooses the kernel and prepares it for set 0. Throws RequestFailed (phase "create").
  PreparedKernels(DeviceContext& context, const protocol::Stage& request, const Problem& problem);

  const std::string& kernel() const { return choice_.name; }
  const PreparedInfo& info() const { return info_; }
  double create_ns() const { return create_ns_; }
  bool has(std::uint32_t flag) const { return (info_.flags & flag) != 0; }
  // Between several ranks: every rank has to make the same calls.
  bool is_collective() const { return is_collective_; }
  bool can_load_constants() const { return prepared_.front().can_load_constants(); }
  // The operand as the plugin describes it, unchecked. Throws RequestFailed (phase "create").
  OperandInfo operand(std::uint32_t index);

  // Prepares one more, for the constants of the next set. Throws RequestFailed (phase "create").
  void add();
  bool is_one_per_set() const { return prepared_.size() > 1; }
  PreparedKernel& of(int set) {
    return prepared_[is_one_per_set() ? static_cast<std::size_t>(set) : 0];
  }

 private:
  PreparedKernel prepare(const Communicator* communicator);

  DeviceContext& context_;
  Problem problem_;
  KernelChoice choice_;
  bool is_collective_ = false;
  std::vector<PreparedKernel> prepared_;
  double create_ns_ = 0;
  PreparedInfo info_;
};

}  // namespace halmark::worker
