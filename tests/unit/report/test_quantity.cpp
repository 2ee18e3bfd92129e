// Numbers for people, against what printf rounds to and both sides of every unit.
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace halmark::report {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

// Of "%#.3g" the digits, written without an exponent.
std::string by_printf(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  const int exponent = std::atoi(std::string(text).substr(std::string(text).find('e') + 1).c_str());
  std::snprintf(text, sizeof text, "%.*f", std::max(0, digits - 1 - exponent), value);
  return text;
}

TEST(SignificantText, has_three_digits_as_printf_rounds_them) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(-5.9, 12);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::pow(10, exponent(random)) * (random() % 2 == 0 ? 1 : -1);
    for (const int digits : {1, 2, 3, 5}) {
      ASSERT_EQ(significant_text(value, digits), by_printf(value, digits)) << value;
    }
  }
  EXPECT_EQ(significant_text(0), "0");
  EXPECT_EQ(significant_text(999.4), "999");
  EXPECT_EQ(significant_text(99.96), "100");
  EXPECT_EQ(significant_text(0.09996), "0.100");
  EXPECT_EQ(significant_text(1e-6), "0.00000100");
  EXPECT_EQ(significant_text(0.95e-6), exact_text(0.95e-6));
  EXPECT_EQ(significant_text(-0.5e-6), exact_text(-0.5e-6));
}

TEST(FixedText, never_says_minus_zero_and_keeps_what_is_huge_readable) {
  EXPECT_EQ(fixed_text(-0.001, 2), "0.00");
  EXPECT_EQ(fixed_text(-0.006, 2), "-0.01");
  EXPECT_EQ(fixed_text(12.345, 1), "12.3");
  EXPECT_EQ(fixed_text(0.95e18, 0), "950000000000000000");
  EXPECT_EQ(fixed_text(1e18, 0), exact_text(1e18));
  EXPECT_EQ(fixed_text(-1.5e18, 2), exact_text(-1.5e18));
}

TEST(Quantity, what_is_not_finite_is_absent) {
  for (const double value : {nan, infinite, -infinite}) {
    for (const std::string& text :
         {fixed_text(value, 1), significant_text(value), exact_text(value), duration_text(value),
          duration_range_text(value, 1), duration_range_text(1, value), flops_text(value),
          bytes_text(value), percent_text(value), rounded_percent_text(value),
          signed_percent_text(value), duration_tick_text(value), compact_text(value)}) {
      EXPECT_EQ(text, absent_text);
    }
  }
}

// The unit changes where three digits would round up to a whole one of it.
struct Change {
  std::string (*text)(double);
  double size;
  const char *below, *from;
};

TEST(Quantity, units_change_where_three_digits_reach_the_next) {
  const Change changes[] = {{duration_text, 1e3, "999 ns", "1.00 us"},
                            {duration_text, 1e6, "999 us", "1.00 ms"},
                            {duration_text, 1e9, "999 ms", "1.00 s"},
                            {flops_text, 1e6, "999000 FLOP/s", "1.00 MFLOP/s"},
                            {flops_text, 1e9, "999 MFLOP/s", "1.00 GFLOP/s"},
                            {flops_text, 1e12, "999 GFLOP/s", "1.00 TFLOP/s"},
                            {bandwidth_text, 1e9, "999 MB/s", "1.00 GB/s"},
                            {bytes_text, 1024, "1023 B", "1.00 KiB"},
                            {bytes_text, 0x1p20, "1023 KiB", "1.00 MiB"},
                            {bytes_text, 0x1p30, "1023 MiB", "1.00 GiB"},
                            {bytes_text, 0x1p40, "1023 GiB", "1.00 TiB"},
                            {duration_tick_text, 1e3, "999 ns", "1 us"},
                            {duration_tick_text, 1e9, "999 ms", "1 s"},
                            {compact_text, 1e3, "999", "1k"},
                            {compact_text, 1e6, "999k", "1M"},
                            {compact_text, 1e9, "999M", "1G"},
                            {compact_text, 1e12, "999G", "1T"}};
  for (const Change& c : changes) {
    EXPECT_EQ(c.text(c.size * 0.9990), c.below) << c.from;
    EXPECT_EQ(c.text(c.size * 0.9996), c.from);
    EXPECT_EQ(c.text(c.size), c.from);
    EXPECT_EQ(c.text(-c.size), '-' + std::string(c.from));
  }
  EXPECT_EQ(duration_text(0.25), "0.250 ns");
  EXPECT_EQ(duration_text(3.6e12), "3600 s");
}

TEST(Quantity, a_range_has_the_unit_of_its_high_end) {
  EXPECT_EQ(duration_range_text(900, 1100), "900 ns..1.10 us");
  EXPECT_EQ(duration_range_text(800, 900), "800..900 ns");
}

TEST(Quantity, small_percentages_have_two_decimals) {
  EXPECT_EQ(percent_text(0.0999), "9.99 %");
  EXPECT_EQ(percent_text(0.09994), "9.99 %");
  EXPECT_EQ(percent_text(0.09996), "10.0 %");
  EXPECT_EQ(percent_text(0.15), "15.0 %");
  EXPECT_EQ(percent_text(-0.05), "-5.00 %");
  EXPECT_EQ(percent_text(-0.15), "-15.0 %");
  EXPECT_EQ(rounded_percent_text(0.0999), "10.0 %");
  EXPECT_EQ(signed_percent_text(0.0), "+0.0 %");
  EXPECT_EQ(signed_percent_text(-0.031), "-3.1 %");
  EXPECT_EQ(signed_percent_text(0.0004), "+0.0 %");
  EXPECT_EQ(signed_percent_text(-0.0001), "0.0 %");
  EXPECT_EQ(percent_text(std::nullopt), "-");
}

TEST(Quantity, ticks_are_round) {
  EXPECT_EQ(compact_text(0.5), "0.5");
  EXPECT_EQ(compact_text(0.25), "0.25");
  EXPECT_EQ(compact_text(200), "200");
  EXPECT_EQ(compact_text(20000), "20k");
  EXPECT_EQ(compact_text(2.5e9), "2.5G");
  EXPECT_EQ(compact_text(0), "0");
  EXPECT_EQ(duration_tick_text(2.5e6), "2.5 ms");
  EXPECT_EQ(duration_tick_text(2e7), "20 ms");
}

// Four digits, one less below 1000; both sides of every step.
TEST(Quantity, large_counts_are_read_without_counting_zeros) {
  for (const auto& [value, text] :
       {std::pair(51.04, "51.0"), std::pair(999.4, "999"), std::pair(999.6, "1,000"),
        std::pair(1433.2, "1,433"), std::pair(23207.0, "23,210"), std::pair(2967900.0, "2,968,000"),
        std::pair(-23207.0, "-23,210"), std::pair(nan, "-")}) {
    EXPECT_EQ(four_digits_text(value), text);
  }
  EXPECT_EQ(grouped_text(40960), "40,960");
  EXPECT_EQ(grouped_text(999), "999");
  EXPECT_EQ(grouped_text(-999), "-999");
  EXPECT_EQ(grouped_text(-1234567), "-1,234,567");
  EXPECT_EQ(short_count_text(8'030'261'248), "8.03 B");
  EXPECT_EQ(short_count_text(596'049'920), "596 M");
  EXPECT_EQ(short_count_text(1'026'000'000'000), "1.03 T");
  EXPECT_EQ(short_count_text(124'000), "124000");
  EXPECT_EQ(flop_text(15.546e9), "15.5 GFLOP");
  EXPECT_EQ(flop_text(999.4e12), "999 TFLOP");
  EXPECT_EQ(flop_text(1.5610e17), "156 PFLOP");
  EXPECT_EQ(flop_text(2e18), "2.00 EFLOP");
}

}  // namespace
}  // namespace halmark::report
