// Against the code points themselves: what reaches a terminal, and how long it may be.
#include "core/text/clean_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

// Written independently of the decoder.
std::string utf8(char32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) {
    return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  }
  return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

std::vector<char32_t> harmful() {
  std::vector<char32_t> out = {0x7F, 0x61C, 0x200E, 0x200F};
  for (char32_t c = 0x80; c <= 0x9F; ++c) out.push_back(c);
  for (char32_t c = 0x202A; c <= 0x202E; ++c) out.push_back(c);
  for (char32_t c = 0x2066; c <= 0x2069; ++c) out.push_back(c);
  return out;
}

TEST(CleanText, loses_controls_and_marks_of_direction_everywhere) {
  for (const char32_t code : harmful()) {
    const std::string text = "a" + utf8(code) + "b";
    EXPECT_EQ(clean_text(text), "a?b") << std::hex << std::uint32_t{code};
    EXPECT_EQ(printable(text), "a?b") << std::hex << std::uint32_t{code};
    EXPECT_EQ(refused(text, text, text).line(), "a?b: a?b; a?b") << std::hex << std::uint32_t{code};
  }
  EXPECT_EQ(clean_text(utf8(0xA0) + utf8(0x2065) + utf8(0x206A) + utf8(0x2010)),
            utf8(0xA0) + utf8(0x2065) + utf8(0x206A) + utf8(0x2010));
  EXPECT_EQ(clean_text("\x1b[31m\x9b\n\t"), "?[31m\xEF\xBF\xBD  ");
}

TEST(CutText, counts_characters_and_keeps_them_whole) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += utf8(0x20AC);
  EXPECT_EQ(cut_text(text), text) << "200 characters, 600 bytes";
  const std::string cut = cut_text(text + "x");
  EXPECT_EQ(cut, text.substr(0, 3 * 197) + "...");
  EXPECT_EQ(clean_text(cut), cut);
  EXPECT_EQ(printable(text + "x"), cut);
  EXPECT_EQ(cut_text("abcdef", 5), "ab...");
  EXPECT_EQ(cut_text("abcde", 5), "abcde");
  EXPECT_EQ(cut_front("abcdef", 5), "...ef");
  EXPECT_EQ(cut_front("abcde", 5), "abcde");
}

TEST(MessageText, cuts_what_it_quotes_and_keeps_its_own_words) {
  const std::string long_name(5000, 'x');
  const std::string spaced = [] {
    std::string out;
    for (int i = 0; i < 1000; ++i) out += "ab cd ";
    return out;
  }();
  EXPECT_EQ(message_text("unknown '" + long_name + "' of field"),
            "unknown '" + std::string(197, 'x') + "...' of field");
  EXPECT_EQ(message_text("unknown '" + spaced + "' of field"),
            "unknown '" + spaced.substr(0, 197) + "...' of field");
  EXPECT_EQ(message_text("unknown " + long_name + " of field"),
            "unknown " + std::string(197, 'x') + "... of field");
  EXPECT_EQ(message_text("the user's file isn't here"), "the user's file isn't here");
  const std::string exact(200, 'x');
  EXPECT_EQ(message_text("'" + exact + "'"), "'" + exact + "'");
}

TEST(MessageText, is_bounded_as_a_whole_and_keeps_its_end) {
  std::string words;
  for (int i = 0; i < 100'000; ++i) words += "word ";
  const std::string cut = message_text(words + "the remedy");
  EXPECT_EQ(cut.size(), message_characters_max);
  EXPECT_TRUE(cut.ends_with("the remedy"));
  // Opening quotes that are never closed.
  std::string quotes;
  for (int i = 0; i < 300'000; ++i) quotes += " 'a";
  EXPECT_LE(message_text(quotes).size(), message_characters_max);
}

TEST(ErrorLine, a_long_place_keeps_its_line_and_column) {
  const std::string line = refused("no", std::string(3000, 'p') + "/s.toml:3:14", "do").line();
  EXPECT_EQ(line.size(), 200 + std::string(": no; do").size());
  EXPECT_THAT(line, HasSubstr("/s.toml:3:14: no; do"));
}

TEST(TerminalJson, escapes_what_a_terminal_would_act_on_and_stays_the_same_document) {
  for (const char32_t code : harmful()) {
    const std::string text = "a" + utf8(code) + "b";
    const std::string shown = terminal_json("{\"k\":\"" + text + "\"}");
    EXPECT_THAT(shown, Not(HasSubstr(utf8(code)))) << std::hex << std::uint32_t{code};
    EXPECT_EQ(nlohmann::json::parse(shown).at("k"), text) << std::hex << std::uint32_t{code};
  }
  const std::string plain = "{\"a\": \"" + utf8(0x20AC) + "\"}\n";
  EXPECT_EQ(terminal_json(plain), plain);
}

std::string utf8_of_four(char32_t code) {
  return {static_cast<char>(0xF0 | code >> 18), static_cast<char>(0x80 | (code >> 12 & 0x3F)),
          static_cast<char>(0x80 | (code >> 6 & 0x3F)), static_cast<char>(0x80 | (code & 0x3F))};
}

// The first and the last of each length, and what lies beside them.
TEST(FirstCharacter, is_decoded_whole_or_not_at_all) {
  const auto expect = [](const std::string& text, char32_t code) {
    const Utf8Character got = first_character(text + "x");
    EXPECT_TRUE(got.is_valid) << std::hex << std::uint32_t{code};
    EXPECT_EQ(got.code, code);
    EXPECT_EQ(got.length, text.size());
  };
  for (const char32_t code : {0x00, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF}) {
    expect(utf8(code), code);
  }
  for (const char32_t code : {0x10000, 0x1F600, 0x10FFFF}) expect(utf8_of_four(code), code);
  for (const std::string& bad :
       {std::string("\x80"), std::string("\xC1\xBF"), std::string("\xC2"), std::string("\xC2x"),
        std::string("\xE0\x9F\xBF"), std::string("\xED\xA0\x80"), std::string("\xED\xBF\xBF"),
        std::string("\xE2\x82"), std::string("\xE2\x82x"), std::string("\xF0\x8F\xBF\xBF"),
        utf8_of_four(0x110000), std::string("\xF5\x80\x80\x80"), std::string("\xFF")}) {
    EXPECT_FALSE(first_character(bad).is_valid);
    EXPECT_EQ(first_character(bad).length, 1u);
  }
}

TEST(CleanText, loses_marks_of_lines_and_noncharacters_and_keeps_their_neighbours) {
  for (const char32_t code : {0x01, 0x1F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF}) {
    EXPECT_EQ(clean_text("a" + utf8(code) + "b"), "a?b") << std::hex << std::uint32_t{code};
  }
  for (const char32_t code : {0x1FFFE, 0x10FFFF}) {
    EXPECT_EQ(clean_text("a" + utf8_of_four(code) + "b"), "a?b");
  }
  for (const char32_t code :
       {0x20, 0x7E, 0xA0, 0x61B, 0x61D, 0x200D, 0x2010, 0x2027, 0x202F, 0xFEFE, 0xFFFD}) {
    EXPECT_EQ(clean_text(utf8(code)), utf8(code)) << std::hex << std::uint32_t{code};
  }
  EXPECT_EQ(clean_text(utf8_of_four(0x1F600)), utf8_of_four(0x1F600));
}

// A quote opens at the beginning and behind " ([=:,", and closes before " ;,.:)]?".
TEST(MessageText, knows_a_quote_by_what_stands_around_it) {
  const std::string inside(150, 'a'), quoted = inside + " " + inside,
                                      cut = quoted.substr(0, 197) + "...";
  for (const char before : std::string(" ([=:,")) {
    const std::string text = std::string("k") + before + "'" + quoted + "'";
    EXPECT_EQ(message_text(text), std::string("k") + before + "'" + cut + "'") << before;
  }
  for (const char behind : std::string(" ;,.:)]?")) {
    const std::string text = "'" + quoted + "'" + behind + "k";
    EXPECT_EQ(message_text(text), "'" + cut + "'" + behind + "k") << behind;
  }
  EXPECT_EQ(message_text("k'" + quoted + "'"), "k'" + quoted + "'") << "no quote: two words";
  EXPECT_EQ(message_text("'" + quoted + "'k"), "'" + quoted + "'k") << "closes nowhere";
}

TEST(MessageText, of_a_thousand_characters_is_whole_and_of_more_loses_its_middle) {
  std::string words;
  while (words.size() < 1000) words += "abcd ";
  EXPECT_EQ(message_text(words), words);
  const std::string cut = message_text(words + "0123456789");
  EXPECT_EQ(cut.size(), 1000u);
  EXPECT_EQ(cut.substr(0, 747), words.substr(0, 747));
  EXPECT_EQ(cut.substr(747, 3), "...");
  EXPECT_EQ(cut.substr(750), (words + "0123456789").substr(760));
}

TEST(TerminalJson, escapes_by_four_digits_and_leaves_what_is_beyond_them) {
  EXPECT_EQ(terminal_json(utf8(0x9B)), "\\u009b");
  EXPECT_EQ(terminal_json(utf8(0x202E)), "\\u202e");
  EXPECT_EQ(terminal_json(utf8(0xFFFF)), "\\uffff");
  EXPECT_EQ(terminal_json(utf8(0x7F)), "\\u007f");
  EXPECT_EQ(terminal_json("\n\t~"), "\n\t~");
  EXPECT_EQ(terminal_json(utf8_of_four(0x1FFFE)), utf8_of_four(0x1FFFE));
}

}  // namespace
}  // namespace halmark
