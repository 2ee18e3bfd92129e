#include "report/text/clean_text.hpp"

#include <gtest/gtest.h>

#include "report/text/quantity.hpp"

namespace halmark::report {
namespace {

TEST(clean_text, replaces_what_a_terminal_would_act_on) {
  EXPECT_EQ(clean_text("a\x1b[31mb\x07"), "a?[31mb?");
  EXPECT_EQ(clean_text("a\nb\tc"), "a b c");
  EXPECT_EQ(clean_text("a\xC2\x9B"
                       "b"),
            "a?b");  // C1 control sequence introducer
  EXPECT_EQ(clean_text("a\xE2\x80\xAE"
                       "b"),
            "a?b");  // right-to-left override
  EXPECT_EQ(clean_text("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
}

TEST(clean_text, invalid_bytes_become_the_replacement_character) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(clean_text("a\xFF"), "a" + bad);
  EXPECT_EQ(clean_text("\xC0\xAF"), bad + bad);            // overlong
  EXPECT_EQ(clean_text("\xED\xA0\x80"), bad + bad + bad);  // surrogate
  EXPECT_EQ(clean_text("\xE2\x82"), bad + bad);            // cut short
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

TEST(display_width, counts_terminal_columns) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("gr\xC3\xBC"), 3);
  EXPECT_EQ(display_width("\xE6\xBC\xA2"), 2);  // a wide character
  EXPECT_EQ(display_width("e\xCC\x81"), 1);     // a combining accent
  EXPECT_EQ(shortened("abcdef", 4), "abc~");
  EXPECT_EQ(shortened("abcd", 4), "abcd");
}

std::string utf8(char32_t code) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000) {
    return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  }
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)),
          byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
}

// First and last of blocks of the Unicode standard; their neighbours take one column.
TEST(display_width, begins_and_ends_where_a_block_of_unicode_does) {
  struct Block {
    char32_t first, last;
    int columns;
  };
  for (const auto& [first, last, columns] : {
           Block{0x300, 0x36F, 0},      // combining diacritical marks
           Block{0x200B, 0x200F, 0},    // zero-width characters and marks of direction
           Block{0xFE00, 0xFE0F, 0},    // variation selectors
           Block{0x1100, 0x115F, 2},    // leading consonants of Hangul
           Block{0x2E80, 0xA4CF, 2},    // radicals, CJK, Yi
           Block{0xAC00, 0xD7A3, 2},    // syllables of Hangul
           Block{0xF900, 0xFAFF, 2},    // compatibility ideographs
           Block{0xFE30, 0xFE6F, 2},    // compatibility and small forms
           Block{0xFF00, 0xFF60, 2},    // fullwidth forms
           Block{0x1F300, 0x1FAFF, 2},  // pictographs
           Block{0x20000, 0x3FFFD, 2},  // supplementary ideographs
       }) {
    EXPECT_EQ(display_width(utf8(first - 1)), 1) << std::hex << static_cast<unsigned>(first);
    EXPECT_EQ(display_width(utf8(first)), columns) << std::hex << static_cast<unsigned>(first);
    EXPECT_EQ(display_width(utf8(last)), columns) << std::hex << static_cast<unsigned>(last);
    EXPECT_EQ(display_width(utf8(last + 1)), 1) << std::hex << static_cast<unsigned>(last);
  }
  EXPECT_EQ(display_width("a\xFF"
                          "b"),
            3)
      << "a byte that is no character takes a column";
}

TEST(shortened, never_takes_more_columns_than_there_are) {
  EXPECT_EQ(shortened("abc", 1), "~");
  EXPECT_EQ(shortened("abc", 0), "");
  const std::string wide = utf8(0x6F22);
  EXPECT_EQ(shortened(wide + wide + wide, 5), wide + wide + '~');
  EXPECT_EQ(shortened(wide + wide + wide, 4), wide + '~') << "half a character is none";
  EXPECT_EQ(shortened("\xFF\xFF\xFF", 2), "\xFF~");
}

TEST(markdown_text, escapes_every_character_with_a_meaning_and_no_other) {
  EXPECT_EQ(markdown_text("|`*_[]\\#!"), "\\|\\`\\*\\_\\[\\]\\\\\\#\\!");
  EXPECT_EQ(markdown_text("<a> & (b) - c."), "&lt;a&gt; &amp; (b) - c.");
}

TEST(quantity, three_digits_and_a_unit) {
  EXPECT_EQ(duration_text(999.7), "1.00 us");
  EXPECT_EQ(duration_text(12.3456e6), "12.3 ms");
  EXPECT_EQ(duration_text(0.5), "0.500 ns");
  EXPECT_EQ(flops_text(1.234e12), "1.23 TFLOP/s");
  EXPECT_EQ(bytes_text(1610612736.0), "1.50 GiB");
  EXPECT_EQ(duration_range_text(0.9e6, 1.25e6), "0.900..1.25 ms");
  EXPECT_EQ(percent_text(0.4186), "41.9 %");
  EXPECT_EQ(percent_text(std::nullopt), "-");
  EXPECT_EQ(signed_percent_text(0.031), "+3.1 %");
  EXPECT_EQ(signed_percent_text(-0.0001), "0.0 %");
  EXPECT_EQ(compact_text(20000), "20k");
  EXPECT_EQ(compact_text(2.5e9), "2.5G");
  EXPECT_EQ(significant_text(9.996), "10.0");
  EXPECT_EQ(significant_text(1234.4), "1234");
}

}  // namespace
}  // namespace halmark::report
