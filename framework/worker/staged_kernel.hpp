// A prepared kernel with its argument ring: what `stage` makes and the later requests use.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/plugin.hpp"
#include "host/protocol.hpp"
#include "host/shared_memory.hpp"
#include "kernels/contract.hpp"
#include "measure/sampling/clock_source.hpp"
#include "worker/host_memory.hpp"
#include "worker/operand_buffer.hpp"

namespace halmark::worker {

// What one worker has open. Everything in it outlives the kernels staged on it.
struct DeviceContext {
  PluginInstance& plugin;
  OpenDevice& device;
  DeviceStream& stream;
  HostMemory& memory;
  ClockSource& clock;
  const std::vector<protocol::KernelDescription>& kernels;
  const Communicator* communicator = nullptr;  // groups only
};

using ReportPhase = std::function<void(const char* phase)>;

class StagedKernel {
 public:
  // prepare (timed: create), operands, inputs, constants of set 0 (timed: pack), the other sets,
  // one call on set 0 (timed: first). `report` is called before each timed phase. Throws
  // RequestFailed.
  StagedKernel(DeviceContext& context, const protocol::Stage& request, const ReportPhase& report);
  StagedKernel(const StagedKernel&) = delete;
  StagedKernel& operator=(const StagedKernel&) = delete;

  const protocol::Staged& staged() const { return staged_; }
  const Work& work() const { return work_; }
  CacheMode mode() const { return mode_; }
  bool syncs_inside() const { return (flags_ & HM_PREPARED_SYNCS_INSIDE) != 0; }
  // Between several ranks: every rank has to make the same calls.
  bool is_collective() const { return is_collective_; }
  int sets() const { return staged_.sets; }

  // Queues `repeat` executions that begin at set `first_set` and go round the ring.
  PluginError enqueue(int first_set, std::int64_t repeat) noexcept;
  // The same, and waits: what is timed on devices without a clock of their own.
  PluginError run(int first_set, std::int64_t repeat) noexcept;

  // An activation of one set: where it lies and whether other values may stand in for it.
  struct Activation {
    std::size_t operand = 0;
    Dtype dtype = Dtype::f32;
    std::uint64_t bytes = 0;
    hm_buffer* handle = nullptr;
  };
  std::vector<Activation> outputs_of(int set);
  std::vector<Activation> replaceable_inputs(int set);  // indices and given values stay
  const std::vector<hm_buffer*>& handles(int set) const {
    return handles_[static_cast<std::size_t>(set)];
  }
  // One execution of `set` on other buffers of the same sizes, and the wait.
  PluginError run_on(int set, const hm_arguments& arguments) noexcept;

  void poison_outputs();
  // One line of each output that the next `repeat` executions write; outside every interval.
  void mark_outputs(int first_set, std::int64_t repeat);

  // Copies the outputs of the sets into a new memfd and checks canaries and checksums; before that,
  // with `inputs_from`, executes each of them once more on the inputs of that set.
  struct Shown {
    protocol::Revealed answer;
    SharedMemory memory;
  };
  Shown reveal(const protocol::Reveal& request);

 private:
  struct Operand {
    OperandSpec spec;
    OperandInfo info;
    bool per_set = false;
    bool is_written() const { return spec.role == Role::output || spec.role == Role::in_out; }
  };

  void prepare(const protocol::Stage& request);
  void read_operands();
  void share_large_outputs();
  void make_buffers(int wanted_sets);
  void fill_inputs();
  void fill_operand(int set, std::size_t operand, int from_set);
  void load_constants(std::uint64_t seed, int rank, const ReportPhase& report);
  void load_constants_of(int set, std::uint64_t seed, int rank, double* duration_ns);
  void copy_constants(int set);
  void build_arguments();
  void first_call(const ReportPhase& report);
  void remember_checksums();
  void require_sets(const std::vector<int>& sets) const;
  void execute_afresh(const std::vector<int>& sets, int inputs_from);
  void note_damage(protocol::Revealed& answer);
  OperandBuffer& buffer(int set, std::size_t operand);
  bool has_constants() const;

  DeviceContext& context_;
  const OpContract* contract_ = nullptr;
  Problem problem_;
  CacheMode mode_;
  Work work_;
  std::uint32_t flags_ = 0;
  bool is_collective_ = false;
  std::uint64_t seed_ = 0;  // of the inputs
  int rank_ = 0;
  std::uint32_t kernel_index_ = 0;
  Config config_;
  protocol::Staged staged_;
  std::vector<PreparedKernel> prepared_;  // one, or one per set when constants are compiled in
  std::vector<Operand> operands_;
  std::vector<std::vector<OperandBuffer>> buffers_;  // [set][operand]; shared ones only in set 0
  OperandBuffer workspace_;
  std::vector<std::vector<hm_buffer*>> handles_;  // [set][operand]
  std::vector<hm_arguments> arguments_;           // the ring twice, so that it may start anywhere
  std::vector<std::uint64_t> checksums_;          // of inputs and constants, in ring order
  std::uint64_t mark_offset_ = 0;
};

}  // namespace halmark::worker
