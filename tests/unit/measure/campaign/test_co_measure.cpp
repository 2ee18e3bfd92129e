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

TEST(CoMeasure, what_disturbed_one_shard_is_set_aside_on_all) {
  using enum SampleLabel;
  const auto labelled = [](SampleLabel label, double wall_ns) {
    TimedSample sample = at(0, wall_ns);
    sample.label = label;
    return sample;
  };
  // The disturbed shard is the slow one, the fast one, or neither; one shard has no counters.
  const std::vector<std::vector<TimedSample>> shards{
      {labelled(disturbed, 12), labelled(disturbed, 10), labelled(clean, 10),
       labelled(unlabelled, 10), labelled(unlabelled, 10)},
      {labelled(clean, 10), labelled(clean, 12), labelled(clean, 12), labelled(clean, 12),
       labelled(disturbed, 12)}};
  std::vector<SampleLabel> labels;
  for (const Sample& sample : merge_shards(shards, 1).samples) labels.push_back(sample.label);
  EXPECT_EQ(labels, (std::vector{disturbed, disturbed, clean, unlabelled, disturbed}));
}

Measurement with_samples(std::initializer_list<std::pair<SampleLabel, double>> samples) {
  Measurement m;
  for (const auto& [label, ns] : samples) {
    m.samples.push_back({.wall_ns = ns, .cpu_ns = ns, .label = label});
  }
  summarise(m);
  return m;
}

TEST(Summary, rests_on_clean_samples_and_keeps_all) {
  using enum SampleLabel;
  const Measurement m = with_samples({{clean, 10},
                                      {disturbed, 5},
                                      {clean, 12},
                                      {disturbed, 90},
                                      {clean, 14},
                                      {disturbed, 95},
                                      {disturbed, 99}});
  EXPECT_EQ(m.samples.size(), 7u);
  EXPECT_EQ(m.duration_ns_median, 12);
  EXPECT_EQ(m.duration_ns_min, 10);
  EXPECT_EQ(m.duration_ns_interval.low, 10);
  EXPECT_EQ(m.duration_ns_interval.high, 14);
  EXPECT_DOUBLE_EQ(m.relative_iqr, 2.0 / 12);
  EXPECT_DOUBLE_EQ(disturbed_share(m.samples).value(), 4.0 / 7);
}

TEST(Summary, rests_on_all_samples_where_none_is_clean_or_none_has_a_label) {
  using enum SampleLabel;
  EXPECT_EQ(with_samples({{disturbed, 10}, {disturbed, 30}, {disturbed, 20}}).duration_ns_median,
            20);
  const Measurement old = with_samples({{unlabelled, 10}, {unlabelled, 30}, {unlabelled, 20}});
  EXPECT_EQ(old.duration_ns_median, 20);
  EXPECT_FALSE(disturbed_share(old.samples));
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
