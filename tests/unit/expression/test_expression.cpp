#include <gtest/gtest.h>

#include "expression/expression.hpp"
#include "expression/language.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

const std::vector<std::string> names{"a", "b", "c"};
const std::map<std::string, ParamValue> facts{{"K", std::int64_t{96}}, {"mode", "fast"}};

Truth with(const std::string& text, const std::vector<Operand>& operands) {
  return Expression(text, names, facts, "t").evaluate(operands);
}

Truth value(const std::string& text) {
  return with(text, {Operand::of(std::int64_t{7}), Operand::of(2.5), Operand::of("bf16")});
}

TEST(Expression, precedence_and_chains_are_those_of_arithmetic) {
  EXPECT_EQ(value("1 + 2 * 3 == 7"), Truth::yes);
  EXPECT_EQ(value("(1 + 2) * 3 == 9"), Truth::yes);
  EXPECT_EQ(value("-2 * -3 == 6 and not 1 > 2"), Truth::yes);
  EXPECT_EQ(value("1 < 2 < 3"), Truth::yes);
  EXPECT_EQ(value("1 < 3 < 2"), Truth::no);
  EXPECT_EQ(value("32 <= a * 8 <= 64"), Truth::yes);
  EXPECT_EQ(value("false or true and false"), Truth::no);
}

TEST(Expression, division_is_that_of_python) {
  EXPECT_EQ(value("-7 // 2 == -4 and -7 % 2 == 1"), Truth::yes);
  EXPECT_EQ(value("7 // -2 == -4 and 7 % -2 == -1"), Truth::yes);
  EXPECT_EQ(value("a / 2 == 3.5"), Truth::yes);
  EXPECT_EQ(value("ceil_div(7, 2) == 4 and ceil_div(-7, 2) == -3"), Truth::yes);
}

TEST(Expression, functions_sets_strings_and_facts) {
  EXPECT_EQ(value("divides(8, K) and not divides(7, K)"), Truth::yes);
  EXPECT_EQ(value("is_pow2(64) and not is_pow2(96) and not is_pow2(0)"), Truth::yes);
  EXPECT_EQ(value("log2(1024) == 10 and min(3, a, 5) == 3 and max(2, b) == 2.5"), Truth::yes);
  EXPECT_EQ(value("a in {1, 7, 9}"), Truth::yes);
  EXPECT_EQ(value("c in {'fp8', \"bf16\"}"), Truth::yes);
  EXPECT_EQ(value("c == 'fp8'"), Truth::no);
  EXPECT_EQ(value("mode == 'fast'"), Truth::yes);
  EXPECT_EQ(value("c == 1"), Truth::no) << "unlike kinds are never equal";
}

TEST(Expression, integers_are_exact_and_overflow_is_an_error) {
  EXPECT_EQ(value("9007199254740993 != 9007199254740992"), Truth::yes) << "not through a double";
  EXPECT_EQ(value("4611686018427387904 + 4611686018427387903 > 0"), Truth::yes);
  const Error sum = error_of([] { value("1 + 9223372036854775807 > 0"); });
  EXPECT_EQ(sum.exit_code(), ExitCode::refused);
  EXPECT_NE(sum.line().find("t: expression:1:3"), std::string::npos) << sum.line();
  EXPECT_EQ(error_of([] { value("3037000500 * 3037000500 > 0"); }).exit_code(), ExitCode::refused);
  EXPECT_EQ(error_of([] { value("a // (b - 2.5) > 0"); }).exit_code(), ExitCode::refused);
  EXPECT_EQ(error_of([] { value("c < 3"); }).exit_code(), ExitCode::refused);
}

TEST(Expression, errors_name_line_and_column) {
  const auto place = [](const std::string& text) {
    return error_of([&] { Expression(text, names, facts, "s.toml:9:14"); }).line();
  };
  EXPECT_NE(place("a +\n  d < 3").find("s.toml:9:14: expression:2:3"), std::string::npos);
  EXPECT_NE(place("a = 3").find("equality is =="), std::string::npos);
  EXPECT_NE(place("(a < 3").find("expected ')'"), std::string::npos);
  EXPECT_NE(place("a < ").find("expression:1:5"), std::string::npos);
  EXPECT_NE(place("is_pow2(a, b)").find("takes 1"), std::string::npos);
  EXPECT_NE(place("c == 'bf16").find("not closed"), std::string::npos);
  EXPECT_NE(place("99999999999999999999 < a").find("64 bits"), std::string::npos);
  EXPECT_NE(place(std::string(5000, '(')).find("too deeply"), std::string::npos);
}

TEST(Expression, names_its_parameters) {
  EXPECT_EQ(Expression("c == 'x' or a < K", names, facts, "").parameters(),
            (std::vector<std::size_t>{0, 2}));
}

// Over all values of the free parameters: `no` only where every value gives no, `yes` likewise.
TEST(Expression, three_values_on_partial_points_never_contradict_the_whole) {
  const std::vector<std::string> texts = {
      "a * b <= 20",           "a % b == 0 or b > 6",     "divides(b, a * 6)",
      "32 <= a * b <= 40",     "a // b >= 2 and a > 3",   "not (a < b) and a in {2, 5, 9}",
      "is_pow2(a + 1)",        "ceil_div(a, b) * b == a", "max(a, b) - min(a, b) < 3",
      "a / b > 1.5",           "log2(a) + log2(b) < 4",   "-a + b > 0",
      "(a - 5) * (b - 4) < 0", "(a - 5) % b == 1"};
  for (const std::string& text : texts) {
    const Expression e(text, names, facts, "t");
    int decided = 0;
    for (std::int64_t low = 1; low <= 9; ++low) {
      for (std::int64_t high = low; high <= 9; ++high) {
        for (std::int64_t b = 1; b <= 8; ++b) {
          bool all = true, none = true;
          for (std::int64_t a = low; a <= high; ++a) {
            const Truth t = e.evaluate(std::vector{Operand::of(a), Operand::of(b), Operand{}});
            ASSERT_NE(t, Truth::unknown) << text;
            all = all && t == Truth::yes;
            none = none && t == Truth::no;
          }
          const Truth t = e.evaluate(
              std::vector{Operand::integers_between(low, high), Operand::of(b), Operand{}});
          const std::string at = text + ' ' + std::to_string(low) + ".." + std::to_string(high);
          ASSERT_TRUE(t != Truth::yes || all) << at << ' ' << b;
          ASSERT_TRUE(t != Truth::no || none) << at << ' ' << b;
          decided += t != Truth::unknown && low < high ? 1 : 0;
        }
      }
    }
    EXPECT_GT(decided, 0) << text << ": an interval decides nothing";
  }
}

TEST(Expression, what_hangs_on_an_absent_value_stays_unknown) {
  const std::vector<Operand> operands{Operand{}, Operand::of(std::int64_t{3}), Operand{}};
  EXPECT_EQ(with("a < 4", operands), Truth::unknown);
  EXPECT_EQ(with("b == 3 or a < 4", operands), Truth::yes);
  EXPECT_EQ(with("b == 4 and a < 4", operands), Truth::no);
}

// The page of the language against the evaluator: every example is true, every function is known.

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
