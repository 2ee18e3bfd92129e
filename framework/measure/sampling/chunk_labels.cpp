// One reading ends a chunk and begins the next. Between blocks of samples other code runs, so no
// chunk reaches over such a gap.
#include "measure/sampling/chunk_labels.hpp"

#include <algorithm>

namespace halmark {
namespace {

template <class Combine>
std::optional<double> combined(std::optional<double> a, std::optional<double> b, Combine combine) {
  if (!a || !b) return std::nullopt;
  return combine(*a, *b);
}

}  // namespace

CounterReading growth(const CounterReading& from, const CounterReading& to) {
  // A thread that ended in between takes what was counted for it along.
  const auto grown = [](double before, double after) { return std::max(0.0, after - before); };
  return {
      .wall_ns = to.wall_ns - from.wall_ns,
      .cpu_ns = to.cpu_ns - from.cpu_ns,
      .thread_cpu_ns = to.thread_cpu_ns - from.thread_cpu_ns,
      .run_delay_ns = combined(from.run_delay_ns, to.run_delay_ns, grown),
      .involuntary_switches = combined(from.involuntary_switches, to.involuntary_switches, grown)};
}

CounterReading sum(const CounterReading& a, const CounterReading& b) {
  const auto plus = [](double x, double y) { return x + y; };
  return {.wall_ns = a.wall_ns + b.wall_ns,
          .cpu_ns = a.cpu_ns + b.cpu_ns,
          .thread_cpu_ns = a.thread_cpu_ns + b.thread_cpu_ns,
          .run_delay_ns = combined(a.run_delay_ns, b.run_delay_ns, plus),
          .involuntary_switches = combined(a.involuntary_switches, b.involuntary_switches, plus)};
}

ChunkRule affordable(ChunkRule rule, double reading_ns) {
  constexpr double cost_share = 0.01;
  rule.shortest_ns = std::max(rule.shortest_ns, reading_ns / cost_share);
  return rule;
}

std::optional<double> delay_by_others_ns(const CounterReading& counted, bool is_on_one_cpu) {
  if (!is_on_one_cpu || !counted.run_delay_ns) return counted.run_delay_ns;
  return std::clamp(counted.wall_ns - counted.cpu_ns, 0.0, *counted.run_delay_ns);
}

double disturbed_share(const CounterReading& chunk, const ChunkRule& rule) {
  if (chunk.wall_ns <= 0) return 0;
  const double delayed_ns = delay_by_others_ns(chunk, rule.is_on_one_cpu).value_or(0);
  const double lost_ns = rule.counts_lost_cpu ? chunk.wall_ns - chunk.cpu_ns : 0;
  return std::max({0.0, delayed_ns, lost_ns}) / chunk.wall_ns;
}

ChunkLabels::ChunkLabels(DisturbanceCounters* counters, const ChunkRule& rule,
                         std::vector<TimedSample>& samples)
    : counters_(counters), rule_(rule), samples_(samples) {}

void ChunkLabels::begin_block() {
  if (counters_ == nullptr) return;
  border_ = counters_->read();
  begin_ = samples_.size();
}

bool ChunkLabels::add_newest() {
  if (counters_ == nullptr) return false;
  const TimedSample& newest = samples_.back();
  const double chunk_ns = newest.begin_ns + newest.wall_ns - samples_[begin_].begin_ns;
  if (chunk_ns < rule_.shortest_ns) return false;
  close();
  return true;
}

void ChunkLabels::close() {
  const CounterReading now = counters_->read();
  if (previous_) keep_clean(*previous_);
  previous_ = Chunk{begin_, growth(border_, now)};
  label(*previous_);
  border_ = now;
  begin_ = samples_.size();
}

void ChunkLabels::end_block() {
  if (counters_ == nullptr) return;
  if (begin_ < samples_.size() && previous_) {
    previous_->counted = sum(previous_->counted, growth(border_, counters_->read()));
    label(*previous_);
  } else if (begin_ < samples_.size()) {
    close();
  }
  if (previous_) keep_clean(*previous_);
  previous_.reset();
}

bool ChunkLabels::is_clean(const CounterReading& counted) const {
  return disturbed_share(counted, rule_) <= rule_.disturbed_share;
}

void ChunkLabels::keep_clean(const Chunk& chunk) {
  if (is_clean(chunk.counted)) clean_ = clean_ ? sum(*clean_, chunk.counted) : chunk.counted;
}

// To the end: a chunk is labelled when its last sample is the newest.
void ChunkLabels::label(const Chunk& chunk) {
  const SampleLabel label = is_clean(chunk.counted) ? SampleLabel::clean : SampleLabel::disturbed;
  for (std::size_t i = chunk.begin; i < samples_.size(); ++i) samples_[i].label = label;
}

}  // namespace halmark
