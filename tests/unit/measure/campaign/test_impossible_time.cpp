// What no time can be, and what a row's own signals say against it, each without the others.
#include "measure/campaign/gate/impossible_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace halmark {
namespace {

const protocol::DeviceDescription synchronous{.synchronous = true};

Measurement row(double median_ns, std::vector<Signal> signals = {}, std::int64_t repeat = 1) {
  Measurement out;
  out.duration_ns_median = median_ns;
  out.signals = std::move(signals);
  out.repeat = repeat;
  return out;
}
std::string why(const Measurement& of, const protocol::DeviceDescription& device = synchronous,
                int threads = 1) {
  return impossible_time(of, device, threads).value_or("");
}

// Slopes that agree with one another and with the median: the floor alone is left.
TEST(ImpossibleTime, is_below_a_nanosecond_whatever_the_device_says_of_its_slope) {
  const auto with_slopes = [](double ns) {
    return row(ns, {{"slope_wall_ns", ns, {}}, {"slope_device_ns", ns, {}}});
  };
  const protocol::DeviceDescription device{.timer = protocol::Timer::device_event};
  EXPECT_EQ(why(with_slopes(0.18), device),
            "0.18 ns per execution is below the 1 ns that starting one takes");
  EXPECT_NE(why(with_slopes(std::nextafter(1.0, 0.0)), device), "");
  EXPECT_EQ(why(with_slopes(1), device), "");
  EXPECT_EQ(why(with_slopes(0), device), "the median is not above 0 ns");
  EXPECT_EQ(why(with_slopes(-3), device), "the median is not above 0 ns");
}

TEST(ImpossibleTime, is_below_what_one_execution_more_takes_the_device) {
  EXPECT_EQ(why(row(96, {{"slope_device_ns", 100, {}}})), "");
  EXPECT_NE(why(row(94, {{"slope_device_ns", 100, {}}})), "");
  EXPECT_EQ(why(row(94, {{"slope_device_ns", std::nullopt, "none"}})), "");
}

TEST(ImpossibleTime, is_of_repeats_that_cost_next_to_nothing) {
  const auto share = [](const char* name, double value, std::int64_t repeat) {
    return row(100, {{name, value, {}}}, repeat);
  };
  EXPECT_NE(why(share("repeat_cost_share", 0.24, 10)), "");
  EXPECT_EQ(why(share("repeat_cost_share", 0.26, 10)), "");
  EXPECT_EQ(why(share("repeat_cost_share", 0.01, 1)), "");
  EXPECT_NE(why(share("second_execution_share", 0.1, 10)), "");
  EXPECT_EQ(why(share("second_execution_share", 0.9, 10)), "");
  const protocol::DeviceDescription asynchronous{.synchronous = false};
  EXPECT_EQ(why(share("repeat_cost_share", 0.1, 10), asynchronous), "");
  EXPECT_NE(why(share("repeat_cost_share", 0.04, 10), asynchronous), "");
  EXPECT_EQ(why(share("second_execution_share", 0.1, 10), asynchronous), "");
}

// 50 ms or a twentieth are the way to the worker and a machine that is busy.
TEST(ImpossibleTime, is_of_a_clock_that_counts_less_than_the_hosts) {
  const auto request = [](double own_ns, double host_ns) {
    return row(100, {{"request_ns", own_ns, {}}, {"request_host_ns", host_ns, {}}});
  };
  EXPECT_EQ(why(request(400e6, 440e6)), "");
  EXPECT_EQ(why(request(3000e6, 3100e6)), "");
  EXPECT_NE(why(request(3000e6, 3200e6)), "");
  EXPECT_EQ(why(request(400e6, 1600e6)),
            "its worker's clock counts 4e+08 ns where the host's counts 1.6e+09 ns: the clock was "
            "tampered with");
  EXPECT_EQ(why(row(100, {{"request_ns", 1e6, {}}})), "");
}

// Beside busy neighbours, way and waking take longer than that; who makes it wait is not believed.
TEST(ImpossibleTime, is_not_shown_by_clocks_while_both_waited_for_a_cpu) {
  const auto request = [](std::optional<double> wait_ns) {
    return row(100, {{"request_ns", 193.2e6, {}},
                     {"request_host_ns", 251e6, {}},
                     {"request_wait_ns", wait_ns, "not counted here"}});
  };
  for (const std::optional<double> wait_ns : {std::optional<double>(), std::optional(7.7e6)}) {
    EXPECT_THAT(why(request(wait_ns)), testing::HasSubstr("tampered"));
    EXPECT_EQ(uncertain_time(request(wait_ns)), std::nullopt);
  }
  EXPECT_EQ(why(request(7.9e6)), "");
  EXPECT_EQ(uncertain_time(request(7.9e6)),
            "its worker's clock counts 1.932e+08 ns where the host's counts 2.51e+08 ns, and "
            "7.9e+06 ns went by waiting for a CPU: too long to tell that from a clock that was "
            "tampered with");
  EXPECT_EQ(uncertain_time(row(100, {{"request_ns", 210e6, {}},
                                     {"request_host_ns", 251e6, {}},
                                     {"request_wait_ns", 99e6, {}}})),
            std::nullopt);
}

TEST(ImpossibleTime, is_of_answers_that_are_remembered) {
  EXPECT_EQ(why(row(100, {{"new_inputs_cost", 1.4, {}}})), "");
  EXPECT_NE(why(row(100, {{"new_inputs_cost", 1.6, {}}})), "");
}

TEST(ImpossibleTime, is_of_more_cpus_than_were_given) {
  EXPECT_EQ(why(row(100, {{"cpus_used", 1.1, {}}})), "");
  EXPECT_EQ(why(row(100, {{"cpus_used", 1.9, {}}}), synchronous, 2), "");
  EXPECT_EQ(why(row(100, {{"cpus_used", 1.9, {}}}), synchronous, 0), "");
  EXPECT_EQ(why(row(100, {{"cpus_used", 1.9, {}}})),
            "threads of the plugin use 1.9 CPUs, and 1 were given to it");
}

TEST(ImpossibleTime, is_of_work_that_is_left_until_a_read) {
  const auto read = [](double excess, double spread) {
    return row(100, {{"read_excess_ns", excess, {}}, {"read_spread_ns", spread, {}}});
  };
  EXPECT_EQ(why(read(9, 1)), "");
  EXPECT_NE(why(read(11, 1)), "");
  EXPECT_EQ(why(read(11, 4)), "");
}

}  // namespace
}  // namespace halmark
