// A machine is not in one state for long: what is compared is measured in turns of a second, by the
// same workers, in the same memory.
#include "measure/campaign/stack/stack_run.hpp"

#include <algorithm>
#include <utility>

#include "core/numeric/clock.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/shard_sampling.hpp"
#include "measure/campaign/stack/stack_times.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"

namespace halmark {
namespace {

constexpr int pairs_more = 2;           // for those that the memory's speed set apart
constexpr double moved_max = 0.1;       // of the memory's speed within a pair
constexpr int slices = 9;               // short reads of the memory around a block
constexpr double values_max = 1 << 20;  // that one request may answer

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
      }
    } catch (const Error& error) {
      end(Status::refused, error.line());
    }
    staged_.quit();
    result_.correctness = staged_.correctness();
    result_.shared_instances = staged_.shared_instances();
    result_.wall_s = seconds_since(begin);
    return std::move(result_);
  }

 private:
  // What was measured in one go, and the memory's speed around it.
  struct Block {
    std::vector<double> ns;  // of the stack: one; of kernels: each
    std::optional<double> bytes_per_s;
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
    blocks_.assign(per_rank_.size(), {});  // the first repetition tells how many make a block
    std::optional<Block> stack = stack_block();
    int in_one_state = 0;
    const int pairs = options_.beside.empty() ? 0 : options_.pairs;
    for (int i = 0; stack && in_one_state < pairs && i < pairs + pairs_more; ++i) {
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
    return a.bytes_per_s && b.bytes_per_s &&
           relative_move(*a.bytes_per_s, *b.bytes_per_s) > moved_max;
  }

  template <class Measure>
  std::optional<Block> block(const Measure& measure) {
    const std::vector<double> before = memory_speeds();
    Block out;
    if (!measure(out)) return std::nullopt;
    std::vector<double> speeds = memory_speeds();
    speeds.insert(speeds.end(), before.begin(), before.end());
    if (!speeds.empty()) {
      out.bytes_per_s = median(speeds);
      speeds_.push_back(*out.bytes_per_s);
    }
    return out;
  }

  std::optional<Block> stack_block() {
    return block([&](Block& out) {
      const std::size_t before = blocks_.front().empty() ? 0 : result_.step_ns.size();
      if (!repeat(repetitions(), 1)) return false;
      out.ns = {median(std::span(result_.step_ns).subspan(before))};
      return true;
    });
  }

  std::optional<Block> kernel_block() {
    protocol::SampleRule rule;
    rule.budget_s = options_.block_s / static_cast<double>(options_.beside.size());
    rule.ci_half_width = 0;  // the time that the stack had, not less
    rule.warmup_cap_s = rule.budget_s / 4;
    return block([&](Block& out) {
      for (const KernelCase& k : options_.beside) {
        const auto series = sample_shards(staged_.crew(), staged_.id_of(k), rule,
                                          options_.wall_cap_s, staged_.first_ns(k));
        if (!series) return end(series.failure);
        // All of them, as all repetitions of the stack count: what disturbs one side disturbs both.
        std::vector<double> ns;
        for (const Sample& sample : series->merged.samples) ns.push_back(sample_ns(sample));
        if (ns.empty()) {
          return end(Status::invalid, k.problem.text() + ": no sample of the shards overlapped");
        }
        out.ns.push_back(median(ns));
      }
      return true;
    });
  }

  std::vector<double> memory_speeds() {
    if (options_.walk_bytes == 0) return {};
    auto read = read_slices(staged_.crew(), options_.walk_bytes, slices);
    return read ? std::move(*read) : std::vector<double>();
  }

  std::int64_t repetitions() const {
    const double row = 1 + static_cast<double>(per_rank_.front().steps.size());
    const double affordable = options_.block_s * ns_per_s / std::max(1.0, result_.median_ns);
    const auto alone = options_.beside.empty() ? options_.repetitions_min : std::int64_t{1};
    return std::max(alone, static_cast<std::int64_t>(std::min(affordable, values_max / row)));
  }

  // Appends the repetitions of one request to the blocks. False when it failed.
  bool repeat(std::int64_t count, std::int64_t warmup) {
    auto outcomes = staged_.crew().sequence(staged_.sequence(count, warmup));
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
    return fold_times(per_rank_, blocks_, result_) ||
           end(Status::worker_lost, "the step times do not fit the stack");
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

  void judge() {
    if (!speeds_.empty()) result_.bytes_per_s = median(speeds_);
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
  StagedStacks staged_;
  std::vector<std::vector<double>> blocks_;  // [rank]
  std::vector<double> speeds_;               // of the memory, per block
  bool hit_deadline_ = false;
  StackRunResult result_;
};

}  // namespace

StackRunResult run_stacks(std::span<const Stack> per_rank, const StackRunOptions& options) {
  return StackRun(per_rank, options).run();
}

}  // namespace halmark
