#include "measure/campaign/co_measure.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

TimedSample at(double begin_ns, double wall_ns, int set = 0) {
  TimedSample sample;
  sample.begin_ns = begin_ns;
  sample.wall_ns = sample.cpu_ns = wall_ns;
  sample.set = set;
  return sample;
}

TEST(CoMeasure, one_shard_is_kept_as_it_is) {
  const std::vector<std::vector<TimedSample>> shards{{at(0, 10, 3), at(100, 20, 1)}};
  const MergedSamples merged = merge_shards(shards, 5);
  ASSERT_EQ(merged.samples.size(), 2U);
  EXPECT_EQ(merged.samples[0].wall_ns, 10);
  EXPECT_EQ(merged.samples[0].set, 3);
  EXPECT_TRUE(merged.shard_wall_ns.empty());
  EXPECT_EQ(merged.dropped, 0);
}

TEST(CoMeasure, the_slowest_shard_is_the_time_and_each_shard_is_kept) {
  const std::vector<std::vector<TimedSample>> shards{{at(0, 10), at(100, 30)},
                                                     {at(0, 12), at(100, 20)}};
  const MergedSamples merged = merge_shards(shards, 1);
  ASSERT_EQ(merged.samples.size(), 2U);
  EXPECT_EQ(merged.samples[0].wall_ns, 12);
  EXPECT_EQ(merged.samples[1].wall_ns, 30);
  EXPECT_EQ(merged.shard_wall_ns, (std::vector<std::vector<double>>{{10, 30}, {12, 20}}));
}

TEST(CoMeasure, samples_that_overlap_less_than_nine_tenths_are_dropped_and_counted) {
  // 100 ns each: skewed by 5 (95 % overlap), by 15 (85 %), and not overlapping at all.
  const std::vector<std::vector<TimedSample>> shards{{at(0, 100), at(1000, 100), at(2000, 100)},
                                                     {at(5, 100), at(1015, 100), at(2500, 100)}};
  const MergedSamples merged = merge_shards(shards, 1);
  EXPECT_EQ(merged.samples.size(), 1U);
  EXPECT_EQ(merged.dropped, 2);
  EXPECT_EQ(merged.shard_wall_ns[0].size(), 1U);
}

TEST(CoMeasure, the_interval_covers_all_repeats) {
  // The same skew of 15 against an interval of 10 x 100.
  const std::vector<std::vector<TimedSample>> shards{{at(0, 100)}, {at(15, 100)}};
  EXPECT_EQ(merge_shards(shards, 10).dropped, 0);
  EXPECT_EQ(merge_shards(shards, 1).dropped, 1);
}

TEST(CoMeasure, a_fast_shard_inside_a_slow_one_overlaps_fully) {
  const std::vector<std::vector<TimedSample>> shards{{at(0, 100)}, {at(0, 1000)}};
  const MergedSamples merged = merge_shards(shards, 1);
  EXPECT_EQ(merged.dropped, 0);
  EXPECT_EQ(merged.samples.at(0).wall_ns, 1000);
}

TEST(CoMeasure, series_of_unequal_length_are_cut_and_the_rest_counts_as_dropped) {
  const std::vector<std::vector<TimedSample>> shards{{at(0, 10), at(100, 10), at(200, 10)},
                                                     {at(0, 10)}};
  const MergedSamples merged = merge_shards(shards, 1);
  EXPECT_EQ(merged.samples.size(), 1U);
  EXPECT_EQ(merged.dropped, 2);
}

TEST(Summary, uses_device_time_where_there_is_one) {
  Measurement m;
  for (int i = 1; i <= 5; ++i) {
    m.samples.push_back({.wall_ns = 100, .cpu_ns = 100, .device_ns = i * 10.0});
  }
  summarise(m);
  EXPECT_EQ(m.duration_ns_median, 30);
  EXPECT_EQ(m.duration_ns_min, 10);
  EXPECT_EQ(m.duration_ns_interval.low, 10);
  EXPECT_EQ(m.duration_ns_interval.high, 50);
}

}  // namespace
}  // namespace halmark
