// A prepared kernel with its argument ring: what `stage` makes and the later requests use.
#pragma once

#include <chrono>

#include "host/process/shared_memory.hpp"
#include "worker/staging/argument_ring.hpp"
#include "worker/staging/prepared_kernels.hpp"
#include "worker/staging/reveal_check.hpp"

namespace halmark::worker {

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
  ArgumentRing& ring() { return ring_; }
  CacheMode mode() const { return ring_.mode(); }
  int sets() const { return ring_.sets(); }
  bool syncs_inside() const { return prepared_.has(HM_PREPARED_SYNCS_INSIDE); }
  // Between several ranks: every rank has to make the same calls.
  bool is_collective() const { return prepared_.is_collective(); }

  // Queues `repeat` executions that begin at set `first_set` and go round the ring.
  PluginError enqueue(int first_set, std::int64_t repeat) noexcept;
  // The same, and waits: what is timed on devices without a clock of their own.
  PluginError run(int first_set, std::int64_t repeat) noexcept;
  // One execution of `set` on other buffers of the same sizes, and the wait.
  PluginError run_on(int set, const hm_arguments& arguments) noexcept;

  // Copies the outputs of the sets into a new memfd and checks canaries and checksums; before that,
  // with `inputs_from`, executes each of them once more on the inputs of that set.
  struct Shown {
    protocol::Revealed answer;
    SharedMemory memory;
  };
  Shown reveal(const protocol::Reveal& request);

  // Whether answers of set 0 stay when its constants become others in place: nothing where that
  // cannot be asked. Leaves outputs of the staged constants. Throws RequestFailed.
  std::optional<bool> keeps_constants();

 private:
  void describe(const protocol::Stage& request);
  void first_call(const ReportPhase& report);
  void require_sets(const std::vector<int>& sets) const;
  double execute_afresh(const std::vector<int>& sets, int inputs_from);  // the longest
  double time_on_inputs(int set, int inputs_from, std::chrono::milliseconds rest = {});
  double time_after(std::chrono::milliseconds rest, int set);
  std::optional<double> cost_of_new_inputs(int set, int inputs_from);
  std::vector<std::uint64_t> answers_of(int set);

  DeviceContext& context_;
  Problem problem_;
  Work work_;
  PreparedKernels prepared_;
  ArgumentRing ring_;
  protocol::Staged staged_;
  std::unique_ptr<RevealCheck> check_;  // once inputs and constants are in place
};

}  // namespace halmark::worker
