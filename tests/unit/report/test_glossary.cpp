// The glossary against what is printed: no percentage without a word, no word twice.
#include "report/glossary.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <set>

#include "report/report.hpp"
#include "report/text/wrapped_text.hpp"
#include "report/views/glossary_view.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Glossary, words_are_sorted_unique_and_say_something) {
  std::set<std::string_view> seen;
  for (const Term& term : glossary()) {
    EXPECT_TRUE(seen.insert(term.word).second) << term.word;
    EXPECT_THAT(std::string(term.meaning), testing::EndsWith(".")) << term.word;
    EXPECT_FALSE(term.commands.empty()) << term.word;
  }
  EXPECT_TRUE(std::ranges::is_sorted(glossary(), {}, &Term::word));
  EXPECT_GT(seen.size(), 20u);
}

TEST(Glossary, the_label_of_a_point_is_explained_part_by_part) {
  const View view = explained_view("x16 t8192 fp8 tp8", 80);
  ASSERT_EQ(view.data["parts"].size(), 4u);
  EXPECT_THAT(view.text, testing::AllOf(HasSubstr("16 requests at a time"),
                                        HasSubstr("at most 8192 tokens in a step"),
                                        HasSubstr("precision"), HasSubstr("over 8 devices")));
  EXPECT_THAT(explained_view("b4 int8 dp2 pp3", 80).text,
              testing::AllOf(HasSubstr("batch 4"), HasSubstr("2 copies"), HasSubstr("3 stages")));
  EXPECT_THAT(explained_view("fp8", 80).text, HasSubstr("f8_e4m3fn, 8 bits"));
  EXPECT_THAT(explained_view("int4", 80).text, HasSubstr("s4, 4 bits"));
  for (const char* none : {"x16 q9", "fp", "x", "t8192x", "tp", "checkpoint"}) {
    EXPECT_THROW(explained_view(none, 80), Error) << none;
  }
}

// A heading belongs to one word: else which meaning is shown would depend on the order.
TEST(Glossary, no_heading_stands_for_two_words) {
  std::set<std::string> headings;
  for (const Term& term : glossary()) {
    const std::string all(term.headings);
    const std::regex between("[^|]+");
    for (std::sregex_iterator it(all.begin(), all.end(), between), end; it != end; ++it) {
      EXPECT_TRUE(headings.insert(it->str()).second) << it->str();
      EXPECT_EQ(find_term(it->str()), &term) << it->str();
    }
  }
}

TEST(Glossary, words_are_found_whatever_their_case_and_by_their_headings) {
  ASSERT_NE(find_term("MFU"), nullptr);
  EXPECT_EQ(find_term("mfu"), find_term("Mfu"));
  EXPECT_EQ(find_term("of sheet"), find_term("datasheet_mfu"));
  EXPECT_EQ(find_term("nothing of ours"), nullptr);
  EXPECT_EQ(find_term(""), nullptr);
}

TEST(Glossary, an_unknown_word_names_the_nearest) {
  test::expect_error([] { known_term("mfuu"); }, "'mfu'", ExitCode::refused);
}

// Of <tag ...>text</tag>: attributes and text.
std::vector<std::pair<std::string, std::string>> elements(const std::string& html,
                                                          const std::string& tag) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::regex element("<" + tag + "([^>]*)>(.*?)</" + tag + ">");
  for (std::sregex_iterator it(html.begin(), html.end(), element), end; it != end; ++it) {
    out.emplace_back((*it)[1], (*it)[2]);
  }
  return out;
}

// Tables of a whole report: headings over a percentage have the meaning beside them.
TEST(Glossary, every_percentage_of_a_report_has_a_heading_that_is_explained) {
  const std::string page = report_html(halmark::test::synthetic_report());
  const std::regex percentage(R"(^[+-]?[0-9.]+ %$)");
  std::set<std::string> explained;
  std::size_t at = 0;
  while ((at = page.find("<table", at)) != std::string::npos) {
    const std::string table = page.substr(at, page.find("</table>", at) - at);
    at += 1;
    const auto headings = elements(table, "th");
    for (const auto& [ignored, row] : elements(table.substr(table.find("<tbody>")), "tr")) {
      const auto cells = elements(row, "td");
      for (std::size_t c = 0; c < std::min(cells.size(), headings.size()); ++c) {
        const std::string text = std::regex_replace(cells[c].second, std::regex("<[^>]*>"), "");
        if (!std::regex_match(text, percentage)) continue;
        EXPECT_THAT(headings[c].first, HasSubstr(" title=\"")) << headings[c].second;
        explained.insert(headings[c].second);
      }
    }
  }
  EXPECT_GE(explained.size(), 5u) << "the tables were not found";
  EXPECT_TRUE(explained.contains("MFU"));
}

TEST(GlossaryView, one_word_is_the_same_text_for_whoever_asks_and_fits_the_terminal) {
  const View view = term_view(known_term("mfu"), 60);
  EXPECT_THAT(view.text, StartsWith("mfu: Model FLOPs utilisation"));
  EXPECT_THAT(view.text, HasSubstr("  = FLOPs of the convention"));
  EXPECT_EQ(view.data["word"], "mfu");
  const View all = glossary_view(80);
  EXPECT_EQ(all.data["terms"].size(), glossary().size());
  for (const std::string& text : {view.text, all.text}) {
    std::size_t line = 0;
    for (const char c : text) {
      line = c == '\n' ? 0 : line + 1;
      EXPECT_LE(line, 80u);
    }
  }
}

TEST(WrappedText, breaks_between_words_and_keeps_what_is_longer_whole) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\n  three\n");
  EXPECT_EQ(wrapped("one two three", 8, 4), "one two\n    three\n");
  EXPECT_EQ(wrapped("a incomprehensible b", 5), "a\n  incomprehensible\n  b\n");
  EXPECT_EQ(wrapped("  kept  spaces", unlimited_width), "  kept  spaces\n");
  EXPECT_EQ(wrapped("", 5), "\n");
  EXPECT_EQ(wrapped_lines("one two\n\nthree\n", 4), "one\n  two\n\nthree\n");
}

}  // namespace
}  // namespace halmark::report
