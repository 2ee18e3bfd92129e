// Numbers for people, against what printf rounds to and both sides of every unit.
// Every code point there is, against the tables of Unicode as they are published: what is shown,
// what is replaced, and how many columns it takes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "report/text/clean_text.hpp"
#include "report/text/count_text.hpp"
#include "report/text/quantity.hpp"

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

// RFC 3629, section 3, with as many bytes as asked: also longer ones than allowed.
std::string encoded(std::uint32_t code, int bytes) {
  if (bytes == 1) return {static_cast<char>(code)};
  const std::uint32_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  std::string out(1, static_cast<char>(marks[bytes] | (code >> (6 * (bytes - 1)))));
  for (int i = bytes - 2; i >= 0; --i) out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
  return out;
}
int bytes_of(std::uint32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

struct Block {
  std::uint32_t first, last;
};
template <std::size_t N>
bool is_in(const Block (&blocks)[N], std::uint32_t code) {
  for (const Block& b : blocks) {
    if (b.first <= code && code <= b.last) return true;
  }
  return false;
}

// C0, DEL and C1; marks, embeddings and overrides of direction; isolates; line and paragraph
// separators; byte order mark. Beside them the last two code points of every plane, which are no
// characters.
constexpr Block controls[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},
                              {0x200E, 0x200F}, {0x2028, 0x2029}, {0x202A, 0x202E},
                              {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
// Combining marks, zero-width signs, variation selectors.
constexpr Block narrow[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}};
// Hangul Jamo; CJK radicals to Yi; Hangul; compatibility ideographs; vertical and small forms; full
// width; pictographs; the ideographic planes.
constexpr Block wide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},  {0xAC00, 0xD7A3},
                          {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},  {0xFF00, 0xFF60},
                          {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};

TEST(Utf8, every_code_point_is_shown_or_replaced_as_the_tables_say) {
  for (std::uint32_t code = 1; code <= 0x10FFFF; ++code) {
    const std::string text = encoded(code, bytes_of(code));
    if (code >= 0xD800 && code <= 0xDFFF) {
      ASSERT_EQ(clean_text(text), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << std::hex << code;
      ASSERT_EQ(display_width(text), 3);
      continue;
    }
    const bool is_none = (code & 0xFFFF) >= 0xFFFE;
    const std::string expected = code == '\n' || code == '\t'       ? " "
                                 : is_in(controls, code) || is_none ? "?"
                                                                    : text;
    ASSERT_EQ(clean_text(text), expected) << std::hex << code;
    const int columns = is_in(narrow, code) ? 0 : is_in(wide, code) ? 2 : 1;
    ASSERT_EQ(display_width(text), columns) << std::hex << code;
  }
}

TEST(Utf8, sequences_that_are_none_are_replaced_byte_by_byte) {
  const std::string mark = "\xEF\xBF\xBD";
  const auto marks = [&](std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += mark;
    return out;
  };
  // Longer than needed: the last code point of the shorter form; the first of the longer is fine.
  for (const auto& [code, bytes] :
       {std::pair(0x7Fu, 2), std::pair(0x7FFu, 3), std::pair(0xFFFFu, 4), std::pair(0x2Fu, 2),
        std::pair(0x2Fu, 3), std::pair(0x2Fu, 4)}) {
    EXPECT_EQ(clean_text(encoded(code, bytes)), marks(static_cast<std::size_t>(bytes))) << code;
  }
  EXPECT_EQ(clean_text(encoded(0x110000, 4)), marks(4)) << "beyond the last plane";
  for (const char* lone : {"\x80", "\xBF", "\xC0", "\xC1", "\xF5", "\xFE", "\xFF"}) {
    EXPECT_EQ(clean_text(lone), mark);
    EXPECT_EQ(display_width(lone), 1);
  }
  // Cut short at the end, and before another character.
  for (const std::uint32_t code : {0xE9u, 0x20ACu, 0x1F600u}) {
    const std::string whole = encoded(code, bytes_of(code));
    for (std::size_t n = 1; n < whole.size(); ++n) {
      EXPECT_EQ(clean_text(whole.substr(0, n)), marks(n));
      EXPECT_EQ(clean_text(whole.substr(0, n) + "a"), marks(n) + "a");
      EXPECT_EQ(clean_text(whole.substr(0, n) + whole), marks(n) + whole);
    }
  }
}

TEST(Shortened, is_as_wide_as_allowed_and_ends_with_a_mark) {
  const std::string han = encoded(0x6F22, 3), accent = encoded(0x301, 2);
  for (int width = 0; width <= 12; ++width) {
    for (const std::string& text :
         {std::string("abcdefghij"), han + han + han + han + han, "a" + han + "b" + han + "c" + han,
          "e" + accent + "e" + accent + "abcdefgh",
          std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")}) {
      const std::string out = shortened(text, width);
      EXPECT_LE(display_width(out), width);
      if (display_width(text) <= width) {
        EXPECT_EQ(out, text);
      } else if (width > 0) {
        EXPECT_TRUE(out.ends_with('~')) << out;
        EXPECT_TRUE(text.starts_with(out.substr(0, out.size() - 1)));
        EXPECT_GE(display_width(out), width - 1) << "one column less before a wide character";
      } else {
        EXPECT_EQ(out, "");
      }
    }
  }
  EXPECT_EQ(shortened("e" + accent + "fgh", 3), "e" + accent + "f~");
}

TEST(html_text, leaves_no_character_with_a_meaning) {
  EXPECT_EQ(html_text("<a href=\"x\">'&"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
}

TEST(csv_text, quotes_and_guards) {
  EXPECT_EQ(csv_text("plain"), "plain");
  EXPECT_EQ(csv_text("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_text("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text(" @x"), "' @x");
  EXPECT_EQ(csv_text("\tx"), "' x");
}

TEST(markdown_text, escapes_every_character_with_a_meaning_and_no_other) {
  EXPECT_EQ(markdown_text("|`*_[]\\#!"), "\\|\\`\\*\\_\\[\\]\\\\\\#\\!");
  EXPECT_EQ(markdown_text("<a> & (b) - c."), "&lt;a&gt; &amp; (b) - c.");
}

TEST(CsvText, formulas_are_guarded_wherever_a_program_would_see_one) {
  for (const char* text : {"=1", "+1", "-1", "@x", "  =1", "\t1", "\r1", "\n-1", " \t@"}) {
    EXPECT_EQ(csv_text(text).front(), '\'') << text;
  }
  for (const char* text : {"1=", "a+1", "", " ", "a", "1-2", "x@y"}) {
    EXPECT_EQ(csv_text(text), clean_text(text)) << text;
  }
  EXPECT_EQ(csv_text("=a,b"), "\"'=a,b\"");
}

}  // namespace
}  // namespace halmark::report
