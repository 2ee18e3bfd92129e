#include "host/timed_sample.hpp"

#include <gtest/gtest.h>

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
  EXPECT_THAT(block, testing::ElementsAre(7e12 + 1, 1000, 3000, 800, 3, 2, 7e12 + 1, 1000, 3000,
                                          testing::IsNan(), 3, 1));
  const auto read = unpack_samples(block);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->front().device_ns, 800);
  EXPECT_FALSE(read->back().device_ns);
  EXPECT_THAT(pack_samples(*read), testing::Pointwise(testing::NanSensitiveDoubleEq(), block));
}

TEST(TimedSample, a_block_that_no_sampling_can_give_is_refused) {
  using Block = std::vector<double>;
  for (const Block& good : {Block{}, {1, 0, 0, none, 0, 0}, {1, 2, 3, none, 1 << 30, 2}}) {
    EXPECT_TRUE(unpack_samples(good));
  }
  for (const Block& bad : {Block{1, 2, 3, none, 0},   // cut short
                           {1, 2, 3, none, 0, 1, 1},  // one too many
                           {infinite, 2, 3, none, 0, 1},
                           {1, -1, 3, none, 0, 1},  // negative time
                           {1, none, 3, none, 0, 1},
                           {1, 2, none, none, 0, 1},
                           {1, 2, 3, infinite, 0, 1},
                           {1, 2, 3, none, -1, 1},
                           {1, 2, 3, none, none, 1},
                           {1, 2, 3, none, 1.5 * (1 << 30), 1},
                           {1, 2, 3, none, 0, -1},
                           {1, 2, 3, none, 0, 0.5},
                           {1, 2, 3, none, 0, 3},
                           {1, 2, 3, none, 0, none}}) {
    EXPECT_FALSE(unpack_samples(bad)) << testing::PrintToString(bad);
  }
}

}  // namespace
}  // namespace halmark
