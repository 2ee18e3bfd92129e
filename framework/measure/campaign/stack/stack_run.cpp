// A machine is not in one state for long: what is compared is measured in turns of a second, by the
// same workers, in the same memory.
#include "measure/campaign/stack/stack_run.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/shard_sampling.hpp"
#include "measure/campaign/stack/stack_times.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"
#include "measure/campaign/trial.hpp"

namespace halmark {
namespace {

constexpr double moved_max = 0.1;  // of the memory's or the cores' speed within a pair
constexpr int slices = 9;          // short reads of the memory around a block

class StackRun {
 public:
  StackRun(std::span<const Stack> per_rank, const StackRunOptions& options)
      : per_rank_(per_rank), options_(options), staged_(per_rank, options) {}

  StackRunResult run() {
    const auto begin = SteadyClock::now();
    try {
      if (const auto failure = staged_.prepare()) {
        end(*failure);
      } else {
        time();
        note_memory();  // before what checks keep
        check_executions(seconds_since(begin));
      }
    } catch (const Error& error) {
      end(Status::refused, error.line());
    }
    note_memory();
    staged_.quit();
    result_.correctness = staged_.correctness();
    result_.shared_instances = staged_.shared_instances();
    result_.wall_s = seconds_since(begin);
    return std::move(result_);
  }

 private:
  void note_memory() {
    if (options_.measures_memory && result_.memory.empty()) result_.memory = staged_.memory();
  }

  // Whatever was measured, nobody wants to know how long wrong answers take.
  void check_executions(double spent_s) {
    const bool has_time = result_.status == Status::ok || result_.status == Status::suspect;
    if (!has_time || options_.is_oversubscribed) return;
    const auto failure =
        staged_.check_executions(checked_executions(1), stack_checks_budget_s(spent_s));
    if (failure) end(*failure);
  }

  // What was measured in one go, and how fast memory and cores were around it.
  struct Block {
    std::vector<double> ns;  // of the stack: one; of kernels: each
    std::optional<double> bytes_per_s, flops_per_s;
  };

  bool end(Status status, std::string reason) {
    result_.status = status;
    result_.reason = std::move(reason);
    return false;
  }
  bool end(const WorkerFailure& failure) { return end(failure.status, failure.reason); }
  bool is_stopped() const { return options_.should_stop && options_.should_stop(); }

  void time() {
    if (!repeat(1, options_.warmup)) return;
    steps_.assign(per_rank_.size(), {});  // the first repetition tells how many make a block
    series_ = {};
    std::optional<Block> stack = stack_block();
    int in_one_state = 0;
    const int pairs = options_.beside.empty() ? 0 : options_.pairs;
    for (int i = 0; stack && in_one_state < pairs && i < pairs + options_.pairs_more; ++i) {
      if (is_stopped()) return void(end(Status::cancelled, "interrupted"));
      const std::optional<Block> kernels = kernel_block();
      std::optional<Block> next = kernels ? stack_block() : std::nullopt;
      if (!next) return;
      const bool is_apart = moved(*stack, *kernels) || moved(*kernels, *next);
      result_.pairs.push_back({(stack->ns[0] + next->ns[0]) / 2, kernels->ns, is_apart});
      in_one_state += is_apart ? 0 : 1;
      stack = std::move(next);
    }
    if (stack) judge();
  }

  static bool moved(const Block& a, const Block& b) {
    return moved(a.bytes_per_s, b.bytes_per_s) || moved(a.flops_per_s, b.flops_per_s);
  }
  static bool moved(std::optional<double> a, std::optional<double> b) {
    return a && b && relative_move(*a, *b) > moved_max;
  }

  template <class Measure>
  std::optional<Block> block(const Measure& measure) {
    const std::vector<double> before = memory_speeds();
    const std::size_t cores_before = cores_.size();
    Block out;
    if (!measure(out)) return std::nullopt;
    out.flops_per_s = median_from(cores_, cores_before);
    std::vector<double> speeds = memory_speeds();
    append_all(speeds, before);
    if (!speeds.empty()) {
      out.bytes_per_s = median(speeds);
      speeds_.push_back(*out.bytes_per_s);
    }
    return out;
  }

  std::optional<Block> stack_block() {
    return block([&](Block& out) {
      const std::size_t before = steps_.front().empty() ? 0 : result_.step_ns.size();
      // What the kernels left in the caches is nothing beside a step that fills a block.
      const std::int64_t count = repetitions();
      if (!repeat(count, count > 1 ? 1 : 0)) return false;
      out.ns = {mean(std::span(result_.step_ns).subspan(before))};
      return true;
    });
  }

  std::optional<Block> kernel_block() {
    return block([&](Block& out) {
      out.ns.assign(options_.beside.size(), 0);
      if (!options_.short_stacks.empty() && !time_standing(out)) return false;
      return time_looped(out);
    });
  }

  // One block together, as long as one of the stack.
  bool time_standing(Block& out) {
    const std::span<const Stack> stacks = options_.short_stacks;
    StackSteps steps;
    if (short_repetitions_ == 0) {  // one tells how many make a block
      StackRunResult once;
      if (!collect(stacks, 1, options_.warmup, steps)) return false;
      if (!fold_times(stacks, steps, once)) return end_misfit();
      short_repetitions_ = fitting(once.median_ns, stacks);
      steps.clear();
    }
    if (!collect(stacks, short_repetitions_, 1, steps)) return false;
    for (const auto i : indices(out.ns)) {
      out.ns[i] = mean_ns(stacks, steps, options_.beside[i]).value_or(0);
    }
    return true;
  }

  // Each in its share of a block: of what has no time yet.
  bool time_looped(Block& out) {
    protocol::SampleRule rule;
    rule.budget_s = options_.block_s / as_double(options_.beside.size());
    rule.ci_half_width = 0;  // the time that the stack had, not less
    rule.warmup_cap_s = rule.budget_s / 4;
    for (std::size_t i = 0; i < out.ns.size(); ++i) {
      if (out.ns[i] > 0) continue;
      const KernelCase& k = options_.beside[i];
      const std::vector<int> shards = staged_.shards_of(k);
      const auto series = sample_shards(staged_.crew(), staged_.id_of(k), rule, options_.wall_cap_s,
                                        staged_.first_ns(k), shards);
      if (!series) return end(series.failure);
      // All of them, as all repetitions of the stack count: what disturbs one side disturbs both.
      // Means, because they add up: a step meets the slow executions that a median leaves out.
      std::vector<double> ns =
          mapped(series->merged.samples, [&](const Sample& sample) { return sample_ns(sample); });
      if (ns.empty()) {
        return end(Status::invalid, k.problem.text() + ": no sample of the shards overlapped");
      }
      out.ns[i] = mean(ns);
    }
    return true;
  }

  static std::optional<double> median_from(std::span<const double> values, std::size_t first) {
    if (values.size() <= first) return std::nullopt;
    const auto since = values.subspan(first);
    return median({since.begin(), since.end()});
  }

  std::vector<double> memory_speeds() {
    if (options_.walk_bytes == 0 || options_.job) return {};
    auto read = read_slices(staged_.crew(), options_.walk_bytes, slices);
    return read ? std::move(*read) : std::vector<double>();
  }

  std::int64_t repetitions() const {
    const auto alone = options_.beside.empty() ? options_.repetitions_min : std::int64_t{1};
    return std::max(alone, fitting(result_.median_ns, per_rank_));
  }

  // Repetitions that take the time of a block.
  std::int64_t fitting(double repetition_ns, std::span<const Stack> stacks) const {
    const double affordable = options_.block_s * ns_per_s / std::max(1.0, repetition_ns);
    return std::max<std::int64_t>(1, std::min(as_int64(affordable), repetitions_max(stacks)));
  }

  bool repeat(std::int64_t count, std::int64_t warmup) {
    return collect(per_rank_, count, warmup, steps_) &&
           (fold_times(per_rank_, steps_, result_) || end_misfit());
  }

  bool end_misfit() { return end(Status::worker_lost, "the step times do not fit the stack"); }

  // Appends the repetitions of one request. False when it failed.
  bool collect(std::span<const Stack> stacks, std::int64_t count, std::int64_t warmup,
               StackSteps& steps) {
    auto outcomes = staged_.crew().sequence(staged_.sequence(stacks, count, warmup));
    if (const auto failure = first_failure(outcomes)) return end(*failure);
    steps.resize(outcomes.size());
    for (const auto rank : indices(outcomes)) {
      std::vector<TimedSample>& of_rank = outcomes[rank]->steps;
      if (options_.job) begin_together(of_rank);
      steps[rank].insert(steps[rank].end(), of_rank.begin(), of_rank.end());
      const protocol::Measured& measured = outcomes[rank]->measured;
      absorb(measured, series_);
      for (const auto& peak : {measured.peak_flops.before, measured.peak_flops.after}) {
        if (peak) cores_.push_back(*peak);
      }
    }
    return true;
  }

  void judge() {
    result_.bytes_per_s = median_from(speeds_, 0);
    result_.flops_per_s = median_from(cores_, 0);
    result_.signals = series_.signals;
    result_.environment = series_.environment;
    if (options_.is_oversubscribed) {
      result_.status = Status::ok;
      return;
    }
    Measurement whole;
    whole.signals = result_.signals;
    whole.duration_ns_median = result_.median_ns;
    whole.duration_ns_interval = result_.interval_ns;
    whole.stop_rule = name_of(series_.stop_rule);
    for (const auto& rank : steps_) {
      append_all(whole.samples, rank);
    }
    const Verdict verdict = judge_validity(whole, options_.thresholds);
    result_.status = verdict.status;
    result_.reason = verdict.reason;
  }

  std::span<const Stack> per_rank_;
  const StackRunOptions& options_;
  StagedStacks staged_;
  StackSteps steps_;
  std::int64_t short_repetitions_ = 0;  // in a block; 0 = not known yet
  std::vector<double> speeds_;          // of the memory, per block
  std::vector<double> cores_;           // short peaks around every request for a sequence
  ShardSeries series_;                  // of all requests, without samples
  StackRunResult result_;
};

}  // namespace

StackRunResult run_stacks(std::span<const Stack> per_rank, const StackRunOptions& options) {
  return StackRun(per_rank, options).run();
}

}  // namespace halmark
