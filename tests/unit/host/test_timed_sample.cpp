#include "host/timed_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace halmark {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

TimedSample with_device() {
  TimedSample sample;
  sample.begin_ns = 7e12 + 1;
  sample.wall_ns = 1000;
  sample.cpu_ns = 3000;
  sample.device_ns = 800;
  sample.set = 3;
  sample.label = SampleLabel::disturbed;
  return sample;
}

TEST(TimedSample, an_interval_of_ten_executions_is_a_tenth_per_execution_and_begins_when_it_began) {
  const TimedSample one = per_execution(with_device(), 10);
  EXPECT_EQ(one.wall_ns, 100);
  EXPECT_EQ(one.cpu_ns, 300);
  EXPECT_EQ(one.device_ns, 80);
  EXPECT_EQ(one.begin_ns, 7e12 + 1);
  EXPECT_EQ(one.set, 3);
  EXPECT_EQ(one.label, SampleLabel::disturbed);
}

TEST(TimedSample, survives_packing_with_and_without_device_time) {
  TimedSample hosted = with_device();
  hosted.device_ns = std::nullopt;
  hosted.label = SampleLabel::clean;
  const std::vector<TimedSample> samples{with_device(), hosted};
  const std::vector<double> block = pack_samples(samples);
  ASSERT_EQ(block.size(), 12u);
  EXPECT_EQ(block[0], 7e12 + 1);
  EXPECT_EQ(block[3], 800);
  EXPECT_EQ(block[4], 3);
  EXPECT_EQ(block[5], 2);
  EXPECT_TRUE(std::isnan(block[9]));
  const auto read = unpack_samples(block);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->front().device_ns, 800);
  EXPECT_FALSE(read->back().device_ns);
  EXPECT_EQ(read->back().cpu_ns, 3000);
  EXPECT_EQ(read->back().begin_ns, 7e12 + 1);
  EXPECT_EQ(read->front().label, SampleLabel::disturbed);
  EXPECT_EQ(read->back().label, SampleLabel::clean);
}

TEST(TimedSample, a_block_that_no_sampling_can_give_is_refused) {
  EXPECT_TRUE(unpack_samples(std::vector<double>{}));
  EXPECT_TRUE(unpack_samples(std::vector<double>{1, 0, 0, none, 0, 0}));
  EXPECT_TRUE(unpack_samples(std::vector<double>{1, 2, 3, none, 1 << 30, 2}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, none, 0})) << "cut short";
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, none, 0, 1, 1})) << "one too many";
  EXPECT_FALSE(unpack_samples(std::vector<double>{infinite, 2, 3, none, 0, 1}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, -1, 3, none, 0, 1})) << "negative time";
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, none, 3, none, 0, 1}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, none, none, 0, 1}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, infinite, 0, 1}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, none, -1, 1}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, none, none, 1}));
  EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, none, 1.5 * (1 << 30), 1}));
  for (const double label : {-1.0, 0.5, 3.0, none}) {
    EXPECT_FALSE(unpack_samples(std::vector<double>{1, 2, 3, none, 0, label})) << label;
  }
}

}  // namespace
}  // namespace halmark
