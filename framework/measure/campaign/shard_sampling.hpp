// Samples of one staged case on all shards of a crew at once, merged into one series.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/campaign/co_measure.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/kept_check.hpp"

namespace halmark {

// Of ranks on several nodes: see RankMeeting. Their times are known to this, over the repeat.
inline constexpr std::string_view start_skew_signal = "start_skew_ns";

struct ShardSeries {
  MergedSamples merged;
  std::int64_t repeat = 1;
  bool is_of_one_request = false;  // and not of one per block
  protocol::StopReason stop_rule = protocol::StopReason::none;
  std::vector<Signal> signals;               // the worst shard's value of each
  protocol::ClockPair clock_hz, peak_flops;  // of the shard that moved most
  std::string environment;
  // Per shard: first sets of the samples of the last request. Outputs are poisoned when a request
  // begins and shards warm up for themselves, so these are the slots that hold results.
  std::vector<std::vector<int>> written_sets;
  // Per shard, what it kept during each request.
  std::vector<std::vector<KeptSeries>> kept;
};

// Signals, clocks and environment of one more shard's answer.
void absorb(const protocol::Measured& shard, ShardSeries& series);

// One shard decides by itself when to stop. Several run blocks of equal n from a common barrier;
// the smallest repeat of their pilots holds for all, and the rule is evaluated here, between
// blocks, on the maximum over the shards: so shards never disagree. `first_ns` sizes the first
// block. `shards`: those that execute it while the others wait; empty = all. `checks`: of each
// shard.
Outcome<ShardSeries> sample_shards(Crew& crew, std::int64_t id, const protocol::SampleRule& rule,
                                   double wall_cap_s, double first_ns,
                                   std::span<const int> shards = {},
                                   const std::optional<protocol::OutputChecks>& checks = {});

}  // namespace halmark
