// The truth check: executes the whole stack of a deployment in workers, all shards at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/measured/execution.hpp"
#include "core/measured/measurement.hpp"
#include "host/nodes/node_group.hpp"
#include "host/process/shared_memory.hpp"
#include "host/worker_client.hpp"
#include "measure/campaign/gate/validity.hpp"

namespace halmark {

struct GateHistory;

inline constexpr int stack_pairs = 5;                    // of a run and its kernels
inline constexpr int stack_pairs_more = 2;               // for those that a move sets apart
inline constexpr int stack_pairs_min = 3;                // fewer say nothing of their spread
inline constexpr int stack_turns = 2 * stack_pairs + 1;  // of the stack and of its kernels

// For executions that are compared behind repetitions: a tenth of what a stack took so far, and of
// a second.
inline double stack_checks_budget_s(double spent_s) { return 0.1 * (1 + spent_s); }

struct StackRunOptions {
  std::string plugin_path;
  std::map<std::string, std::string> plugin_path_by_backend;  // of ranks on other backends
  // Ranks fill its nodes in their order; their memories are their own, of which one node's stands
  // for all. Nothing is kept in `arenas` then, and the state of the memory is not followed.
  std::optional<NodeJob> job;
  std::map<std::string, std::string> environment;
  Config open_options;
  std::string cache_dir;
  WorkerLimits limits;
  std::uint64_t seed = 0;        // of the inputs
  std::uint64_t check_seed = 0;  // the workers never see it
  ValidityThresholds thresholds;
  // What was compared at length before is compared in short; may be null.
  GateHistory* history = nullptr;
  std::int64_t warmup = 1;
  // Blocks of the stack alternate with blocks of these kernels on the same argument sets: stack,
  // kernels, stack, kernels, ..., stack. Empty = one block of the stack. Those of `short_stacks`
  // (per rank; kernels that the stacks have) are timed where they stand, the others each in a loop.
  std::vector<KernelCase> beside;
  // Ranks share cores: outputs are checked, and no verdict on times is given.
  bool is_oversubscribed = false;
  std::vector<Stack> short_stacks;
  int pairs = stack_pairs, pairs_more = stack_pairs_more;
  double block_s = 1;  // of a block, or one repetition where that takes longer
  std::int64_t repetitions_min = 3;
  std::int64_t walk_bytes = 0;   // short reads of the memory around blocks walk through; 0 = none
  double wall_cap_s = 60;        // of one request
  double memory_fraction = 0.5;  // of what the run may use, over all ranks
  bool measures_memory = false;  // fills StackRunResult::memory
  // Arenas kept from run to run: fresh pages are expensive. Null = own ones, freed at the end.
  std::vector<SharedMemory>* arenas = nullptr;
  std::function<bool()> should_stop;  // asked between blocks; may be empty
};

// A block of kernels between two blocks of the stack.
struct StackPair {
  double stack_ns = 0;            // mean over the repetitions of each of the two blocks around
  std::vector<double> kernel_ns;  // by StackRunOptions::beside: mean; all shards at once
  // The memory's or the cores' speed moved by more than a tenth from block to block: shown apart.
  bool is_apart = false;
};

// What one rank staged, and what its worker grew by.
struct RankStaging {
  // The buffers of one operand, or of the workspace: all that differ, over all argument sets.
  struct Buffers {
    static constexpr std::int64_t workspace = protocol::StagedMemory::workspace;
    std::int64_t operand = 0;  // its place in the contract, or `workspace`
    std::int64_t bytes = 0;    // of one, as the plugin asked for it
    std::int64_t count = 0;
    std::int64_t allocated_bytes = 0;  // of all, as the worker says
    std::int64_t around_bytes = 0;     // of one, beyond `bytes`, as workers are to allocate
    bool is_host = false;              // in memory that the worker maps
  };
  struct Kernel {
    Problem problem;             // complete
    std::int64_t instances = 0;  // in the stack of this rank; 0 = staged to be measured beside it
    std::int64_t workspace_bytes = 0;  // as the plugin asked for it
    int sets = 0;
    std::vector<Buffers> memory;
  };
  std::vector<Kernel> kernels;
  std::optional<std::int64_t> baseline_bytes;  // plugin loaded, device open, nothing staged
  std::optional<std::int64_t> set_size_bytes;  // after the run
  std::int64_t probe_bytes = 0;                // of it: kept by probes of the machine
  std::string reason;                          // why one of them is absent
};

struct StackRunResult {
  Status status = Status::cancelled;
  std::string reason;           // never empty unless status is ok
  std::vector<double> step_ns;  // per repetition, the slowest rank
  std::vector<StackPair> pairs;
  // The state of the memory, in bytes/s of all shards at once: median over the blocks.
  std::optional<double> bytes_per_s;
  std::optional<double> flops_per_s;  // short probes of one core, in the stack's main type
  double median_ns = 0;
  Interval interval_ns;
  struct OperatorTime {
    std::string name;
    std::string layer_type;
    std::int64_t count = 0;  // steps of one repetition on one rank
    double ns = 0;           // all of them; median over repetitions of the slowest rank
  };
  std::vector<OperatorTime> operators;     // in order of first execution
  std::vector<RankExecutions> executions;  // by rank
  // Of all ranks' time, what stages of a pipeline waited for their turn; absent without stages.
  std::optional<double> bubble_share;
  std::vector<Signal> signals;
  Correctness correctness;
  std::string environment;
  double wall_s = 0;
  // Kernels with fewer argument sets than the stack has instances, because memory ended.
  std::vector<std::string> shared_instances;
  std::vector<RankStaging> memory;  // per rank; empty unless asked for and staged
};

// Stages of a pipeline meet in the shifts between them, so that a repetition is the step with its
// bubbles, from the first stage's begin to the last one's end.
//
// Runs until `pairs` pairs have met one state of the machine each, and `pairs_more` more
// at most. One stack per
// rank; rank i runs on its place, or on part i of the device that its kernels name. Ranks are MPI
// ranks when any step is a collective, plain workers with a common start otherwise. Every kernel
// passes the correctness gate before a repetition is timed. Failures are statuses, never
// exceptions.
StackRunResult run_stacks(std::span<const Stack> per_rank, const StackRunOptions& options);

}  // namespace halmark
