// One trial from staging to verdict. Whatever happens ends in one row.
#include "measure/campaign/trial.hpp"

#include <algorithm>
#include <optional>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "measure/campaign/gate/row_verdict.hpp"
#include "measure/campaign/shard_sampling.hpp"
#include "measure/campaign/trial_gate.hpp"
#include "measure/sampling/run_delay.hpp"

namespace halmark {
namespace {

class Trial {
 public:
  Trial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
        GateHistory& history)
      : crew_(crew), options_(options), gate_(crew, options, history, staged_, row_) {
    row_.kernel_case = kernel_case;
  }

  Measurement run() {
    const auto begin = SteadyClock::now();
    try {
      if (stage() && gate_.first() && sample() && gate_.kept(kept_) &&
          gate_.after_loop(written_sets_))
        judge();
    } catch (const Error& error) {
      end(row_, Status::refused, error.line());
    }
    drop();
    row_.wall_s = seconds_since(begin);
    return std::move(row_);
  }

 private:
  void drop() {
    if (is_staged_) crew_.drop(TrialGate::stage_id);
    is_staged_ = false;
  }

  bool stage() {
    staged_.problem = complete_problem(row_.kernel_case.problem);
    staged_.contract = find_contract(staged_.problem.op);
    row_.phase = "create";
    protocol::Stage request = stage_request(TrialGate::stage_id, staged_.problem, row_.kernel_case,
                                            options_, crew_.size());
    request.witness = witness();
    const auto outcomes = crew_.stage(request);
    // Shards that did stage must drop it, whatever the others answered.
    is_staged_ = std::ranges::any_of(outcomes, [](const auto& o) { return bool(o); });
    if (const auto failure = first_failure(outcomes)) return end(row_, *failure);
    for (const auto& outcome : outcomes) staged_.shards.push_back(*outcome);
    describe();
    return true;
  }

  // A drawn set that is to have constants of its own, so that a kernel which reads those that it
  // remembers, instead of those that it is given, is wrong there. Packing costs: none where
  // constants are large.
  std::optional<int> witness() const {
    constexpr std::int64_t constant_bytes_max = 16 << 20;
    std::int64_t bytes = 0;
    for (const OperandSpec& operand : staged_.contract->operands(staged_.problem.params)) {
      if (operand.role == Role::constant) bytes += operand.bytes();
    }
    const auto others = as_uint64(std::max(1, row_.kernel_case.sets) - 1);
    if (others == 0 || bytes == 0 || bytes > constant_bytes_max) return std::nullopt;
    return 1 + as_int(uniform_below(fresh_seed() << 11, others));
  }

  // One-time costs are those of the slowest shard: that one is waited for.
  void describe() {
    const protocol::Staged& first = staged_.shards.front();
    row_.phase = "first";
    row_.implementation = first.implementation;
    row_.workspace_bytes = first.workspace_bytes;
    row_.constant_bytes = first.constant_bytes;
    staged_.sets = first.sets;
    for (const protocol::Staged& shard : staged_.shards) {
      row_.one_time.create_ns = std::max(row_.one_time.create_ns, shard.one_time.create_ns);
      row_.one_time.pack_ns = std::max(row_.one_time.pack_ns, shard.one_time.pack_ns);
      row_.one_time.first_ns = std::max(row_.one_time.first_ns, shard.one_time.first_ns);
      staged_.sets = std::min(staged_.sets, shard.sets);
    }
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
    return 1e-9 * row_.one_time.first_ns * as_double(options_.rule.min_samples);
  }

  bool sample() {
    row_.phase = "sample";
    const BandwidthState::Reading before = probe_bandwidth(expected_s());
    const CpuWait wait(crew_.worker(0).pid());
    const auto begin = SteadyClock::now();
    auto series = sample_shards(crew_, TrialGate::stage_id, rule(), options_.wall_cap_s,
                                row_.one_time.first_ns, {}, output_checks());
    const double request_s = seconds_since(begin);
    const auto wait_ns = wait.so_far_ns();
    if (!series) return end(row_, series.failure);
    const bool is_of_one_request = series->is_of_one_request;
    apply(std::move(*series));
    if (is_of_one_request) {
      row_.signals.push_back({"request_host_ns", request_s * ns_per_s, {}});
      row_.signals.push_back({"request_wait_ns", wait_ns, wait_ns ? "" : "not counted here"});
    }
    if (row_.samples.empty())
      return end(row_, Status::invalid, "no sample of the shards overlapped");
    const BandwidthState::Reading after = probe_bandwidth(seconds_since(begin));
    row_.bandwidth = {before.bytes_per_s, after.bytes_per_s, before.age_s,
                      before.bytes_per_s ? "" : before.reason};
    return true;
  }

  protocol::OutputChecks output_checks() const {
    constexpr int executions_per_row_change = 4, redraws = 8;
    const int executions = std::max(1, options_.checked_executions);
    return {
        .executions = executions,
        .rows = (executions + executions_per_row_change - 1) / executions_per_row_change,
        .seed = staged_.contract->is_collective() ? std::max<std::uint64_t>(1, fresh_seed()) : 0,
        .redraws = redraws};
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
    kept_ = std::move(series.kept);
    if (staged_.sets != row_.kernel_case.sets) {
      row_.environment += "; " + std::to_string(staged_.sets) + " of " +
                          std::to_string(row_.kernel_case.sets) + " sets fit the memory";
    }
    if (row_.samples.empty()) return;
    summarise(row_);
    widen_by_skew();
    row_.signals.push_back(clean_share(row_.samples));
  }

  // Ranks that start apart wait for each other, or find the others' part done: either way.
  void widen_by_skew() {
    const auto* skew = find_or_null(row_.signals, start_skew_signal, &Signal::name);
    if (!skew || !skew->value) return;
    const double each_ns = *skew->value / as_double(row_.repeat);
    row_.duration_ns_interval.low = std::max(0.0, row_.duration_ns_interval.low - each_ns);
    row_.duration_ns_interval.high += each_ns;
  }

  void judge() {
    judge_row(row_, staged_.contract->work(staged_.problem.params),
              {.crew = crew_,
               .peaks = options_.peaks,
               .thresholds = options_.thresholds,
               .free_memory = [this] { drop(); },
               .is_in_host_memory = is_in_host_memory(staged_.shards.front()),
               .asks_bound = options_.asks_bound});
  }

  Crew& crew_;
  const TrialOptions& options_;
  StagedTrial staged_;
  bool is_staged_ = false;
  std::vector<std::vector<int>> written_sets_;  // per shard
  std::vector<std::vector<KeptSeries>> kept_;   // per shard
  Measurement row_;
  TrialGate gate_;
};

}  // namespace

int checked_executions(int rounds) {
  constexpr int checks_min = 44;
  return (checks_min + std::max(1, rounds) - 1) / std::max(1, rounds);
}

Measurement run_trial(Crew& crew, const KernelCase& kernel_case, const TrialOptions& options,
                      GateHistory& history) {
  return Trial(crew, kernel_case, options, history).run();
}

}  // namespace halmark
