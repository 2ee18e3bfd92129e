// The page of the language against the evaluator: every example is true, every function is known.
#include "expression/language.hpp"

#include <gtest/gtest.h>

#include "expression/expression.hpp"

namespace halmark {
namespace {

Truth evaluated(std::string_view text) {
  static const std::vector<std::string> names = {"tp"};
  static const std::map<std::string, ParamValue> facts = {{"name", std::string("bf16")}};
  const Operand four = Operand::of(std::int64_t{4});
  return Expression(text, names, facts, "example").evaluate(std::span(&four, 1));
}

TEST(Language, every_example_is_true) {
  std::size_t count = 0;
  for (const auto& words : {expression_values(), expression_operators(), expression_functions()}) {
    for (const LanguageWord& word : words) {
      ++count;
      EXPECT_EQ(evaluated(word.example), Truth::yes) << word.example;
      EXPECT_FALSE(word.meaning.empty()) << word.word;
    }
  }
  EXPECT_GT(count, 20u);
}

TEST(Language, the_example_of_a_function_calls_it) {
  for (const LanguageWord& word : expression_functions()) {
    EXPECT_NE(word.example.find(std::string(word.word) + '('), std::string_view::npos) << word.word;
  }
}

}  // namespace
}  // namespace halmark
