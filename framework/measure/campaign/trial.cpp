// One trial from staging to verdict. Whatever happens ends in one row.
#include "measure/campaign/trial.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "core/numeric/clock.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "measure/campaign/gate/correctness.hpp"
#include "measure/campaign/gate/row_verdict.hpp"
#include "measure/campaign/shard_sampling.hpp"

namespace halmark {
namespace {

class Trial {
 public:
  Trial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
        GateHistory& history)
      : crew_(crew), options_(options), history_(history) {
    row_.kernel_case = kernel_case;
  }

  Measurement run() {
    const auto begin = SteadyClock::now();
    try {
      if (stage() && gate() && sample() && gate_after_loop()) judge();
    } catch (const Error& error) {
      end(Status::refused, error.line());
    }
    drop();
    row_.wall_s = seconds_since(begin);
    return std::move(row_);
  }

 private:
  static constexpr std::int64_t stage_id = 1;
  static constexpr std::int64_t twin_id = 2;

  void drop() {
    if (staged_) crew_.drop(stage_id);
    staged_ = false;
  }

  bool end(Status status, std::string reason) {
    row_.status = status;
    row_.reason = std::move(reason);
    return false;
  }
  bool end(const WorkerFailure& failure) {
    if (!failure.phase.empty()) row_.phase = failure.phase;
    return end(failure.status, failure.reason);
  }

  bool stage() {
    problem_ = complete_problem(row_.kernel_case.problem);
    contract_ = find_contract(problem_.op);
    row_.phase = "create";
    const auto outcomes = crew_.stage(stage_request(stage_id, problem_));
    // Shards that did stage must drop it, whatever the others answered.
    staged_ = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& o) { return bool(o); });
    if (const auto failure = first_failure(outcomes)) return end(*failure);
    for (const auto& outcome : outcomes) shards_.push_back(*outcome);
    describe();
    return true;
  }

  protocol::Stage stage_request(std::int64_t id, const Problem& problem) const {
    const KernelCase& kernel_case = row_.kernel_case;
    return {.id = id,
            .kernel = kernel_case.kernel,
            .problem = problem,
            .config = kernel_case.config,
            .mode = kernel_case.mode,
            .sets = kernel_case.sets,
            .seed = options_.input_seed,
            .rank = 0,
            .ranks = crew_.size()};
  }

  // One-time costs are those of the slowest shard: that one is waited for.
  void describe() {
    const protocol::Staged& first = shards_.front();
    row_.phase = "first";
    row_.implementation = first.implementation;
    row_.workspace_bytes = first.workspace_bytes;
    row_.constant_bytes = first.constant_bytes;
    sets_ = first.sets;
    for (const protocol::Staged& shard : shards_) {
      row_.one_time.create_ns = std::max(row_.one_time.create_ns, shard.one_time.create_ns);
      row_.one_time.pack_ns = std::max(row_.one_time.pack_ns, shard.one_time.pack_ns);
      row_.one_time.first_ns = std::max(row_.one_time.first_ns, shard.one_time.first_ns);
      sets_ = std::min(sets_, shard.sets);
    }
  }

  bool gate() {
    const std::string shape = problem_.text() + " | " + row_.implementation.name;
    CheckPlan plan;
    plan.seed = options_.check_seed;
    plan.lines_and_freivalds = !history_.shapes.contains(shape);
    if (!check_revealed(std::vector<int>(shards_.size(), 0), plan)) return false;
    history_.shapes.insert(shape);
    return twin();
  }

  // Reveals one set on every shard and compares it; `sets[rank]` names it. With `inputs_from` it is
  // executed once more on the inputs of that set.
  bool check_revealed(std::span<const int> sets, const CheckPlan& plan,
                      std::optional<int> inputs_from = std::nullopt) {
    const auto operands = contract_->operands(problem_.params);
    for (std::size_t rank = 0; rank < shards_.size(); ++rank) {
      const auto shown =
          crew_.worker(static_cast<int>(rank)).reveal({stage_id, {sets[rank]}, inputs_from});
      if (!shown) return end(shown.failure);
      StagedInputs inputs(options_.input_seed, operands, row_.kernel_case.mode,
                          shards_[rank].constants_shared);
      if (inputs_from) inputs.replace_inputs(*inputs_from);
      if (!accept(compare(*shown, inputs, problem_, static_cast<int>(rank), plan))) return false;
    }
    return true;
  }

  CorrectnessResult compare(const RevealAnswer& shown, StagedInputs& inputs, const Problem& problem,
                            int rank, const CheckPlan& plan) const {
    return check_outputs(*contract_, problem, inputs, rank, {shown.revealed, shown.memory.view()},
                         plan);
  }

  bool accept(const CorrectnessResult& result) {
    Correctness& sum = row_.correctness;
    sum.checked += result.correctness.checked;
    sum.worst_ratio = std::max(sum.worst_ratio, result.correctness.worst_ratio);
    const std::string& method = result.correctness.method;
    if (sum.method.find(method) == std::string::npos) {
      sum.method += (sum.method.empty() ? "" : "; ") + method;
    }
    return result.ok || end(result.status, result.reason);
  }

  // Every element of a small problem with the same k and dtypes, once per implementation and run. A
  // collective is its own twin: its outputs are already compared on all ranks.
  bool twin() {
    if (contract_->is_collective()) return true;
    const Problem small{problem_.op, contract_->twin(problem_.params)};
    const std::string key = problem_.op + dtypes_text() + row_.implementation.name;
    if (small == problem_ || history_.twins.contains(key)) return true;
    protocol::Stage request = stage_request(twin_id, small);
    request.sets = 1;
    const auto staged = crew_.worker(0).stage(request);
    // A plugin may refuse the twin's shape; only a lost worker ends the trial.
    if (!staged) return !staged.failure.worker_is_gone || end(staged.failure);
    history_.twins.insert(key);
    const auto shown = crew_.worker(0).reveal({twin_id, {0}});
    if (!shown) return end(shown.failure);
    StagedInputs inputs(options_.input_seed, contract_->operands(small.params),
                        row_.kernel_case.mode, staged->constants_shared);
    CorrectnessResult result = compare(*shown, inputs, small, 0, every_element_plan());
    const bool is_same = staged->implementation.name == row_.implementation.name;
    result.correctness.method =
        "twin " + small.text() + (is_same ? "" : " by " + staged->implementation.name) + " in full";
    if (!result.ok) {
      result.reason = "twin " + small.text() + ": " + result.reason;
      history_.twins.erase(key);  // whatever else it dispatches to is compared again
    }
    (void)crew_.worker(0).drop(twin_id);
    return accept(result);
  }

  std::string dtypes_text() const {
    std::string text;
    for (const Param& param : problem_.params.items()) {
      if (param.name.ends_with("dtype")) text += " " + std::to_string(param.value);
    }
    return text + " ";
  }

  // On a restless machine no two batches agree and a warm-up runs into its cap: caches and clocks
  // settle within three calls, or 50 ms of short ones.
  protocol::SampleRule rule() const {
    protocol::SampleRule bounded = options_.rule;
    const double enough_s = std::max(0.05, 3e-9 * row_.one_time.first_ns);
    bounded.warmup_cap_s = std::min(bounded.warmup_cap_s, enough_s);
    return bounded;
  }

  // In front of the warm-up and behind the loop, so that no series meets caches that a probe left
  // cold.
  BandwidthState::Reading probe_bandwidth(double beside_s) {
    constexpr double long_s = 0.1;
    if (options_.bandwidth == nullptr) return {.reason = "no measured bandwidth of this device"};
    options_.bandwidth->probe(crew_, beside_s > long_s);
    return options_.bandwidth->read(crew_);
  }

  double expected_s() const {
    return 1e-9 * row_.one_time.first_ns * static_cast<double>(options_.rule.min_samples);
  }

  bool sample() {
    row_.phase = "sample";
    const BandwidthState::Reading before = probe_bandwidth(expected_s());
    const auto begin = SteadyClock::now();
    auto series =
        sample_shards(crew_, stage_id, rule(), options_.wall_cap_s, row_.one_time.first_ns);
    if (!series) return end(series.failure);
    apply(std::move(*series));
    if (row_.samples.empty()) return end(Status::invalid, "no sample of the shards overlapped");
    const BandwidthState::Reading after = probe_bandwidth(seconds_since(begin));
    row_.bandwidth = {before.bytes_per_s, after.bytes_per_s, before.age_s,
                      before.bytes_per_s ? "" : before.reason};
    return true;
  }

  void apply(ShardSeries series) {
    row_.samples = std::move(series.merged.samples);
    row_.shard_wall_ns = std::move(series.merged.shard_wall_ns);
    row_.samples_dropped = series.merged.dropped;
    row_.repeat = series.repeat;
    row_.stop_rule = name_of(series.stop_rule);
    row_.signals = std::move(series.signals);
    row_.clock_hz_before = series.clock_hz.before;
    row_.clock_hz_after = series.clock_hz.after;
    row_.peak_flops_before = series.peak_flops.before;
    row_.peak_flops_after = series.peak_flops.after;
    row_.environment = std::move(series.environment);
    written_sets_ = std::move(series.written_sets);
    if (sets_ != row_.kernel_case.sets) {
      row_.environment += "; " + std::to_string(sets_) + " of " +
                          std::to_string(row_.kernel_case.sets) + " sets fit the memory";
    }
    if (row_.samples.empty()) return;
    summarise(row_);
    row_.signals.push_back(clean_share(row_.samples));
  }

  // A slot of the shard that some sample wrote, chosen after the loop: any execution of it, not
  // only the first, because a kernel may do that one alone. Another one than `taken` where there is
  // one.
  int written_slot(std::size_t rank, std::uint64_t seed, std::optional<int> taken) const {
    const std::vector<int>& written = written_sets_[rank];
    const auto executions = static_cast<std::uint64_t>(std::max<std::int64_t>(1, row_.repeat));
    const std::uint64_t start = uniform_below(hash_u64(seed, 2 * rank), written.size());
    const std::uint64_t execution = uniform_below(hash_u64(seed, 2 * rank + 1), executions);
    const std::uint64_t choices = written.size() * executions;
    int slot = 0;
    for (std::uint64_t i = 0; i < choices; ++i) {
      const int first = written[(start + i / executions) % written.size()];
      slot = static_cast<int>((static_cast<std::uint64_t>(first) + (execution + i) % executions) %
                              static_cast<std::uint64_t>(shards_[rank].sets));
      if (slot != taken) break;
    }
    return slot;
  }

  // Ranks would have to execute together, and accumulated values have no reference after a loop.
  bool can_execute_afresh() const {
    return !contract_->is_collective() &&
           std::ranges::none_of(contract_->operands(problem_.params),
                                [](const OperandSpec& o) { return o.role == Role::in_out; });
  }

  // Two slots of each shard: what the loop wrote into one, and the answer of another to inputs that
  // it has not seen, because every set may have the same answer, kept since the first call.
  bool gate_after_loop() {
    const std::uint64_t seed = hash_combine(options_.check_seed, 0x6166746572);
    for (const auto& written : written_sets_) {
      if (written.empty()) return true;  // the deadline came before the first sample of the block
    }
    std::vector<int> sets(shards_.size()), others(shards_.size());
    for (std::size_t rank = 0; rank < shards_.size(); ++rank) {
      sets[rank] = written_slot(rank, seed, std::nullopt);
      others[rank] = written_slot(rank, seed, sets[rank]);
    }
    std::optional<int> unseen;
    if (can_execute_afresh()) unseen = sets_ + 1 + static_cast<int>(hash_u64(seed, 1) >> 40);
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
  void discard_times() {
    row_.samples.clear();
    row_.shard_wall_ns.clear();
    row_.duration_ns_median = row_.duration_ns_min = row_.relative_iqr = 0;
    row_.duration_ns_interval = {};
  }

  void judge() {
    judge_row(row_, contract_->work(problem_.params),
              {crew_, options_.peaks, options_.thresholds, [this] { drop(); }});
  }

  Crew& crew_;
  const TrialOptions& options_;
  GateHistory& history_;
  Problem problem_;
  const OpContract* contract_ = nullptr;
  std::vector<protocol::Staged> shards_;
  std::vector<std::vector<int>> written_sets_;  // per shard
  int sets_ = 1;
  bool staged_ = false;
  Measurement row_;
};

}  // namespace

Measurement run_trial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
                      GateHistory& history) {
  return Trial(crew, kernel_case, options, history).run();
}

}  // namespace halmark
