// All kernels share the repetitions, so they share their number, the signals and the state of the
// memory; a sample of each is the mean of its executions in a repetition.
#include "measure/campaign/stack/measure_in_stack.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/gate/row_verdict.hpp"
#include "measure/campaign/shard_sampling.hpp"
#include "measure/campaign/stack/stack_times.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

class InStack {
 public:
  InStack(std::span<const Stack> stacks, std::span<const KernelCase> cases,
          const InStackOptions& options)
      : stacks_(stacks), options_(options), staged_(stacks, options.staging) {
    for (const KernelCase& k : cases) rows_.push_back({.kernel_case = k, .phase = "create"});
  }

  std::vector<Measurement> run() {
    const auto begin = SteadyClock::now();
    try {
      if (prepare() && learn() && sample() && check_executions(seconds_since(begin)) &&
          check_afresh())
        judge();
    } catch (const Error& error) {
      end(Status::refused, error.line());
    }
    staged_.quit();
    const double share_s = seconds_since(begin) / as_double(std::max<std::size_t>(1, rows_.size()));
    for (Measurement& row : rows_) row.wall_s = share_s;
    return std::move(rows_);
  }

 private:
  bool end(Status status, const std::string& reason, const std::string& phase = {}) {
    for (Measurement& row : rows_) {
      row.status = status;
      row.reason = reason;
      if (!phase.empty()) row.phase = phase;
      row.samples.clear();
      row.duration_ns_median = row.duration_ns_min = row.relative_iqr = 0;
      row.duration_ns_interval = {};
    }
    return false;
  }
  // What one kernel did is not said of the others: they have no time, and no fault. Of a lost
  // worker nobody knows whose fault it was.
  bool end(const WorkerFailure& failure) {
    end(failure.status, failure.reason, failure.phase);
    for (Measurement& row : rows_) {
      const auto& culprit = staged_.culprit();
      if (failure.worker_is_gone || !culprit || row.kernel_case.shares_arguments(*culprit))
        continue;
      row.status = Status::refused;
      row.reason = "another kernel of its stack: " + failure.reason;
    }
    return false;
  }

  bool prepare() {
    if (const auto failure = staged_.prepare()) return end(*failure);
    for (Measurement& row : rows_) shards_.push_back(describe(row));
    return true;
  }

  // Gives a shard that holds the row's kernel.
  int describe(Measurement& row) {
    row.phase = "sample";
    const auto kernel = staged_.kernel(row.kernel_case);
    const auto& plugin = staged_.crew().plugin(kernel ? kernel->rank : 0);
    row.plugin_name = plugin.name;
    row.plugin_version = plugin.plugin_version;
    row.plugin_build = plugin.build;
    if (!kernel) return 0;
    row.implementation = kernel->staged.implementation;
    row.workspace_bytes = kernel->staged.workspace_bytes;
    row.constant_bytes = kernel->staged.constant_bytes;
    row.one_time = kernel->staged.one_time;
    row.correctness = kernel->correctness;
    return kernel->rank;
  }

  // One repetition is warm and tells how long the others take.
  bool learn() {
    StackSteps steps;
    if (!repeat(1, options_.staging.warmup, steps)) return false;
    StackRunResult once;
    if (!fold_times(stacks_, steps, once)) return end_misfit();
    repetition_ns_ = once.median_ns;
    return true;
  }

  std::int64_t repetitions() const {
    const double budget_ns = in_stack_budget_s(options_.rule) * ns_per_s;
    const auto affordable = as_int64(budget_ns / std::max(1.0, repetition_ns_));
    const std::int64_t least = min_samples_for(options_.rule, repetition_ns_);
    return std::min({std::max(affordable, least), repetitions_max(stacks_),
                     std::max(least, options_.rule.max_samples)});
  }

  bool repeat(std::int64_t count, std::int64_t warmup, StackSteps& steps) {
    auto requests = staged_.sequence(stacks_, count, warmup);
    for (auto& request : requests) request.disturbed_share = options_.rule.disturbed_share;
    auto outcomes = staged_.crew().sequence(requests);
    if (const auto failure = first_failure(outcomes)) return end(*failure);
    steps.clear();
    for (auto& outcome : outcomes) {
      steps.push_back(std::move(outcome->steps));
      absorb(outcome->measured, series_);
    }
    return true;
  }

  BandwidthState::Reading probe_bandwidth() {
    if (options_.bandwidth == nullptr) return {.reason = "no measured bandwidth of this device"};
    options_.bandwidth->probe(staged_.crew(), true);
    return options_.bandwidth->read(staged_.crew());
  }

  bool sample() {
    const BandwidthState::Reading before = probe_bandwidth();
    series_ = {};  // what the first repetition met counts no more
    StackSteps steps;
    if (!repeat(repetitions(), 0, steps)) return false;
    if (common_repetitions(stacks_, steps) == 0) return end_misfit();
    const BandwidthState::Reading after = probe_bandwidth();
    for (Measurement& row : rows_) {
      row.bandwidth = {before.bytes_per_s, after.bytes_per_s, before.age_s,
                       before.bytes_per_s ? "" : before.reason};
      take(row, samples_of(stacks_, steps, row.kernel_case));
    }
    return true;
  }

  void take(Measurement& row, std::vector<Sample> samples) const {
    row.samples = std::move(samples);
    row.repeat = executions(row.kernel_case);
    row.stop_rule = name_of(series_.stop_rule);
    row.signals = series_.signals;
    row.clock_hz_before = series_.clock_hz.before;
    row.clock_hz_after = series_.clock_hz.after;
    row.peak_flops_before = series_.peak_flops.before;
    row.peak_flops_after = series_.peak_flops.after;
    row.environment = series_.environment;
    if (row.samples.empty()) return;
    summarise(row);
    row.signals.push_back(clean_share(row.samples));
    // What the meter says is of a whole repetition: its share of the time is its share of that.
    for (Signal& signal : row.signals) {
      if (!signal.name.ends_with("_energy_uj") || !signal.value) continue;
      *signal.value *= row.duration_ns_median / std::max(row.duration_ns_median, repetition_ns_);
    }
  }

  // In one repetition of a rank that holds it.
  std::int64_t executions(const KernelCase& kernel_case) const {
    for (const Stack& stack : stacks_) {
      const auto at = std::ranges::find(stack.kernels, kernel_case);
      if (at == stack.kernels.end()) continue;
      return std::ranges::count(stack.steps, as_int(at - stack.kernels.begin()),
                                &StackStep::kernel);
    }
    return 1;
  }

  bool check_executions(double spent_s) {
    const auto failure =
        staged_.check_executions(options_.checked_executions, stack_checks_budget_s(spent_s));
    return !failure || end(*failure);
  }

  bool check_afresh() {
    const auto failure = staged_.check_afresh(rows_);
    return !failure || end(*failure);
  }

  void judge() {
    RowJudging judging{.crew = staged_.crew(),
                       .peaks = nullptr,
                       .thresholds = options_.staging.thresholds,
                       .free_memory = [this] { staged_.drop(); },
                       .asks_bound = options_.asks_bound};
    for (const auto i : indices(rows_)) {
      Measurement& row = rows_[i];
      if (row.samples.empty()) {
        row.status = Status::refused;
        row.reason = "no stack of its configuration executes it";
        continue;
      }
      const Problem problem = complete_problem(row.kernel_case.problem);
      const auto kernel = staged_.kernel(row.kernel_case);
      judging.shard = shards_[i];  // a fresh probe drops what is staged
      judging.peaks = options_.peaks_of ? options_.peaks_of(row.kernel_case) : nullptr;
      judging.is_in_host_memory = kernel && is_in_host_memory(kernel->staged);
      if (kernel) {
        row.correctness = kernel->correctness;
        row.signals.insert(row.signals.end(), kernel->signals.begin(), kernel->signals.end());
      }
      judge_row(row, find_contract(problem.op)->work(problem.params), judging);
    }
  }

  bool end_misfit() { return end(Status::worker_lost, "the step times do not fit the stack"); }

  std::span<const Stack> stacks_;
  const InStackOptions& options_;
  StagedStacks staged_;
  std::vector<Measurement> rows_;
  std::vector<int> shards_;  // by row
  double repetition_ns_ = 0;
  ShardSeries series_;  // of all shards, without samples
};

}  // namespace

std::vector<Measurement> measure_in_stack(std::span<const Stack> short_stacks,
                                          std::span<const KernelCase> cases,
                                          const InStackOptions& options) {
  return InStack(short_stacks, cases, options).run();
}

}  // namespace halmark
