// What the answers of several shards become, and in which blocks the rule is asked between them.
#include "measure/campaign/shard_sampling.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fake_campaign.hpp"

namespace halmark {
namespace {

using protocol::Measured;
using protocol::StopReason;

Measured with_signal(const char* name, std::optional<double> value, const char* reason = "") {
  Measured out;
  out.signals.push_back({name, value, reason});
  return out;
}

ShardSeries absorbed(const std::vector<Measured>& shards) {
  ShardSeries out;
  for (const Measured& shard : shards) absorb(shard, out);
  return out;
}

TEST(AbsorbedShards, keep_the_largest_value_of_each_signal) {
  for (const bool is_reversed : {false, true}) {
    std::vector<Measured> shards = {with_signal("steal", 0.25), with_signal("steal", 0.5),
                                    with_signal("steal", 0.375), with_signal("load", 2)};
    if (is_reversed) std::reverse(shards.begin(), shards.end());
    const ShardSeries series = absorbed(shards);
    ASSERT_EQ(series.signals.size(), 2u);
    const std::size_t steal = is_reversed ? 1 : 0;
    EXPECT_EQ(series.signals[steal].value, 0.5);
    EXPECT_EQ(series.signals[1 - steal].value, 2);
  }
}

TEST(AbsorbedShards, prefer_a_value_to_the_reason_why_there_is_none) {
  const Measured absent = with_signal("steal", std::nullopt, "no ticks");
  EXPECT_EQ(absorbed({absent, with_signal("steal", -1)}).signals.at(0).value, -1);
  EXPECT_EQ(absorbed({with_signal("steal", -1), absent}).signals.at(0).value, -1);
  EXPECT_EQ(absorbed({absent, absent}).signals.at(0).reason, "no ticks");
}

Measured with_clock(std::optional<double> before, std::optional<double> after) {
  Measured out;
  out.clock_hz = {before, after};
  out.peak_flops = {before, after};
  return out;
}

TEST(AbsorbedShards, keep_the_clock_that_moved_most_either_way) {
  const ShardSeries series =
      absorbed({with_clock(100, 101), with_clock(100, 90), with_clock(100, 105)});
  EXPECT_EQ(series.clock_hz.after, 90);
  EXPECT_EQ(series.peak_flops.after, 90);
  EXPECT_EQ(absorbed({with_clock(100, 120), with_clock(100, 90)}).clock_hz.after, 120);
  // A shard that read only one of both tells nothing.
  EXPECT_EQ(absorbed({with_clock(100, 101), with_clock(50, std::nullopt)}).clock_hz.before, 100);
  EXPECT_EQ(absorbed({with_clock(100, 101), with_clock(std::nullopt, 50)}).clock_hz.after, 101);
  EXPECT_EQ(absorbed({with_clock(50, std::nullopt), with_clock(100, 100)}).clock_hz.before, 100);
}

TEST(AbsorbedShards, have_the_environment_of_the_first_and_the_deadline_of_any) {
  Measured first, second;
  first.environment = "first";
  first.stop_rule = StopReason::count;
  second.environment = "second";
  second.stop_rule = StopReason::budget;
  EXPECT_EQ(absorbed({first, second}).environment, "first");
  EXPECT_EQ(absorbed({first, second}).stop_rule, StopReason::count);
  second.stop_rule = StopReason::deadline;
  EXPECT_EQ(absorbed({first, second}).stop_rule, StopReason::deadline);
  EXPECT_EQ(absorbed({second, first}).stop_rule, StopReason::deadline);
  first.environment = "";
  EXPECT_EQ(absorbed({first, second}).environment, "second");
}

// A rank alone is asked in blocks as several are, and nothing of it is ever dropped.
KernelCase lone_rank() {
  return fake_case({"all_reduce", {{"bytes", 256}, {"ranks", 1}, {"dtype", 2}}});
}

Measurement sampled(const protocol::SampleRule& rule, const std::string& script,
                    double wall_cap_s = 15) {
  CampaignOptions options = fake_options(script);
  options.rule = rule;
  options.wall_cap_s = wall_cap_s;
  const std::vector<KernelCase> cases{lone_rank()};
  return Campaign(std::move(options)).run(cases).at(0);
}

protocol::SampleRule counted(std::int64_t count) {
  return {.stop = protocol::Stop::count, .count = count, .repeat = 2, .warmup_cap_s = 0.01};
}

TEST(CommonSampling, takes_exactly_what_is_counted_whatever_fits_a_block) {
  for (const std::int64_t count : {0, 1, 7, 256, 300}) {
    const Measurement row = sampled(counted(count), "latency_ns=20000");
    ASSERT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_EQ(row.samples.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, count)));
    EXPECT_EQ(row.stop_rule, "count");
    EXPECT_EQ(row.repeat, 2);
    EXPECT_TRUE(row.shard_wall_ns.empty());
  }
}

// With noise that never settles and a budget that is never spent.
protocol::SampleRule endless() {
  protocol::SampleRule rule;
  rule.min_samples = 5;
  rule.max_samples = 1 << 20;
  rule.ci_half_width = 1e-9;
  rule.budget_s = 600;
  rule.repeat = 1;
  rule.warmup_cap_s = 0.001;
  return rule;
}

TEST(CommonSampling, follows_its_first_block_with_blocks_of_64_to_the_maximum) {
  for (const auto& [most, taken] :
       {std::pair(4, 5), std::pair(5, 5), std::pair(6, 69), std::pair(69, 69)}) {
    protocol::SampleRule rule = endless();
    rule.max_samples = most;
    const Measurement row = sampled(rule, "latency_ns=20000;noise=0.4");
    ASSERT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_EQ(row.samples.size(), static_cast<std::size_t>(taken)) << most;
    EXPECT_EQ(row.stop_rule, "max_samples");
  }
}

// Blocks by hand, of the samples that were taken: what is left of the budget, in samples of the
// mean so far, four at least. None is set aside.
TEST(CommonSampling, asks_for_what_is_left_of_the_budget_and_for_four_at_least) {
  for (const double budget_s : {0.0095, 0.0135, 0.0295, 0.06}) {
    protocol::SampleRule rule = endless();
    rule.budget_s = budget_s;
    rule.disturbed_share = 1e9;
    const Measurement row = sampled(rule, "latency_ns=2000000");
    ASSERT_EQ(row.status, Status::ok) << row.reason;
    std::size_t taken = 5;
    double spent_ns = 0;
    for (std::size_t i = 0; i < taken && i < row.samples.size(); ++i) {
      spent_ns += row.samples[i].wall_ns;
      if (i + 1 < taken || spent_ns >= budget_s * 1e9) continue;
      const double left_ns = budget_s * 1e9 - spent_ns;
      const auto wanted =
          static_cast<std::int64_t>(left_ns / (spent_ns / static_cast<double>(taken)));
      taken += static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 4, 64));
    }
    EXPECT_EQ(row.samples.size(), taken) << budget_s;
  }
}

TEST(CommonSampling, ends_at_the_wall_cap) {
  const Measurement row = sampled(counted(100'000), "latency_ns=2000000", 1);
  ASSERT_TRUE(has_latency(row.status)) << row.reason;  // a busy machine leaves the interval wide
  EXPECT_EQ(row.stop_rule, "deadline");
  EXPECT_GE(row.samples.size(), 1u);
  EXPECT_LT(row.samples.size(), 500u);
}

// Calls above 50 ms: three samples are enough for a first block.
TEST(CommonSampling, begins_with_three_samples_of_a_slow_call) {
  protocol::SampleRule rule = endless();
  rule.max_samples = 3;
  const Measurement row = sampled(rule, "latency_ns=60000000");
  ASSERT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(row.samples.size(), 3u);
}

// The first worker leaves when it drops the first case; the second case has a new one, and no loss.
TEST(CampaignCrew, that_left_after_a_good_row_is_replaced_before_the_next) {
  const auto once =
      std::filesystem::temp_directory_path() / ("halmark-left-" + std::to_string(::getpid()));
  bool was_seen = false;
  for (int after = 0; after < 8 && !was_seen; ++after) {
    std::filesystem::remove(once);
    CampaignOptions options =
        fake_options("exit=release;after=" + std::to_string(after) + ";once_file=" + once.string());
    const std::vector<KernelCase> alone{copy_case(64)};
    const Measurement first = Campaign(options).run(alone).at(0);
    const bool has_left = std::filesystem::exists(once);
    const bool is_unharmed =
        first.status == Status::ok &&
        std::ranges::count(first.signals, "worker_replaced", &Signal::name) == 0;
    if (!has_left || !is_unharmed) continue;
    was_seen = true;
    std::filesystem::remove(once);
    const std::vector<KernelCase> both{copy_case(64), copy_case(64)};
    for (const Measurement& row : Campaign(options).run(both)) {
      EXPECT_EQ(row.status, Status::ok) << row.reason;
      EXPECT_EQ(std::ranges::count(row.signals, "worker_replaced", &Signal::name), 0);
    }
  }
  std::filesystem::remove(once);
  EXPECT_TRUE(was_seen) << "no release behind the last sample";
}

}  // namespace
}  // namespace halmark
