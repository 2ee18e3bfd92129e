#include "measure/campaign/stack/stack_run.hpp"

#include <algorithm>
#include <utility>

#include "core/numeric/clock.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "host/process/arena.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/correctness.hpp"
#include "measure/campaign/stack/stack_collectives.hpp"
#include "measure/campaign/stack/stack_times.hpp"

namespace halmark {
namespace {

bool has_collective(std::span<const Stack> per_rank) {
  return std::any_of(per_rank.begin(), per_rank.end(), [](const Stack& stack) {
    return std::any_of(stack.kernels.begin(), stack.kernels.end(),
                       [](const KernelCase& k) { return k.is_collective(); });
  });
}

KernelCase with_sets(KernelCase kernel_case, std::int64_t sets) {
  kernel_case.sets = static_cast<int>(std::clamp<std::int64_t>(sets, 1, 1 << 20));
  return kernel_case;
}

// Argument sets per kernel: one per instance, or evenly fewer when `bytes_max` is not enough, but
// never fewer than the ring that keeps constants cold.
std::vector<int> affordable_sets(const Stack& stack, std::int64_t bytes_max) {
  double wanted = 0;
  for (std::size_t k = 0; k < stack.kernels.size(); ++k) {
    wanted += static_cast<double>(arena_bytes(with_sets(stack.kernels[k], stack.instances[k])));
  }
  const double share = wanted > 0 ? std::min(1.0, static_cast<double>(bytes_max) / wanted) : 1;
  std::vector<int> sets;
  for (std::size_t k = 0; k < stack.kernels.size(); ++k) {
    const auto instances = std::max<std::int64_t>(1, stack.instances[k]);
    const auto fitting = static_cast<std::int64_t>(share * static_cast<double>(instances));
    const auto ring = std::min<std::int64_t>(std::max(1, stack.kernels[k].sets), instances);
    sets.push_back(static_cast<int>(std::clamp(fitting, ring, instances)));
  }
  return sets;
}

class StackRun {
 public:
  StackRun(std::span<const Stack> per_rank, const StackRunOptions& options)
      : per_rank_(per_rank), options_(options) {}

  StackRunResult run() {
    const auto begin = SteadyClock::now();
    try {
      if (start() && stage_all() && gate()) time();
    } catch (const Error& error) {
      end(Status::refused, error.line());
    }
    if (crew_) crew_->quit();
    result_.wall_s = seconds_since(begin);
    return std::move(result_);
  }

 private:
  bool end(Status status, std::string reason) {
    result_.status = status;
    result_.reason = std::move(reason);
    return false;
  }
  bool end(const WorkerFailure& failure) { return end(failure.status, failure.reason); }

  bool start() {
    if (per_rank_.empty() || per_rank_.front().kernels.empty()) {
      return end(Status::refused, "the stack has no kernels");
    }
    if (const auto reason = collective_mismatch(per_rank_)) return end(Status::refused, *reason);
    const KernelCase& first = per_rank_.front().kernels.front();
    const int ranks = static_cast<int>(per_rank_.size());
    const bool collective = has_collective(per_rank_);
    plan_memory(ranks);
    auto started = Crew::start({.group = {.backend = first.backend,
                                          .device = first.device,
                                          .parts = std::max(1, first.parts),
                                          .shards_at_once = ranks,
                                          .is_collective = collective},
                                .plugin_path = options_.plugin_path,
                                .open_options = options_.open_options,
                                .environment = options_.environment,
                                .cache_dir = options_.cache_dir,
                                .limits = options_.limits,
                                .needs_group = collective,
                                .arenas = arenas()});
    if (!started) return end(started.failure);
    crew_ = std::move(*started);
    return true;
  }

  std::vector<SharedMemory>& arenas() { return options_.arenas ? *options_.arenas : own_arenas_; }

  void plan_memory(int ranks) {
    const auto share = static_cast<std::int64_t>(options_.memory_fraction *
                                                 static_cast<double>(available_memory_bytes())) /
                       ranks;
    std::vector<std::int64_t> wanted;
    for (const Stack& stack : per_rank_) {
      sets_.push_back(affordable_sets(stack, share));
      wanted.push_back(0);
      for (std::size_t k = 0; k < stack.kernels.size(); ++k) {
        wanted.back() += arena_bytes(with_sets(stack.kernels[k], sets_.back()[k]));
      }
    }
    auto& kept = arenas();
    if (arenas_suffice(kept, wanted)) return;
    kept.clear();  // before the new ones are made: both together may not fit
    kept = make_arenas(wanted, options_.memory_fraction);
  }

  // Collectives last and all ranks together: their first call waits for every rank.
  bool stage_all() {
    std::size_t longest = 0;
    for (const Stack& stack : per_rank_) longest = std::max(longest, stack.kernels.size());
    staged_.resize(per_rank_.size());
    for (std::size_t r = 0; r < per_rank_.size(); ++r)
      staged_[r].resize(per_rank_[r].kernels.size());
    for (std::size_t k = 0; k < longest; ++k) {
      if (!stage_where([&](std::size_t rank) { return local_kernel(rank, k); })) return false;
    }
    std::size_t most = 0;
    for (std::size_t r = 0; r < per_rank_.size(); ++r) most = std::max(most, collectives(r).size());
    for (std::size_t c = 0; c < most; ++c) {
      if (!stage_where([&](std::size_t rank) -> std::optional<std::size_t> {
            const auto all = collectives(rank);
            if (c >= all.size()) return std::nullopt;
            return all[c];
          })) {
        return false;
      }
    }
    return true;
  }

  std::optional<std::size_t> local_kernel(std::size_t rank, std::size_t k) const {
    const auto& kernels = per_rank_[rank].kernels;
    if (k >= kernels.size() || kernels[k].is_collective()) return std::nullopt;
    return k;
  }

  std::vector<std::size_t> collectives(std::size_t rank) const {
    std::vector<std::size_t> found;
    const auto& kernels = per_rank_[rank].kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].is_collective()) found.push_back(k);
    }
    return found;
  }

  // Stages at most one kernel per rank, all ranks at once; `choose` names it.
  template <class Choose>
  bool stage_where(const Choose& choose) {
    std::vector<std::optional<protocol::Stage>> requests(per_rank_.size());
    std::vector<std::size_t> kernel_of(per_rank_.size(), 0);
    for (std::size_t rank = 0; rank < per_rank_.size(); ++rank) {
      const auto k = choose(rank);
      if (!k) continue;
      kernel_of[rank] = *k;
      requests[rank] = stage_request(rank, *k);
    }
    auto outcomes = crew_->stage_each(requests);
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      if (!outcomes[rank]) continue;
      auto& outcome = *outcomes[rank];
      const KernelCase& kernel_case = per_rank_[rank].kernels[kernel_of[rank]];
      if (!outcome) {
        outcome.failure.reason = kernel_case.problem.text() + " on rank " + std::to_string(rank) +
                                 ": " + outcome.failure.reason;
        return end(outcome.failure);
      }
      note_sets(rank, kernel_of[rank], outcome->sets);
      staged_[rank][kernel_of[rank]] = std::move(*outcome);
    }
    return true;
  }

  protocol::Stage stage_request(std::size_t rank, std::size_t k) const {
    const KernelCase& kernel_case = per_rank_[rank].kernels[k];
    return {.id = static_cast<std::int64_t>(k),
            .kernel = kernel_case.kernel,
            .problem = complete_problem(kernel_case.problem),
            .config = kernel_case.config,
            .mode = kernel_case.mode,
            .sets = sets_[rank][k],
            .seed = options_.seed,
            .rank = static_cast<int>(rank),
            .ranks = static_cast<int>(per_rank_.size())};
  }

  void note_sets(std::size_t rank, std::size_t k, int sets) {
    const std::int64_t instances = per_rank_[rank].instances[k];
    const KernelCase& kernel_case = per_rank_[rank].kernels[k];
    if (sets >= instances || find_contract(kernel_case.problem.op) == nullptr) return;
    result_.shared_instances.push_back(kernel_case.problem.text() + ": " + std::to_string(sets) +
                                       " sets for " + std::to_string(instances) + " instances");
  }

  // The first output of every kernel on every rank, before anything is timed.
  bool gate() {
    for (std::size_t rank = 0; rank < per_rank_.size(); ++rank) {
      for (std::size_t k = 0; k < per_rank_[rank].kernels.size(); ++k) {
        if (!check_kernel(rank, k)) return false;
      }
    }
    return true;
  }

  bool check_kernel(std::size_t rank, std::size_t k) {
    const KernelCase& kernel_case = per_rank_[rank].kernels[k];
    const Problem problem = complete_problem(kernel_case.problem);
    const OpContract& contract = *find_contract(problem.op);
    const auto shown =
        crew_->worker(static_cast<int>(rank)).reveal({static_cast<std::int64_t>(k), {0}});
    if (!shown) return end(shown.failure);
    StagedInputs inputs(options_.seed, contract.operands(problem.params), kernel_case.mode,
                        staged_[rank][k].constants_shared);
    CheckPlan plan;
    plan.seed = hash_combine(options_.seed ^ 0x737461636bULL, rank * 4096 + k);
    const CorrectnessResult checked =
        check_outputs(contract, problem, inputs, static_cast<int>(rank),
                      {shown->revealed, shown->memory.view()}, plan);
    result_.correctness.checked += checked.correctness.checked;
    result_.correctness.worst_ratio =
        std::max(result_.correctness.worst_ratio, checked.correctness.worst_ratio);
    result_.correctness.method = "first output of every kernel: " + checked.correctness.method;
    return checked.ok || end(checked.status, problem.text() + " on rank " + std::to_string(rank) +
                                                 ": " + checked.reason);
  }

  std::vector<protocol::SequenceRequest> requests(std::int64_t repeat, std::int64_t warmup) const {
    std::vector<protocol::SequenceRequest> all;
    for (std::size_t rank = 0; rank < per_rank_.size(); ++rank) {
      protocol::SequenceRequest request{.steps = {},
                                        .repeat = repeat,
                                        .warmup = warmup,
                                        .wall_cap_s = options_.wall_cap_s,
                                        .barrier = {},
                                        .chains_activations = true};
      for (const StackStep& step : per_rank_[rank].steps) {
        const auto& staged = staged_[rank][static_cast<std::size_t>(step.kernel)];
        request.steps.push_back(
            {.id = step.kernel, .set = step.instance % std::max(1, staged.sets)});
      }
      all.push_back(std::move(request));
    }
    return all;
  }

  // Appends the repetitions of one request to the blocks. False when it failed.
  bool repeat(std::int64_t count, std::int64_t warmup) {
    auto outcomes = crew_->sequence(requests(count, warmup));
    if (const auto failure = first_failure(outcomes)) return end(*failure);
    blocks_.resize(outcomes.size());
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      auto& block = blocks_[rank];
      block.insert(block.end(), outcomes[rank]->ns.begin(), outcomes[rank]->ns.end());
      for (const Signal& signal : outcomes[rank]->measured.signals) keep_worst(signal);
      if (outcomes[rank]->measured.stop_rule == protocol::StopReason::deadline)
        hit_deadline_ = true;
    }
    result_.environment = outcomes.front()->measured.environment;
    return true;
  }

  void keep_worst(const Signal& signal) {
    const auto known = std::find_if(result_.signals.begin(), result_.signals.end(),
                                    [&](const Signal& s) { return s.name == signal.name; });
    if (known == result_.signals.end()) {
      result_.signals.push_back(signal);
    } else if (signal.value && (!known->value || *signal.value > *known->value)) {
      *known = signal;
    }
  }

  // One repetition after the warm-up tells how many the budget allows.
  void time() {
    if (!repeat(1, options_.warmup)) return;
    if (!fold_times(per_rank_, blocks_, result_)) {
      end(Status::worker_lost, "the step times do not fit the stack");
      return;
    }
    const double affordable = options_.budget_s * ns_per_s / std::max(1.0, result_.median_ns);
    const auto more = std::clamp(static_cast<std::int64_t>(std::min(affordable, 1e6)),
                                 options_.repetitions_min, options_.repetitions_max) -
                      1;
    if (more > 0 && !hit_deadline_ && !repeat(more, 0)) return;
    if (!fold_times(per_rank_, blocks_, result_)) {
      end(Status::worker_lost, "the step times do not fit the stack");
      return;
    }
    judge();
  }

  void judge() {
    Measurement whole;
    whole.signals = result_.signals;
    whole.duration_ns_median = result_.median_ns;
    whole.duration_ns_interval = result_.interval_ns;
    whole.stop_rule =
        name_of(hit_deadline_ ? protocol::StopReason::deadline : protocol::StopReason::count);
    for (const double ns : result_.step_ns) whole.samples.push_back({.wall_ns = ns});
    const Verdict verdict = judge_validity(whole, options_.thresholds);
    result_.status = verdict.status;
    result_.reason = verdict.reason;
  }

  std::span<const Stack> per_rank_;
  const StackRunOptions& options_;
  std::vector<SharedMemory> own_arenas_;
  std::vector<std::vector<int>> sets_;                 // [rank][kernel]
  std::vector<std::vector<protocol::Staged>> staged_;  // [rank][kernel]
  std::vector<std::vector<double>> blocks_;            // [rank]
  std::unique_ptr<Crew> crew_;
  bool hit_deadline_ = false;
  StackRunResult result_;
};

}  // namespace

StackRunResult run_stacks(std::span<const Stack> per_rank, const StackRunOptions& options) {
  return StackRun(per_rank, options).run();
}

}  // namespace halmark
