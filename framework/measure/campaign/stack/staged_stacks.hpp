// The stacks of all ranks in memory, gated: what a run repeats, and the kernels that are measured
// beside it on the same argument sets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/measured/measurement.hpp"
#include "host/process/shared_memory.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/correctness.hpp"
#include "measure/campaign/gate/kept_check.hpp"
#include "measure/campaign/stack/stack_run.hpp"

namespace halmark {

// That one request may answer.
std::int64_t repetitions_max(std::span<const Stack> stacks);

// One crew whose rank i holds the kernels of stack i, and the kernels `options.beside` on every
// rank, or where fewer shards execute one at once, on those of the stacks that do. A kernel has one
// id on all ranks, and cases that share their arguments have the same.
class StagedStacks {
 public:
  StagedStacks(std::span<const Stack> per_rank, const StackRunOptions& options)
      : per_rank_(per_rank), options_(options) {}

  // Starts the workers, stages every kernel and compares its first output. Nothing = ready. Throws
  // Error for a problem that its contract refuses.
  std::optional<WorkerFailure> prepare();

  Crew& crew() { return *crew_; }
  // One request per rank: `stacks` are those of the ranks, or shorter ones of the same kernels.
  // Repetitions go on through the argument sets.
  std::vector<protocol::SequenceRequest> sequence(std::span<const Stack> stacks,
                                                  std::int64_t repeat, std::int64_t warmup) const;
  std::int64_t id_of(const KernelCase& kernel_case) const;
  // The shards that execute a kernel at once beside the run: empty = all.
  std::vector<int> shards_of(const KernelCase& kernel_case) const;
  // Of its first execution, on the first rank that holds it.
  double first_ns(const KernelCase& kernel_case) const;

  // The kernel that could not be staged or gave a wrong answer; nothing where no single one is
  // known.
  const std::optional<KernelCase>& culprit() const { return culprit_; }
  const Correctness& correctness() const { return correctness_; }
  // Of a kernel: what the first rank that holds it staged, and how it was checked.
  struct Kernel {
    int rank = 0;
    protocol::Staged staged;
    Correctness correctness;
    std::vector<Signal> signals;
  };
  std::optional<Kernel> kernel(const KernelCase& kernel_case) const;
  // `executions` of each on its own inputs, fewer where they would take more than its share of
  // `budget_s`, and what is there when `wait` returns. Nothing = all answers are right.
  std::optional<WorkerFailure> check_executions(int executions, double budget_s);
  // One more execution of each on inputs that it has not seen; then those are the inputs. Timed,
  // where that takes longer than in the rows.
  std::optional<WorkerFailure> check_afresh(std::span<const Measurement> rows);
  // Kernels with fewer argument sets than their stack has instances, because memory ended.
  const std::vector<std::string>& shared_instances() const { return shared_instances_; }
  // Of every rank, with what its worker has grown by since it started; asks the workers. Empty
  // before everything is staged.
  std::vector<RankStaging> memory();
  // Gives up what is staged: the workers stay.
  void drop();
  void quit() {
    if (crew_) crew_->quit();
  }

 private:
  // What a rank holds of a kernel; no sets = nothing.
  struct Held {
    int sets = 0;
    std::int64_t instances = 0;  // that its stack needs
    std::vector<int> members;    // of a collective: who meets in it; empty = all
    int rank(std::size_t of_all) const;
    protocol::Staged staged;
    Correctness correctness;
  };

  void list_kernels();
  std::optional<WorkerFailure> plan_memory();
  void afford_sets(std::vector<Held>& held, std::int64_t bytes_max) const;
  std::int64_t bytes_of(const std::vector<Held>& held) const;
  std::int64_t least_of(const std::vector<Held>& held) const;
  std::optional<WorkerFailure> start();
  void read_baselines();
  RankStaging staging_of(std::size_t rank) const;
  std::optional<WorkerFailure> stage_all();
  std::optional<WorkerFailure> stage(std::size_t id);
  std::optional<WorkerFailure> gate();
  StagedInputs inputs_of(std::size_t rank, std::size_t id) const;
  // Of the first set. An answer that is to be kept is no longer the first one.
  std::optional<WorkerFailure> check_kernel(std::size_t rank, std::size_t id, CheckPlan plan,
                                            std::optional<int> inputs_from,
                                            std::vector<RevealAnswer>* keep = nullptr,
                                            double plain_ns = 0);
  WorkerFailure wrong(std::size_t rank, std::size_t id, const CorrectnessResult& result);
  std::vector<int> holders_of(std::size_t id) const;
  std::optional<WorkerFailure> execute_on_own_inputs();
  Outcome<double> execution_ns(std::size_t id);
  std::optional<WorkerFailure> check_executions_of(std::size_t id, std::span<const int> holders,
                                                   const protocol::OutputChecks& checks);
  KeptResult compare_kept(std::size_t rank, std::size_t id, SampleAnswer& answer,
                          const RevealAnswer& first) const;
  void note_sets(const KernelCase& kernel_case, const Held& held);
  std::vector<SharedMemory>& arenas() { return options_.arenas ? *options_.arenas : own_arenas_; }

  std::span<const Stack> per_rank_;
  const StackRunOptions& options_;
  std::vector<SharedMemory> own_arenas_;
  std::vector<KernelCase> kernels_;           // of all ranks
  std::vector<std::vector<Held>> held_;       // [rank][id]
  std::vector<std::vector<Signal>> signals_;  // by id: of checked executions, the worst rank's
  std::unique_ptr<Crew> crew_;
  Correctness correctness_;
  std::optional<KernelCase> culprit_;
  std::vector<std::string> shared_instances_;
  std::vector<Outcome<protocol::MemoryAnswer>> baselines_;  // per rank; empty: not asked
  bool is_staged_ = false;                                  // all kernels, on all ranks
};

}  // namespace halmark
