// Shards that share a machine have to be slow together: they run equal blocks from one barrier, and
// the rule is asked here, because shards that decide for themselves would stop at different counts.
#include "measure/campaign/shard_sampling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "core/numeric/clock.hpp"
#include "core/numeric/random.hpp"
#include "core/text/units.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

using protocol::ClockPair;
using protocol::Stop;
using protocol::StopReason;

using ShardBlocks = std::vector<SampleAnswer>;

Outcome<ShardBlocks> collect(std::vector<Outcome<SampleAnswer>> outcomes) {
  if (auto failure = first_failure(outcomes)) return std::move(*failure);
  ShardBlocks blocks;
  for (auto& outcome : outcomes) blocks.push_back(std::move(*outcome));
  return blocks;
}

void keep_worst_signal(std::vector<Signal>& signals, const Signal& signal) {
  auto* known = find_or_null(signals, signal.name, &Signal::name);
  if (!known) {
    signals.push_back(signal);
  } else if (signal.value && (!known->value || *signal.value > *known->value)) {
    *known = signal;
  }
}

void keep_most_moved(ClockPair& kept, const ClockPair& shard) {
  if (!shard.before || !shard.after) return;
  const bool is_worse =
      !kept.before || !kept.after ||
      relative_move(*shard.before, *shard.after) > relative_move(*kept.before, *kept.after);
  if (is_worse) kept = shard;
}

void absorb_all(ShardSeries& series, ShardBlocks& blocks) {
  if (const auto skew_ns = stated_skew_ns(blocks.front().start_skews_ns)) {
    keep_worst_signal(series.signals, {std::string(start_skew_signal), *skew_ns, {}});
  }
  series.written_sets.clear();
  series.kept.resize(blocks.size());
  for (const auto s : indices(blocks)) {
    SampleAnswer& shard = blocks[s];
    absorb(shard.measured, series);
    if (!shard.measured.kept.empty()) {
      series.kept[s].push_back({std::move(shard.measured.kept),
                                std::move(shard.measured.overwritten), std::move(shard.kept)});
    }
    auto& sets = series.written_sets.emplace_back();
    for (const TimedSample& sample : shard.samples) sets.push_back(sample.set);
  }
}

void append(MergedSamples& total, MergedSamples block) {
  append_all(total.samples, block.samples);
  total.shard_wall_ns.resize(block.shard_wall_ns.size());
  for (const auto s : indices(block.shard_wall_ns)) {
    auto& shard = total.shard_wall_ns[s];
    shard.insert(shard.end(), block.shard_wall_ns[s].begin(), block.shard_wall_ns[s].end());
  }
  total.dropped += block.dropped;
}

// Clocks of several nodes have nothing in common but the start: the first rank's is taken for the
// origin, and the others began at the most that the start's skew allows.
void align_in_time(ShardBlocks& blocks) {
  for (const auto s : indices(blocks)) {
    const std::vector<double>& skews_ns = blocks[s].start_skews_ns;
    std::vector<TimedSample>& samples = blocks[s].samples;
    for (const auto i : indices(samples)) {
      const double skew_ns = i < skews_ns.size() ? skews_ns[i] : INFINITY;
      samples[i].begin_ns = s == 0 ? 0 : skew_ns;
    }
  }
}

MergedSamples merge(ShardBlocks& blocks, std::int64_t repeat) {
  if (!blocks.front().start_skews_ns.empty()) align_in_time(blocks);
  std::vector<std::vector<TimedSample>> shards;
  for (SampleAnswer& shard : blocks) shards.push_back(std::move(shard.samples));
  return merge_shards(shards, repeat);
}

Outcome<ShardSeries> sample_alone(Crew& crew, std::int64_t id, const protocol::SampleRule& rule,
                                  double wall_cap_s, std::span<const int> shards,
                                  const std::optional<protocol::OutputChecks>& checks) {
  auto blocks = collect(
      crew.sample({.id = id, .rule = rule, .wall_cap_s = wall_cap_s, .checks = checks}, shards));
  if (!blocks) return blocks.failure;
  ShardSeries series;
  absorb_all(series, *blocks);
  series.is_of_one_request = blocks->size() == 1;
  series.repeat = std::max<std::int64_t>(1, blocks->front().measured.repeat);
  series.stop_rule = blocks->front().measured.stop_rule;
  series.merged = merge(*blocks, series.repeat);
  return series;
}

// Several shards, block by block.
class CommonSampling {
 public:
  CommonSampling(Crew& crew, std::int64_t id, const protocol::SampleRule& rule, double wall_cap_s,
                 double first_ns, std::span<const int> shards,
                 const std::optional<protocol::OutputChecks>& checks)
      : crew_(crew),
        shards_(shards),
        id_(id),
        rule_(rule),
        wall_cap_s_(wall_cap_s),
        first_ns_(first_ns),
        checks_(checks),
        stop_(make_stop_rule(rule)) {
    // So that the skew of a start is at most a twentieth of what it begins.
    rule_.min_sample_ns = std::max(rule_.min_sample_ns, 20 * crew.start_skew_ns());
  }

  Outcome<ShardSeries> run() {
    begin_ = SteadyClock::now();
    if (auto failure = pilot()) return std::move(*failure);
    stop_->start();
    std::int64_t count = first_block();
    while (!finished()) {
      if (auto failure = take_block(count)) return std::move(*failure);
      count = next_block();
    }
    return std::move(series_);
  }

 private:
  static constexpr std::int64_t block_min = 4;
  static constexpr std::int64_t block_max = 64;
  static constexpr int later_checks = 4;

  double seconds_left() const { return wall_cap_s_ - seconds_since(begin_); }

  // The slowest shard wants the smallest repeat; all take that one.
  std::optional<WorkerFailure> pilot() {
    if (rule_.repeat > 0) {
      series_.repeat = rule_.repeat;
      return std::nullopt;
    }
    auto pilots = collect(crew_.sample(
        {.id = id_, .rule = rule_, .wall_cap_s = wall_cap_s_, .pilot_only = true}, shards_));
    if (!pilots) return pilots.failure;
    series_.repeat = pilots->front().measured.repeat;
    for (const SampleAnswer& shard : *pilots) {
      series_.repeat = std::min(series_.repeat, shard.measured.repeat);
    }
    series_.repeat = std::max<std::int64_t>(1, series_.repeat);
    return std::nullopt;
  }

  std::int64_t first_block() const {
    if (rule_.stop == Stop::count) return std::clamp<std::int64_t>(rule_.count, 1, 4 * block_max);
    return min_samples_for(rule_, first_ns_ * as_double(series_.repeat));
  }

  // Enough to spend the rest of the budget, in few blocks: each block pays probes and a warm-up.
  std::int64_t next_block() const {
    if (rule_.stop == Stop::count) {
      return std::clamp<std::int64_t>(rule_.count - taken_, 1, 4 * block_max);
    }
    const double mean_ns = taken_ > 0 ? sampled_ns_ / as_double(taken_) : first_ns_;
    const double budget_ns = rule_.budget_s * ns_per_s - clean_ns_;
    const auto wanted = as_int64(budget_ns / std::max(1.0, mean_ns));
    return std::clamp(wanted, block_min, block_max);
  }

  std::optional<WorkerFailure> take_block(std::int64_t count) {
    protocol::SampleRule block_rule = rule_;
    block_rule.stop = Stop::count;
    block_rule.count = count;
    block_rule.repeat = series_.repeat;
    if (taken_ > 0) block_rule.warmup_cap_s = 0;
    auto blocks = collect(crew_.sample({.id = id_,
                                        .rule = block_rule,
                                        .wall_cap_s = std::max(0.1, seconds_left()),
                                        .checks = checks_},
                                       shards_));
    // The first block has most of them: later ones are looked at as well, but cost less.
    if (checks_) {
      const std::uint64_t seed = checks_->seed == 0 ? 0 : hash_u64(checks_->seed, 1);
      *checks_ = {std::min(checks_->executions, later_checks), 1, seed, false,
                  std::min(checks_->redraws, later_checks)};
    }
    if (!blocks) return blocks.failure;
    absorb_all(series_, *blocks);
    hit_deadline_ = std::any_of(blocks->begin(), blocks->end(), [](const auto& shard) {
      return shard.measured.stop_rule == StopReason::deadline;
    });
    MergedSamples merged = merge(*blocks, series_.repeat);
    for (const Sample& sample : merged.samples) {
      const double interval_ns = sample_ns(sample) * as_double(series_.repeat);
      sampled_ns_ += interval_ns;
      if (sample.label != SampleLabel::disturbed) clean_ns_ += interval_ns;
      add_labelled(*stop_, sample.label, interval_ns);
    }
    taken_ += std::ssize(merged.samples) + merged.dropped;
    append(series_.merged, std::move(merged));
    return std::nullopt;
  }

  bool finished() {
    if (taken_ == 0) return false;
    if (stop_->finished()) {
      series_.stop_rule = stop_->reason();
      return true;
    }
    if (hit_deadline_ || seconds_left() <= 0) {
      series_.stop_rule = StopReason::deadline;
      return true;
    }
    // Dropped samples never reach the rule; the maximum ends a series that keeps losing them.
    if (taken_ >= rule_.max_samples || too_many_dropped()) {
      series_.stop_rule = StopReason::max_samples;
      return true;
    }
    return false;
  }
  bool too_many_dropped() const {
    return series_.merged.dropped > 4 * block_max &&
           series_.merged.dropped > 8 * std::ssize(series_.merged.samples);
  }

  Crew& crew_;
  std::span<const int> shards_;
  std::int64_t id_;
  protocol::SampleRule rule_;
  double wall_cap_s_;
  double first_ns_;
  std::optional<protocol::OutputChecks> checks_;
  std::unique_ptr<StopRule> stop_;
  SteadyClock::time_point begin_;
  ShardSeries series_;
  std::int64_t taken_ = 0;
  double sampled_ns_ = 0, clean_ns_ = 0;
  bool hit_deadline_ = false;
};

}  // namespace

void absorb(const protocol::Measured& shard, ShardSeries& series) {
  for (const Signal& signal : shard.signals) keep_worst_signal(series.signals, signal);
  keep_most_moved(series.clock_hz, shard.clock_hz);
  keep_most_moved(series.peak_flops, shard.peak_flops);
  if (series.environment.empty()) series.environment = shard.environment;
  if (series.stop_rule == StopReason::none || shard.stop_rule == StopReason::deadline) {
    series.stop_rule = shard.stop_rule;
  }
}

Outcome<ShardSeries> sample_shards(Crew& crew, std::int64_t id, const protocol::SampleRule& rule,
                                   double wall_cap_s, double first_ns, std::span<const int> shards,
                                   const std::optional<protocol::OutputChecks>& checks) {
  // Ranks of a collective never decide by themselves, not even a lone one.
  const bool is_lone = crew.size() == 1 ? !crew.group().is_collective : shards.size() == 1;
  if (is_lone) return sample_alone(crew, id, rule, wall_cap_s, shards, checks);
  return CommonSampling(crew, id, rule, wall_cap_s, first_ns, shards, checks).run();
}

}  // namespace halmark
