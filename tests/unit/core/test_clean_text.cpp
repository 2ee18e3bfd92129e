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

}  // namespace
}  // namespace halmark
