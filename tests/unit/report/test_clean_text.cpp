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
