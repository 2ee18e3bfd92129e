#include "core/measured/occasion.hpp"

#include <gtest/gtest.h>

#include "core/device.hpp"

namespace halmark {
namespace {

using Rates = std::vector<double>;

TEST(Occasion, probes_within_ten_minutes_are_one) {
  std::vector<Occasion> occasions;
  observe(occasions, "2026-11-22T10:00:00Z", Rates{3, 1, 2, 5});
  observe(occasions, "2026-11-22T10:09:59Z", Rates{4, 4});
  ASSERT_EQ(occasions.size(), 1U);
  EXPECT_EQ(occasions[0].utc, "2026-11-22T10:00:00Z");
  EXPECT_EQ(occasions[0].probes, 6);
  EXPECT_EQ(occasions[0].highest, (Rates{5, 4, 4}));
  EXPECT_DOUBLE_EQ(occasions[0].median, (2.5 * 4 + 4 * 2) / 6);
  observe(occasions, "2026-11-22T10:10:00Z", Rates{9});
  EXPECT_EQ(occasions.size(), 2U);
}

TEST(Occasion, best_is_the_highest_until_a_second_occasion_and_then_the_third_highest_of_all) {
  std::vector<Occasion> occasions;
  EXPECT_EQ(best_rate(occasions).per_s, 0);
  observe(occasions, "2026-11-22T10:00:00Z", Rates{50, 80, 49, 48});
  EXPECT_EQ(best_rate(occasions).per_s, 80);
  EXPECT_TRUE(best_rate(occasions).is_provisional);
  observe(occasions, "2026-11-22T11:00:00Z", Rates{20, 52});
  EXPECT_EQ(best_rate(occasions).per_s, 50);
  EXPECT_FALSE(best_rate(occasions).is_provisional);
  EXPECT_EQ(best_rate(occasions).probes, 6);
}

// Whatever was stored before and whatever a busy machine reaches, the figure does not fall; that of
// a busy machine alone says so.
TEST(Occasion, a_busy_one_can_raise_a_figure_and_lowers_none) {
  const std::vector<Rates> stored = {{80}, {80, 50, 49}, {80, 79, 78, 77}};
  for (const Rates& first : stored) {
    for (const bool has_second : {false, true}) {
      for (const double busy_rate : {20.0, 60.0, 79.5, 90.0}) {
        std::vector<Occasion> occasions;
        observe(occasions, "2026-11-22T10:00:00Z", first);
        if (has_second) observe(occasions, "2026-11-22T11:00:00Z", first);
        const BestRate before = best_rate(occasions);
        // Within the ten minutes of the last one, too.
        for (const char* utc : {"2026-11-22T11:05:00Z", "2026-11-22T12:00:00Z"}) {
          observe(occasions, utc, Rates{busy_rate, busy_rate, busy_rate}, true);
          const BestRate after = best_rate(occasions);
          EXPECT_GE(after.per_s, before.per_s) << busy_rate;
          EXPECT_GE(after.per_s, std::min(busy_rate, first.front())) << busy_rate;
          EXPECT_EQ(after.is_provisional, before.is_provisional) << "it agrees with nothing";
          EXPECT_FALSE(after.is_busy);
        }
      }
    }
  }
  std::vector<Occasion> alone;
  EXPECT_FALSE(best_rate(alone).is_busy);
  observe(alone, "2026-11-22T10:00:00Z", Rates{20, 19, 18}, true);
  observe(alone, "2026-11-22T12:00:00Z", Rates{20, 19, 18}, true);
  EXPECT_TRUE(best_rate(alone).is_busy);
  EXPECT_TRUE(best_rate(alone).is_provisional);
}

TEST(Occasion, two_probes_are_too_few_however_far_apart) {
  std::vector<Occasion> occasions;
  observe(occasions, "2026-11-22T10:00:00Z", Rates{10});
  observe(occasions, "2026-11-22T11:00:00Z", Rates{20});
  EXPECT_TRUE(best_rate(occasions).is_provisional);
  EXPECT_EQ(best_rate(occasions).per_s, 20);
}

TEST(Occasion, what_is_no_rate_does_not_count) {
  std::vector<Occasion> occasions;
  observe(occasions, "2026-11-22T10:00:00Z", Rates{0, -1});
  EXPECT_TRUE(occasions.empty());
}

TEST(Occasion, beyond_the_limit_the_oldest_that_decides_nothing_goes) {
  std::vector<Occasion> occasions;
  const auto at = [](std::size_t hour) {
    const std::string text = std::to_string(hour % 24);
    return "2026-11-" + std::string(hour < 24 ? "21" : "22") + "T" + (text.size() == 1 ? "0" : "") +
           text + ":00:00Z";
  };
  observe(occasions, at(0), Rates{100, 90, 80});
  for (std::size_t i = 1; i <= occasions_max; ++i)
    observe(occasions, at(i), Rates{1.0 + double(i)});
  ASSERT_EQ(occasions.size(), occasions_max);
  EXPECT_EQ(occasions.front().highest.front(), 100);
  EXPECT_EQ(occasions[1].utc, at(2));
  EXPECT_EQ(best_rate(occasions).per_s, 80);
}

TEST(Occasion, times_are_read_exactly_or_not_at_all) {
  EXPECT_EQ(utc_seconds("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(utc_seconds("2026-11-22T15:04:05Z"), 1795359845);
  for (const char* text : {"", "2026-11-22", "2026-13-22T15:04:05Z", "2026-11-22T15:04:05",
                           "2026-11-22 15:04:05Z", "x026-11-22T15:04:05Z"}) {
    EXPECT_FALSE(utc_seconds(text)) << text;
  }
}

Bandwidth seen_memory(const std::string& utc, Rates rates, const std::string& access = "read") {
  Bandwidth out{.level = "memory", .threads = 2, .access = access, .source = "measured " + utc};
  observe(out.occasions, utc, rates);
  return out;
}

TEST(DeviceOccasions, add_up_per_ceiling) {
  Device device;
  observe(device, seen_memory("2026-11-22T10:00:00Z", {49, 48, 47}));
  observe(device, seen_memory("2026-11-22T11:00:00Z", {80, 79, 78}));
  observe(device, seen_memory("2026-11-22T11:00:00Z", {30}, "copy"));
  ASSERT_EQ(device.bandwidths.size(), 2U);
  EXPECT_EQ(device.bandwidths[0].bytes_per_s, 78);
  EXPECT_FALSE(device.bandwidths[0].is_provisional);
  EXPECT_EQ(device.bandwidths[1].bytes_per_s, 30);
  EXPECT_TRUE(device.bandwidths[1].is_provisional);
}

TEST(DeviceOccasions, a_figure_from_before_occasions_were_kept_is_one_probe) {
  Device device;
  device.bandwidths.push_back({.level = "memory",
                               .threads = 2,
                               .bytes_per_s = 90,
                               .access = "read",
                               .source = "measured 2026-11-22T09:00:00Z, read"});
  observe(device, seen_memory("2026-11-22T10:00:00Z", {49, 48, 47}));
  ASSERT_EQ(device.bandwidths.size(), 1U);
  ASSERT_EQ(device.bandwidths[0].occasions.size(), 2U);
  EXPECT_EQ(device.bandwidths[0].occasions[0].utc, "2026-11-22T09:00:00Z");
  EXPECT_EQ(device.bandwidths[0].bytes_per_s, 48);
}

TEST(DeviceOccasions, peaks_of_other_threads_or_paths_are_other_ceilings) {
  Device device;
  Peak one{.path = "f32_vector", .isa = "avx2", .threads = 1, .flops_per_s = 5};
  Peak two = one;
  two.threads = 2;
  observe(device, one);
  observe(device, two);
  one.flops_per_s = 7;
  observe(device, one);
  ASSERT_EQ(device.peaks.size(), 2U);
  EXPECT_EQ(device.peaks[0].flops_per_s, 7);
  EXPECT_EQ(device.peaks[1].flops_per_s, 5);
}

TEST(Occasion, one_before_the_other_or_without_a_time_is_another) {
  std::vector<Occasion> occasions;
  observe(occasions, "2026-11-22T10:00:00Z", Rates{3});
  observe(occasions, "2026-11-22T09:59:59Z", Rates{4});
  EXPECT_EQ(occasions.size(), 2U);
  observe(occasions, "", Rates{5});
  observe(occasions, "", Rates{6});
  ASSERT_EQ(occasions.size(), 3U);
  EXPECT_EQ(occasions[2].probes, 2);
}

TEST(Occasion, one_without_a_probe_or_a_rate_says_nothing) {
  std::vector<Occasion> occasions;
  observe(occasions, Occasion{"2026-11-22T10:00:00Z", 0, 1, {1}});
  observe(occasions, Occasion{"2026-11-22T10:00:00Z", 1, 1, {}});
  EXPECT_TRUE(occasions.empty());
  observe(occasions, Occasion{"2026-11-22T10:00:00Z", 1, 1, {1}});
  EXPECT_EQ(occasions.size(), 1U);
}

TEST(Occasion, times_have_hours_minutes_and_seconds) {
  EXPECT_EQ(utc_seconds("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(utc_seconds("1970-01-01T01:00:00Z"), 3600);
  EXPECT_EQ(utc_seconds("1970-01-01T00:01:00Z"), 60);
  EXPECT_EQ(utc_seconds("1970-02-01T00:00:00Z"), 31 * 86400);
  EXPECT_FALSE(utc_seconds("1970-02-30T00:00:00Z"));
  EXPECT_FALSE(utc_seconds("1970-02-01T00:00:00:"));
}

// 1.62 TFLOP/s of one thread, 0.75 of two at once, beside other work or not; both kinds of
// ceilings.
TEST(DeviceOccasions, several_threads_slower_than_one_are_no_ceiling) {
  const auto device_of = [](double of_two, bool is_busy) {
    Device out;
    for (const auto& [threads, rate] : {std::pair{1, 1.62e12}, std::pair{2, of_two}}) {
      Peak peak{.path = "bf16_matrix", .isa = "amx", .threads = threads};
      Bandwidth level{.level = "l1", .threads = threads, .access = "read"};
      observe(peak.occasions, "2026-11-22T10:00:00Z", Rates{rate}, is_busy);
      observe(level.occasions, "2026-11-22T10:00:00Z", Rates{rate}, is_busy);
      observe(out, peak);
      observe(out, level);
    }
    return out;
  };
  Device faster = device_of(3.2e12, true);
  EXPECT_TRUE(settle_threads(faster).empty());
  EXPECT_EQ(faster.peaks.at(1).flops_per_s, 3.2e12);
  Device disturbed = device_of(0.75e12, true);
  EXPECT_EQ(settle_threads(disturbed),
            (std::vector<std::string>{
                "bf16_matrix amx of 2 threads: slower than one thread, beside other work",
                "l1 read of 2 threads: slower than one thread, beside other work"}));
  ASSERT_EQ(disturbed.peaks.size(), 1U);
  EXPECT_EQ(disturbed.peaks[0].threads, 1);
  EXPECT_EQ(disturbed.bandwidths.size(), 1U);
  Device of_one_core = device_of(1.60e12, false);  // whose threads share a unit
  EXPECT_TRUE(settle_threads(of_one_core).empty());
  EXPECT_EQ(of_one_core.peaks.at(1).flops_per_s, 1.62e12);
  EXPECT_EQ(of_one_core.bandwidths.at(1).bytes_per_s, 1.62e12);
  Device whole = device_of(1e12, true);
  whole.peaks.at(1).threads = 0;
  whole.bandwidths.clear();
  EXPECT_TRUE(settle_threads(whole).empty()) << "a device apart has no threads";
}

TEST(DeviceOccasions, of_a_whole_device_are_taken_over_with_their_sources) {
  Device device, seen;
  observe(device, seen_memory("2026-11-22T10:00:00Z", {49}));
  seen.bandwidths = {seen_memory("2026-11-22T12:00:00Z", {60, 61})};
  seen.peaks = {{.path = "f32_vector", .threads = 1, .flops_per_s = 7, .source = "s"}};
  observe(device, seen);
  ASSERT_EQ(device.bandwidths.size(), 1U);
  EXPECT_EQ(device.bandwidths[0].source, "measured 2026-11-22T12:00:00Z");
  EXPECT_EQ(device.bandwidths[0].bytes_per_s, 49) << "the third highest of three";
  ASSERT_EQ(device.peaks.size(), 1U);
  ASSERT_EQ(device.peaks[0].occasions.size(), 1U);
  EXPECT_EQ(device.peaks[0].occasions[0].utc, "") << "its source names no time";
  EXPECT_EQ(device.peaks[0].occasions[0].median, 7);
}

}  // namespace
}  // namespace halmark
