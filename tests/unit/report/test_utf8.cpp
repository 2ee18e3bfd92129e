// Every code point there is, against the tables of Unicode as they are published: what is shown,
// what is replaced, and how many columns it takes.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "report/text/clean_text.hpp"

namespace halmark::report {
namespace {

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
