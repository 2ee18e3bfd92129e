// The truth check: front points are run whole in the workers and confronted with their estimates.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "measure/campaign/stack/stack_run.hpp"
#include "tune/search/measure.hpp"
#include "tune/validate/stack_turns.hpp"

namespace halmark::tune {

// Confronts what was printed of a configuration with a run of its whole stack. Never throws for a
// failed run: the status and reason say what happened.
Validation confront(const OperatorGraph& graph, const Estimate& printed, const StackRunResult& run);

// Runs the whole stack of a configuration in turns with the kernels that carry it, and confronts
// both sums with it: the printed one, and that of its kernels then.
struct StackRunning {
  std::string plugin_path;
  std::map<std::string, std::string> plugin_path_by_backend = {};  // of ranks on other backends
  WorkerLimits limits;
  std::uint64_t seed = 1;
  StackTurns turns;
  const Device* device = nullptr;               // its measured peaks; null = no state of the memory
  std::vector<SharedMemory>* arenas = nullptr;  // kept from run to run
  std::optional<NodeJob> job = {};              // over whose nodes the target spreads ranks
  std::stop_token stop;
};
Validation run_and_confront(const Composer& composer, const Target& target,
                            const LatencySource& source, const Estimate& printed,
                            const StackRunning& running);

// Of more ranks than cores: the stack alone, for its outputs. Nothing is said of its time.
Validation run_oversubscribed(const OperatorGraph& graph, const Target& target,
                              const StackRunning& running);
// "oversubscribed: 4 ranks on 2 cores"
std::string oversubscribed_text(int ranks, int cores);

struct ValidateOptions {
  std::int64_t points = 0;  // 0 = all front points
  double budget_s = 1e9;
  double block_s = 1;  // of a turn of the stack or of its kernels
  // Called after each point; may be empty.
  std::function<void(std::size_t done, std::size_t total, const std::string& key)> progress;
};

// Runs points of the front, evenly spread over it, and stores what came of them. What the budget
// does not cover is named in the notes of the run.
void validate_front(MeasuredEvaluator& evaluator, const ValidateOptions& options, TuneRun& run);

}  // namespace halmark::tune
