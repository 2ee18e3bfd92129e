// The argument sets of one staged kernel: what an interval goes round, so that caches stay in the
// state which the cache mode asks for.
#pragma once

#include <vector>

#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "worker/staging/operand_buffer.hpp"
#include "worker/staging/prepared_kernels.hpp"

namespace halmark::worker {

struct StagedOperand {
  OperandSpec spec;
  OperandInfo info;
  bool per_set = false;  // false: every set uses the buffer of set 0
  bool is_written() const { return spec.role == Role::output || spec.role == Role::in_out; }
  bool is_read_only() const { return spec.role == Role::input || spec.role == Role::constant; }
};

// An activation of one set: where it lies and whether other values may stand in for it.
struct Activation {
  std::size_t operand = 0;
  Dtype dtype = Dtype::f32;
  std::uint64_t bytes = 0;
  hm_buffer* handle = nullptr;
};

class ArgumentRing {
 public:
  // Checks the plugin's operands against the contract and makes the buffers: set 0 always, further
  // ones up to request.sets while memory lasts. Throws RequestFailed (phase "create").
  ArgumentRing(DeviceContext& context, PreparedKernels& prepared, const Problem& problem,
               const protocol::Stage& request);

  int sets() const { return static_cast<int>(buffers_.size()); }
  CacheMode mode() const { return mode_; }
  const std::vector<StagedOperand>& operands() const { return operands_; }
  bool has(Role role) const;
  OperandBuffer& buffer(int set, std::size_t operand);
  const OperandBuffer& workspace() const { return workspace_; }
  // Of every operand, and of the workspace where there is one.
  std::vector<protocol::StagedMemory> memory() const;

  // Every operand but outputs and constants, each set with the values that are its own.
  void fill_inputs();
  void fill_operand(int set, std::size_t operand, int from_set);
  // A buffer of that operand's plain layout that is not of the ring.
  void fill_other(OperandBuffer& buffer, std::size_t operand, int from_set) const;
  void poison_outputs();
  // One line of each output that the next `repeat` executions write; outside every interval.
  void mark_outputs(int first_set, std::int64_t repeat);
  // Where in an output of `bytes` bytes the last line was marked.
  std::uint64_t marked_at(std::uint64_t bytes) const;

  // `repeat` executions that begin at set `first_set` and go round. Valid as long as the ring.
  hm_launch launch(int first_set, std::int64_t repeat) noexcept;
  // One execution on other buffers of the same sizes.
  hm_launch launch_on(const hm_arguments& arguments) noexcept;

  std::vector<Activation> outputs_of(int set);
  std::vector<Activation> replaceable_inputs(int set);  // indices and given values stay
  const std::vector<hm_buffer*>& handles(int set) const {
    return handles_[static_cast<std::size_t>(set)];
  }

 private:
  void read_operands(DeviceContext& context, PreparedKernels& prepared, const Problem& problem);
  void share_large_outputs(const PreparedKernels& prepared);
  void make_buffers(DeviceContext& context, const PreparedKernels& prepared, int wanted_sets);
  bool add_set(DeviceContext& context);
  void build_arguments();

  CacheMode mode_;
  std::uint64_t seed_ = 0;  // of the inputs
  int rank_ = 0;
  std::vector<StagedOperand> operands_;
  OperandBuffer workspace_;
  std::vector<std::vector<OperandBuffer>> buffers_;  // [set][operand]; shared ones only in set 0
  std::vector<std::vector<hm_buffer*>> handles_;     // [set][operand]
  std::vector<hm_arguments> arguments_;  // the ring twice, so that it may start anywhere
  std::uint64_t mark_offset_ = 0;
};

// Writes the values of one set of the pool into the buffer, through the host where the device's
// memory is apart.
void fill(OperandBuffer& target, const InputPool& pool, int rank, int set, std::size_t operand);

}  // namespace halmark::worker
