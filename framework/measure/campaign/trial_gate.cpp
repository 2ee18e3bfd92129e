#include "measure/campaign/trial_gate.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr std::int64_t twin_id = 2;

}  // namespace

std::uint64_t fresh_seed() {
  constexpr std::uint64_t exact_in_a_double = (std::uint64_t{1} << 53) - 1;
  std::random_device device;
  return ((as_uint64(device()) << 32) ^ device()) & exact_in_a_double;
}

void keep_most(std::vector<Signal>& signals, std::optional<double> new_inputs_cost) {
  if (!new_inputs_cost) return;
  auto* known = find_or_null(signals, "new_inputs_cost", &Signal::name);
  if (!known) {
    signals.push_back({"new_inputs_cost", new_inputs_cost, {}});
  } else if (*new_inputs_cost > known->value) {
    known->value = new_inputs_cost;
  }
}

bool end(Measurement& row, Status status, std::string reason) {
  row.status = status;
  row.reason = std::move(reason);
  return false;
}

bool end(Measurement& row, const WorkerFailure& failure) {
  if (!failure.phase.empty()) row.phase = failure.phase;
  return end(row, failure.status, failure.reason);
}

protocol::Stage stage_request(std::int64_t id, const Problem& problem,
                              const KernelCase& kernel_case, const TrialOptions& options,
                              int ranks) {
  return {.id = id,
          .kernel = kernel_case.kernel,
          .problem = problem,
          .config = kernel_case.config,
          .mode = kernel_case.mode,
          .sets = kernel_case.sets,
          .seed = options.input_seed,
          .rank = 0,
          .ranks = ranks};
}

bool TrialGate::first() {
  const std::string shape = staged_.problem.text() + " | " + row_.implementation.name;
  CheckPlan plan;
  plan.seed = options_.check_seed;
  plan.lines_and_freivalds = !history_.shapes.contains(shape);
  if (!check_revealed(std::vector<int>(staged_.shards.size(), 0), plan, {}, &first_)) return false;
  history_.shapes.insert(shape);
  return twin();
}

// Reveals one set on every shard and compares it; `sets[rank]` names it. With `inputs_from` it is
// executed once more on the inputs of that set.
bool TrialGate::check_revealed(std::span<const int> sets, const CheckPlan& plan,
                               std::optional<int> inputs_from, std::vector<RevealAnswer>* keep) {
  for (const auto rank : indices(staged_.shards)) {
    auto shown = crew_.worker(as_int(rank))
                     .reveal({stage_id,
                              {sets[rank]},
                              inputs_from,
                              longest_plain_execution * row_.duration_ns_median});
    if (!shown) return end(row_, shown.failure);
    keep_most(row_.signals, shown->revealed.new_inputs_cost);
    StagedInputs inputs = inputs_of(rank);
    if (inputs_from) inputs.replace_inputs(*inputs_from);
    if (!accept(compare(*shown, inputs, staged_.problem, as_int(rank), plan))) {
      return false;
    }
    if (keep) {
      keep->push_back(std::move(*shown));
    } else if (!inputs_from && !equals_first(*shown, inputs, rank)) {
      return false;
    }
  }
  return true;
}

StagedInputs TrialGate::inputs_of(std::size_t rank) const {
  StagedInputs inputs(options_.input_seed, staged_.contract->operands(staged_.problem.params),
                      row_.kernel_case.mode, staged_.shards[rank].constants_shared);
  if (staged_.shards[rank].witness) inputs.set_witness(*staged_.shards[rank].witness);
  return inputs;
}

SetValues TrialGate::values_of(std::size_t rank) const {
  return {row_.kernel_case.mode, staged_.shards[rank].constants_shared,
          staged_.shards[rank].witness};
}

RevealedOutputs TrialGate::first_of(std::size_t rank) const {
  return {first_[rank].revealed, first_[rank].memory.view()};
}

// Whole: a wrong element that came after the first call is found wherever it is.
bool TrialGate::equals_first(const RevealAnswer& shown, StagedInputs& inputs, std::size_t rank) {
  const CorrectnessResult again =
      check_again(*staged_.contract, staged_.problem, inputs, as_int(rank), values_of(rank),
                  {shown.revealed, shown.memory.view()}, first_of(rank));
  return again.ok || end(row_, again.status, again.reason);
}

CorrectnessResult TrialGate::compare(const RevealAnswer& shown, StagedInputs& inputs,
                                     const Problem& problem, int rank,
                                     const CheckPlan& plan) const {
  return check_outputs(*staged_.contract, problem, inputs, rank,
                       {shown.revealed, shown.memory.view()}, plan);
}

bool TrialGate::accept(const CorrectnessResult& result) {
  Correctness& sum = row_.correctness;
  sum.checked += result.correctness.checked;
  sum.worst_ratio = std::max(sum.worst_ratio, result.correctness.worst_ratio);
  const std::string& method = result.correctness.method;
  if (sum.method.find(method) == std::string::npos) {
    append_item(sum.method, "; ", method);
  }
  return result.ok || end(row_, result.status, result.reason);
}

// Every element of a small problem with the same k and dtypes, once per implementation and run. A
// collective is its own twin: its outputs are already compared on all ranks.
bool TrialGate::twin() {
  if (staged_.contract->is_collective()) return true;
  const Problem small{staged_.problem.op, staged_.contract->twin(staged_.problem.params)};
  const std::string key = staged_.problem.op + dtypes_text() + row_.implementation.name;
  if (small == staged_.problem || history_.reduced_problems.contains(key)) return true;
  protocol::Stage request = stage_request(twin_id, small, row_.kernel_case, options_, crew_.size());
  request.sets = 1;
  const auto staged = crew_.worker(0).stage(request);
  // A plugin may refuse the twin's shape; only a lost worker ends the trial.
  if (!staged) return !staged.failure.worker_is_gone || end(row_, staged.failure);
  history_.reduced_problems.insert(key);
  const auto shown = crew_.worker(0).reveal({twin_id, {0}});
  if (!shown) return end(row_, shown.failure);
  StagedInputs inputs(options_.input_seed, staged_.contract->operands(small.params),
                      row_.kernel_case.mode, staged->constants_shared);
  CorrectnessResult result = compare(*shown, inputs, small, 0, every_element_plan());
  const bool is_same = staged->implementation.name == row_.implementation.name;
  result.correctness.method =
      "twin " + small.text() + (is_same ? "" : " by " + staged->implementation.name) + " in full";
  if (!result.ok) {
    result.reason = "twin " + small.text() + ": " + result.reason;
    history_.reduced_problems.erase(key);  // whatever else it dispatches to is compared again
  }
  (void)crew_.worker(0).drop(twin_id);
  return accept(result);
}

std::string TrialGate::dtypes_text() const {
  std::string text;
  for (const Param& param : staged_.problem.params.items()) {
    if (param.name.ends_with("dtype")) text += " " + std::to_string(param.value);
  }
  return text + " ";
}

bool TrialGate::kept(std::span<const std::vector<KeptSeries>> of_shards) {
  after_seed_ = fresh_seed();
  row_.signals.push_back({"check_seed", as_double(after_seed_), {}});
  KeptChecks checks;
  for (const auto rank : indices(of_shards)) {
    StagedInputs inputs = inputs_of(rank);
    KeptChecks of_rank;
    for (const KeptSeries& series : of_shards[rank]) {
      const KeptResult found =
          check_kept(*staged_.contract, staged_.problem, inputs, as_int(rank), values_of(rank),
                     series, first_of(rank), hash_combine(after_seed_, rank));
      if (!found.result.ok) {
        discard_times();
        return end(row_, found.result.status, "after the sample loop: " + found.result.reason);
      }
      of_rank += found.checks;
    }
    // Shards run the same kernel: the one that was looked at least counts.
    if (rank == 0 || of_rank.executions < checks.executions) checks = of_rank;
  }
  const auto samples = std::ssize(row_.samples) + row_.samples_dropped;
  const std::string method = kept_method(checks, "around " + std::to_string(samples) + " samples");
  if (!method.empty()) row_.correctness.method += "; " + method;
  return true;
}

// A slot of the shard that some sample wrote, chosen after the loop: any execution of it, not only
// the first, because a kernel may do that one alone. Another one than `taken` where there is one.
int TrialGate::written_slot(std::span<const int> written, std::size_t rank, std::uint64_t seed,
                            std::optional<int> taken) const {
  const auto executions = as_uint64(std::max<std::int64_t>(1, row_.repeat));
  const std::uint64_t start = uniform_below(hash_u64(seed, 2 * rank), written.size());
  const std::uint64_t execution = uniform_below(hash_u64(seed, 2 * rank + 1), executions);
  const std::uint64_t choices = written.size() * executions;
  int slot = 0;
  for (const std::uint64_t i : below(choices)) {
    const int begin = written[(start + i / executions) % written.size()];
    slot = as_int((as_uint64(begin) + (execution + i) % executions) %
                  as_uint64(staged_.shards[rank].sets));
    if (slot != taken) break;
  }
  return slot;
}

// Ranks would have to execute together, and accumulated values have no reference after a loop.
bool TrialGate::can_execute_afresh() const {
  return !staged_.contract->is_collective() &&
         std::ranges::none_of(staged_.contract->operands(staged_.problem.params),
                              [](const OperandSpec& o) { return o.role == Role::in_out; });
}

bool TrialGate::after_loop(std::span<const std::vector<int>> written) {
  const std::uint64_t seed = hash_combine(after_seed_, 0x6166746572);
  for (const auto& of_rank : written) {
    if (of_rank.empty()) return true;  // the deadline came before the first sample of the block
  }
  const std::size_t ranks = staged_.shards.size();
  std::vector<int> sets(ranks), others(ranks);
  for (const auto rank : indices(ranks)) {
    sets[rank] = written_slot(written[rank], rank, seed, std::nullopt);
    others[rank] = written_slot(written[rank], rank, seed, sets[rank]);
  }
  std::optional<int> unseen;
  if (can_execute_afresh()) {
    unseen = staged_.sets + 1 + as_int(hash_u64(seed, 1) >> 40);
    for (const auto rank : indices(ranks)) {
      others[rank] = staged_.shards[rank].witness.value_or(others[rank]);
    }
  }
  if (check_revealed(sets, after_loop_plan(seed)) &&
      ((others == sets && !unseen) || check_revealed(others, after_loop_plan(seed), unseen))) {
    return true;
  }
  if (row_.status == Status::wrong_result || row_.status == Status::nan_result) {
    row_.reason = "after the sample loop: " + row_.reason;
  }
  discard_times();
  return false;
}

// No pass, no time.
void TrialGate::discard_times() {
  row_.samples.clear();
  row_.shard_wall_ns.clear();
  row_.duration_ns_median = row_.duration_ns_min = row_.relative_iqr = 0;
  row_.duration_ns_interval = {};
}

}  // namespace halmark
