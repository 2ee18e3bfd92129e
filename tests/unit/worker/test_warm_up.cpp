// Warm-up as arithmetic: when medians agree, and how many executions make a sample.
#include "worker/warm_up.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace halmark::worker {
namespace {

// Moves by the length of each interval.
class Script : public ClockSource {
 public:
  explicit Script(std::vector<double> intervals_ns) : intervals_(std::move(intervals_ns)) {}
  double wall_ns() override { return now_; }
  double cpu_ns() override { return now_; }
  double steady(double cap_s) {
    return run_until_steady(
        [&] {
          const double ns = intervals_.at(taken++);
          now_ += ns;
          return ns;
        },
        cap_s, *this);
  }
  std::size_t taken = 0;

 private:
  std::vector<double> intervals_;
  double now_ = 7e9;
};

// Medians of three: 1000, then 981 (within 2 % of the larger) or 979 (not), then that again.
TEST(WarmUp, ends_when_two_medians_agree_within_two_percent) {
  for (const auto& [second, batches] :
       {std::pair(981.0, 2u), std::pair(979.0, 3u), std::pair(1020.0, 2u), std::pair(1021.0, 3u)}) {
    Script run({5000, 1000, 900, second, 9, 9e5, 10, second, 1e6});
    EXPECT_EQ(run.steady(1), second);
    EXPECT_EQ(run.taken, 3 * batches) << second;
  }
}

// From 10 ms on one interval says as much as three.
TEST(WarmUp, one_long_interval_is_a_batch) {
  Script longer({10e6, 10.1e6});
  EXPECT_EQ(longer.steady(10), 10.1e6);
  EXPECT_EQ(longer.taken, 2u);
  Script shorter({9.9e6, 9.8e6, 9.7e6, 9.9e6, 9.8e6, 9.7e6});
  EXPECT_EQ(shorter.steady(10), 9.8e6);
  EXPECT_EQ(shorter.taken, 6u);
}

TEST(WarmUp, ends_at_the_cap_when_nothing_agrees) {
  Script run({20e6, 30e6, 40e6, 50e6, 60e6});
  EXPECT_EQ(run.steady(0.09), 40e6) << "0.09 s are reached with the third";
  EXPECT_EQ(run.taken, 3u);
  Script none({20e6, 30e6});
  EXPECT_EQ(none.steady(0), 20e6);
  EXPECT_EQ(none.taken, 1u);
}

// Below one round as many as are needed, a time of nothing counting as 1 ns; beyond, whole rounds:
// up where there is room, else down. No more than can be queued.
TEST(RepeatFor, fills_a_sample_with_whole_executions_and_meets_every_set_equally_often) {
  const struct {
    double execution_ns, sample_ns;
    int sets;
    std::int64_t most, repeat;
  } cases[] = {{1000, 999, 1, 100, 1}, {1000, 1000, 1, 100, 1}, {1000, 1001, 1, 100, 2},
               {300, 1000, 1, 100, 4}, {250, 1000, 1, 100, 4},  {1, 1000, 1, 100, 100},
               {0, 50, 1, 100, 50},    {100, 300, 8, 100, 3},   {100, 800, 8, 100, 8},
               {100, 900, 8, 100, 16}, {100, 1600, 8, 100, 16}, {100, 1700, 8, 24, 24},
               {100, 1700, 8, 23, 16}, {1, 1e6, 7, 100, 98}};
  for (const auto& [execution_ns, sample_ns, sets, most, repeat] : cases) {
    EXPECT_EQ(repeat_for(execution_ns, sample_ns, sets, most), repeat) << sample_ns << ' ' << most;
  }
}

}  // namespace
}  // namespace halmark::worker
