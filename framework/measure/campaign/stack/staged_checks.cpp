// What is compared before and behind the repetitions of stacks.
//
// What a stack executes has the outputs of other kernels as inputs, and no reference. So each
// kernel is executed on its own inputs as well, behind the repetitions, as often as finds an answer
// that turns wrong late or seldom, and is looked at when `wait` returns as behind a loop of its
// own.
#include <algorithm>
#include <array>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/units.hpp"
#include "measure/campaign/gate/kept_check.hpp"
#include "measure/campaign/shard_sampling.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"
#include "measure/campaign/trial_gate.hpp"

namespace halmark {
namespace {

constexpr int executions_min = 2;  // the second one is the first that a late fault shows in
constexpr int rows = 2;            // of changed inputs
constexpr double long_ns = 2e6;    // of an execution: no further ones are spent on it

// What is said of one kernel alone; the other signals are of the machine while it was checked.
constexpr std::array kernel_signals = {"read_excess_ns", "read_spread_ns",
                                       "read_ns",        "timed_with_read_ns",
                                       "read_bytes",     "cpu_share_after_wait"};

bool accumulates(const Problem& given) {
  const Problem problem = complete_problem(given);
  return std::ranges::any_of(find_contract(problem.op)->operands(problem.params),
                             [](const OperandSpec& o) { return o.role == Role::in_out; });
}

// Ranks would have to execute together, and accumulated values have no reference after a loop.
bool can_execute_afresh(const Problem& given) {
  return !find_contract(given.op)->is_collective() && !accumulates(given);
}

void keep_worst(std::vector<Signal>& kept, std::vector<Signal> of_rank) {
  for (Signal& signal : of_rank) {
    if (!contains(kernel_signals, signal.name)) continue;
    auto* known = find_or_null(kept, signal.name, &Signal::name);
    if (!known) {
      kept.push_back(std::move(signal));
    } else if (signal.value > known->value) {
      *known = std::move(signal);
    }
  }
}

}  // namespace

// The first output of every kernel on every rank, before anything is timed.
std::optional<WorkerFailure> StagedStacks::gate() {
  for (const auto rank : indices(per_rank_)) {
    for (const auto id : indices(kernels_)) {
      if (held_[rank][id].sets == 0) continue;
      const std::string shape =
          kernels_[id].problem.text() + " | " + held_[rank][id].staged.implementation.name;
      const bool is_known = options_.history != nullptr && options_.history->shapes.contains(shape);
      CheckPlan plan = is_known ? after_loop_plan(0) : CheckPlan{};
      plan.lines_and_freivalds = options_.history != nullptr && !is_known;
      if (auto failure = check_kernel(rank, id, plan, std::nullopt)) return failure;
      if (options_.history != nullptr) options_.history->shapes.insert(shape);
    }
  }
  return std::nullopt;
}

StagedInputs StagedStacks::inputs_of(std::size_t rank, std::size_t id) const {
  const Problem problem = complete_problem(kernels_[id].problem);
  return {options_.seed, find_contract(problem.op)->operands(problem.params),
          kernels_[id].staging(), held_[rank][id].staged.constants_shared};
}

std::optional<WorkerFailure> StagedStacks::check_kernel(std::size_t rank, std::size_t id,
                                                        CheckPlan plan,
                                                        std::optional<int> inputs_from,
                                                        std::vector<RevealAnswer>* keep,
                                                        double plain_ns) {
  const Problem problem = complete_problem(kernels_[id].problem);
  auto shown = crew_->worker(as_int(rank)).reveal({as_int64(id), {0}, inputs_from, plain_ns});
  if (!shown) return shown.failure;
  Held& held = held_[rank][id];
  keep_most(signals_[id], shown->revealed.new_inputs_cost);
  StagedInputs inputs = inputs_of(rank, id);
  if (inputs_from) inputs.replace_inputs(*inputs_from);
  plan.seed = hash_combine(options_.check_seed ^ 0x737461636bULL, rank * 4096 + id);
  const CorrectnessResult checked =
      check_outputs(*find_contract(problem.op), problem, inputs, held.rank(rank),
                    {shown->revealed, shown->memory.view()}, plan);
  correctness_.checked += checked.correctness.checked;
  correctness_.worst_ratio = std::max(correctness_.worst_ratio, checked.correctness.worst_ratio);
  if (!inputs_from && keep == nullptr) {
    correctness_.method = "first output of every kernel: " + checked.correctness.method;
    held.correctness = checked.correctness;
  }
  if (!checked.ok) return wrong(rank, id, checked);
  if (keep != nullptr) keep->push_back(std::move(*shown));
  return std::nullopt;
}

WorkerFailure StagedStacks::wrong(std::size_t rank, std::size_t id,
                                  const CorrectnessResult& result) {
  culprit_ = kernels_[id];
  const std::string who = complete_problem(kernels_[id].problem).text() + " on rank ";
  return {result.status, who + std::to_string(rank) + ": " + result.reason, {}, 0, false};
}

std::vector<int> StagedStacks::holders_of(std::size_t id) const {
  std::vector<int> out;
  for (const auto rank : indices(held_)) {
    if (held_[rank][id].sets > 0) out.push_back(as_int(rank));
  }
  return out;
}

// So that the outputs of the first sets are those of their own inputs again.
std::optional<WorkerFailure> StagedStacks::execute_on_own_inputs() {
  std::vector<protocol::SequenceRequest> requests(held_.size());
  for (const auto rank : indices(held_)) {
    requests[rank].warmup = 1;
    requests[rank].repeat = 0;
    requests[rank].wall_cap_s = options_.wall_cap_s;
    for (std::size_t id = 0; id < kernels_.size(); ++id) {
      if (held_[rank][id].sets == 0) continue;
      requests[rank].steps.push_back({.id = as_int64(id), .set = 0, .advance = 0});
    }
  }
  return first_failure(crew_->sequence(requests));
}

// A first call may wait for a CPU or for pages, or be slow on purpose, to keep the others from
// being checked: where it was long, later ones say how long an execution is.
Outcome<double> StagedStacks::execution_ns(std::size_t id) {
  double least_ns = first_ns(kernels_[id]);
  if (least_ns <= long_ns) return least_ns;
  protocol::SampleRule later;
  later.stop = protocol::Stop::count;
  later.count = executions_min;
  later.repeat = 1;
  later.warmup_cap_s = 0;
  const auto series =
      sample_shards(*crew_, as_int64(id), later, options_.wall_cap_s, least_ns, holders_of(id));
  if (!series) return series.failure;
  for (const Sample& sample : series->merged.samples) {
    least_ns = std::min(least_ns, sample_ns(sample));
  }
  return least_ns;
}

std::optional<WorkerFailure> StagedStacks::check_executions(int executions, double budget_s) {
  std::vector<double> times_ns;  // before the outputs are those of own inputs: it changes them
  for (const auto id : indices(kernels_)) {
    const auto time_ns = execution_ns(id);
    if (!time_ns) return time_ns.failure;
    times_ns.push_back(std::max(1.0, *time_ns));
  }
  if (auto failure = execute_on_own_inputs()) return failure;
  const double share_ns = budget_s * ns_per_s / as_double(kernels_.size());
  for (const auto id : indices(kernels_)) {
    const std::vector<int> holders = holders_of(id);
    if (holders.empty() || accumulates(kernels_[id].problem)) continue;
    // Some are followed by one that is not looked at.
    const double affordable = std::min(1e6, share_ns / (2 * times_ns[id]));
    const int count =
        std::clamp(as_int(affordable), executions_min, std::max(executions_min, executions));
    const bool is_long = times_ns[id] > long_ns;
    const bool draws_alike = kernels_[id].is_collective();
    const protocol::OutputChecks checks{
        .executions = count,
        .rows = is_long ? 0 : rows,
        .seed = draws_alike ? std::max<std::uint64_t>(1, fresh_seed()) : 0,
        .behind_loop = !is_long};
    if (auto failure = check_executions_of(id, holders, checks)) {
      failure->reason = "after the repetitions: " + failure->reason;
      return failure;
    }
  }
  return std::nullopt;
}

std::optional<WorkerFailure> StagedStacks::check_executions_of(
    std::size_t id, std::span<const int> holders, const protocol::OutputChecks& checks) {
  std::vector<RevealAnswer> firsts;
  for (const int rank : holders) {
    if (auto failure = check_kernel(as_size(rank), id, after_loop_plan(0), std::nullopt, &firsts)) {
      return failure;
    }
  }
  protocol::SampleRequest request{.id = as_int64(id),
                                  .rule = {},
                                  .wall_cap_s = options_.wall_cap_s,
                                  .barrier = {},
                                  .checks = checks,
                                  .checks_only = true};
  request.rule.stop = protocol::Stop::count;
  request.rule.count = checks.executions;
  request.rule.repeat = 1;
  request.rule.warmup_cap_s = 0;
  auto outcomes = crew_->sample(request, holders);
  if (const auto failure = first_failure(outcomes)) {
    culprit_ = kernels_[id];
    return failure;
  }
  Held& shown = held_[as_size(holders.front())][id];
  KeptChecks least;
  for (const auto i : indices(holders)) {
    const auto rank = as_size(holders[i]);
    const KeptResult found = compare_kept(rank, id, *outcomes[i], firsts[i]);
    if (!found.result.ok) return wrong(rank, id, found.result);
    if (i == 0 || found.checks.executions < least.executions) least = found.checks;
    keep_worst(signals_[id], std::move(outcomes[i]->measured.signals));
  }
  const std::string method = kept_method(least, "behind the repetitions");
  if (!method.empty()) shown.correctness.method += "; " + method;
  return std::nullopt;
}

KeptResult StagedStacks::compare_kept(std::size_t rank, std::size_t id, SampleAnswer& answer,
                                      const RevealAnswer& first) const {
  const Held& held = held_[rank][id];
  const Problem problem = complete_problem(kernels_[id].problem);
  const OpContract& contract = *find_contract(problem.op);
  StagedInputs inputs = inputs_of(rank, id);
  const KeptSeries series{std::move(answer.measured.kept), std::move(answer.measured.overwritten),
                          std::move(answer.kept)};
  return check_kept(contract, problem, inputs, held.rank(rank),
                    {kernels_[id].staging(), held.staged.constants_shared, std::nullopt}, series,
                    {first.revealed, first.memory.view()},
                    hash_combine(fresh_seed(), rank * 4096 + id));
}

std::optional<WorkerFailure> StagedStacks::check_afresh(std::span<const Measurement> rows) {
  const auto longest_ns = [&](const KernelCase& of) {
    double out = 0;
    for (const Measurement& row : rows) {
      if (row.kernel_case.shares_arguments(of)) out = std::max(out, row.duration_ns_median);
    }
    return out;
  };
  for (const auto rank : indices(per_rank_)) {
    for (const auto id : indices(kernels_)) {
      const Held& held = held_[rank][id];
      if (held.sets == 0 || !can_execute_afresh(kernels_[id].problem)) continue;
      const int unseen = held.staged.sets + 1 + as_int(options_.check_seed >> 40);
      const double plain_ns = longest_plain_execution * longest_ns(kernels_[id]);
      if (auto failure = check_kernel(rank, id, after_loop_plan(0), unseen, nullptr, plain_ns)) {
        failure->reason = "after the repetitions: " + failure->reason;
        return failure;
      }
    }
  }
  return std::nullopt;
}

}  // namespace halmark
