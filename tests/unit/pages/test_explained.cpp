// `halmark model --explain`: operators with their numbers, words of the one glossary.
#include <gmock/gmock.h>

#include "pages/step/step_page.hpp"
#include "report/views/glossary_view.hpp"
#include "step_fixture.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::pages_test {
namespace {

using testing::HasSubstr;

TEST(Explained, a_word_reads_as_halmark_explain_prints_it) {
  EXPECT_EQ(pages::explained(qwen(), "mfu", 100).text,
            report::term_view(report::known_term("mfu"), 100).text);
}

TEST(Explained, an_operator_has_its_formula_with_numbers) {
  // 8 sequences, 2048 x 1024 weights.
  EXPECT_THAT(pages::explained(qwen(), "q_proj", 100).text,
              HasSubstr("2 x 8 x 2048 x 1024 = 33,554,432 FLOPs"));
}

TEST(Explained, what_neither_knows_names_the_nearest_of_both) {
  const auto line = [](const std::string& wanted) {
    return test::error_of([&] { pages::explained(qwen(), wanted, 100); }).line();
  };
  test::expect_each(line, {{"q_prj", "'q_proj'"}, {"mfuu", "'mfu'"}});
  EXPECT_LT(line(std::string(5000, 'x')).size(), 600u) << "long names are cut";
}

TEST(Explained, alone_it_lists_words_and_operators) {
  const std::string text = pages::explainable(qwen(), 100).text;
  EXPECT_THAT(text, HasSubstr("mfu"));
  EXPECT_THAT(text, HasSubstr("lm_head"));
}

}  // namespace
}  // namespace halmark::pages_test
