// How a text is cut into numbers, words and signs, how deep it may nest, and where its faults are.
#include <gtest/gtest.h>

#include "expression/expression.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

const std::vector<std::string> names{"a", "model.hidden", "_x9", "Zed"};

Expression parsed(const std::string& text, const std::string& where = "t") {
  return Expression(text, names, {}, where);
}
bool is_true(const std::string& text) {
  return parsed(text).evaluate(std::vector<Operand>(4, Operand::of(std::int64_t{3}))) == Truth::yes;
}
std::string error(const std::string& text) {
  return error_of([&] { parsed(text); }).line();
}
bool fails(const std::string& text, const std::string& why) {
  const std::string line = error(text);
  EXPECT_NE(line.find(why), std::string::npos) << text << " -> " << line;
  return line.find(why) != std::string::npos;
}

TEST(ExpressionGrammar, numbers_are_written_like_in_c) {
  for (const char* text : {"1.5e3 == 1500", "1e+3 == 1000", "1E-3 == 0.001", "2. == 2", "5e0 == 5",
                           "1e3 == 1000", "12.25 == 49 / 4", "9223372036854775807 > 0"}) {
    EXPECT_TRUE(is_true(text)) << text;
  }
  EXPECT_TRUE(fails("1.2.3 > 0", "'1.2.3' is not a number"));
  EXPECT_TRUE(fails("1e > 0", "'1e' is not a number"));
  EXPECT_TRUE(fails("1e999 > 0", "'1e999' is not a number"));
  EXPECT_TRUE(fails("9223372036854775808 > 0", "does not fit in 64 bits"));
  EXPECT_TRUE(fails(".5 > 0", "'.' means nothing here"));
  EXPECT_TRUE(is_true("1.5+1 == 2.5")) << "a sign belongs to an exponent alone";
  EXPECT_TRUE(is_true("1e1-1 == 9"));
}

TEST(ExpressionGrammar, words_have_letters_digits_dots_and_bars) {
  EXPECT_EQ(parsed("Zed + _x9 + model.hidden + a == 12").parameters(),
            (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(parsed("Zed + a + Zed > a").parameters(), (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(is_true("Zed + _x9 + model.hidden + a == 12"));
  EXPECT_TRUE(fails("zed > 0", "'zed' is no parameter, fact or function"));
  EXPECT_TRUE(fails("model.hiden > 0", "did you mean 'model.hidden'"));
  EXPECT_TRUE(fails("a@ > 0", "'@' means nothing here"));
  EXPECT_TRUE(fails("a[0] > 0", "'[' means nothing here"));
}

TEST(ExpressionGrammar, blanks_of_every_kind_separate) {
  EXPECT_TRUE(is_true(" \t\r\n1\t+\r2\n==\t3 "));
  EXPECT_TRUE(is_true("1+2==3"));
  EXPECT_TRUE(fails("1 2", "'2' is not expected here"));
  EXPECT_TRUE(fails("1 ==", "a value is missing before 'the end'"));
  EXPECT_TRUE(fails("", "a value is missing before 'the end'"));
  EXPECT_TRUE(fails("\n\n\t  @", "t: expression:3:4"));
  EXPECT_TRUE(fails("a\n +\n  @", "expression:3:3"));
  EXPECT_TRUE(fails("a * * 2", "expression:1:5"));
}

TEST(ExpressionGrammar, strings_end_at_the_quote_that_began_them) {
  EXPECT_TRUE(is_true("'a\"b' == 'a\"b'"));
  EXPECT_TRUE(is_true("\"a'b\" != 'ab'"));
  EXPECT_TRUE(is_true("'' == \"\""));
  EXPECT_TRUE(is_true("'x y' in {'x', 'x y'}"));
  EXPECT_TRUE(fails("'abc", "the string is not closed"));
  EXPECT_TRUE(fails("'abc\"", "the string is not closed"));
  EXPECT_TRUE(is_true("'bf16' == 'bf16' and 'bf16' in {'f32', 'bf16'}")) << "texts are not moved";
}

TEST(ExpressionGrammar, signs_of_two_letters_are_one) {
  for (const char* text : {"7//2==3", "2<=2", "2>=2", "2==2", "2!=3", "1<2", "2>1", "7%4==3",
                           "-2*-3==6", "- - 2 == 2", "not not 1", "2-1==1", "6/4==1.5"}) {
    EXPECT_TRUE(is_true(text)) << text;
  }
  EXPECT_TRUE(fails("a = 3", "equality is =="));
  EXPECT_TRUE(fails("a ! 3", "'!' means nothing here"));
  EXPECT_EQ(error("a ! 3").find("equality"), std::string::npos);
}

// Left to right within one rank; ranks as in Python.
TEST(ExpressionGrammar, ranks_and_sides) {
  for (const char* text :
       {"10 - 3 - 2 == 5", "48 // 4 // 3 == 4", "48 / 4 * 3 == 36", "20 % 7 * 2 == 12",
        "2 + 3 * 4 - 6 // 3 == 12", "-3 + 5 == 2", "not 1 == 2", "not (1 == 1) or 1",
        "1 or 0 and 0", "(1 or 0) and 1", "not 0 and 1", "1 < 2 < 3 <= 3 > 2 != 5",
        "5 > 4 > 3 and 2 + 2 == 4", "1 in {2 - 1}", "3 * 2 in {5, 6}"}) {
    EXPECT_TRUE(is_true(text)) << text;
  }
  for (const char* text : {"1 < 3 < 2", "3 < 1 < 2", "1 < 2 < 3 < 3", "(1 or 0) and 0",
                           "not 1 or 0", "3 * 2 in {5, 7}"}) {
    EXPECT_FALSE(is_true(text)) << text;
  }
}

TEST(ExpressionGrammar, sets_and_calls_are_closed_and_filled) {
  EXPECT_TRUE(fails("a in {}", "a value is missing before '}'"));
  EXPECT_TRUE(fails("a in 3", "expected '{', found '3'"));
  EXPECT_TRUE(fails("a in {3", "expected '}', found 'the end'"));
  EXPECT_TRUE(fails("a in {3,}", "a value is missing before '}'"));
  EXPECT_TRUE(fails("min 3", "expected '(', found '3'"));
  EXPECT_TRUE(fails("min(3, 4", "expected ')', found 'the end'"));
  EXPECT_TRUE(fails("(3, 4)", "expected ')', found ','"));
}

TEST(ExpressionGrammar, functions_take_as_many_values_as_they_say) {
  const auto call = [](const char* name, int arguments) {
    std::string out = std::string(name) + "(1";
    for (int i = 1; i < arguments; ++i) out += ", 1";
    return out + ")";
  };
  for (const char* name : {"min", "max"}) {
    EXPECT_TRUE(fails(call(name, 1), std::string(name) + " takes 2 or more values, not 1"));
    EXPECT_TRUE(is_true(call(name, 2)));
    EXPECT_TRUE(is_true(call(name, 16)));
    EXPECT_TRUE(fails(call(name, 17), "not 17"));
  }
  for (const char* name : {"ceil_div", "divides"}) {
    EXPECT_TRUE(fails(call(name, 1), std::string(name) + " takes 2 value(s), not 1"));
    EXPECT_TRUE(is_true(call(name, 2)));
    EXPECT_TRUE(fails(call(name, 3), "not 3"));
  }
  for (const char* name : {"is_pow2", "log2"}) {
    EXPECT_TRUE(fails(call(name, 2), std::string(name) + " takes 1 value(s), not 2"));
  }
}

// 200 levels: of brackets, of not and of signs; one beside the other is no level.
TEST(ExpressionGrammar, nests_two_hundred_levels_and_no_more) {
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  EXPECT_TRUE(is_true(repeated("(", 199) + "1" + repeated(")", 199)));
  EXPECT_TRUE(fails(repeated("(", 200) + "1" + repeated(")", 200), "too deeply"));
  EXPECT_FALSE(is_true(repeated("not ", 199) + "1"));
  EXPECT_TRUE(fails(repeated("not ", 200) + "1", "too deeply"));
  EXPECT_TRUE(is_true(repeated("-", 199) + "1 < 0"));
  EXPECT_TRUE(fails(repeated("-", 200) + "1", "too deeply"));
  EXPECT_TRUE(is_true(repeated("(1) + ", 300) + "1 == 301"));
  EXPECT_TRUE(is_true(repeated("-1 + ", 300) + "1 == -299"));
  EXPECT_TRUE(is_true(repeated("not 0 and ", 300) + "1"));
}

TEST(ExpressionGrammar, keeps_its_text_and_says_where_it_stands) {
  EXPECT_EQ(parsed(" a  < 3").text(), " a  < 3");
  EXPECT_EQ(error_of([] { parsed("@", ""); }).line().find(": expression"), std::string::npos);
  EXPECT_NE(error_of([] { parsed("@", "s.toml:3"); }).line().find("s.toml:3: expression:1:1"),
            std::string::npos);
}

}  // namespace
}  // namespace halmark
