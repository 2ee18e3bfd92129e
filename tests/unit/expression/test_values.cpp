// Single values: arithmetic against wider integers, kinds that compare and kinds that do not, and
// the ends of 64 bits.
#include <gtest/gtest.h>

#include <random>

#include "expression/expression.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;
using Integer = std::int64_t;
__extension__ typedef __int128 Wide;

const std::vector<std::string> names{"a", "b", "c"};
const std::map<std::string, ParamValue> facts{
    {"yes", true}, {"half", 0.5}, {"none", nullptr}, {"seven", Integer{7}}, {"word", "w"}};

Truth value(const std::string& text) {
  return Expression(text, names, facts, "t").evaluate(std::vector{Operand{}, Operand{}, Operand{}});
}
std::string error(const std::string& text) {
  const Error found = error_of([&] { value(text); });
  EXPECT_EQ(found.exit_code(), ExitCode::refused);
  return found.line();
}
bool fails(const std::string& text, const std::string& why) {
  return error(text).find(why) != std::string::npos;
}

Wide floored(Wide x, Wide y) {
  const Wide q = x / y;
  return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

// Where the wide result fits it is the result, and where it does not there is an error.
TEST(ExpressionValues, integers_are_those_of_128_bits_or_an_error) {
  struct Operation {
    const char* text;
    Wide (*of)(Wide, Wide);
    bool divides;
  };
  const Operation operations[] = {
      {"a + b", [](Wide x, Wide y) { return x + y; }, false},
      {"a - b", [](Wide x, Wide y) { return x - y; }, false},
      {"a * b", [](Wide x, Wide y) { return x * y; }, false},
      {"a // b", floored, true},
      {"a % b", [](Wide x, Wide y) { return x - y * floored(x, y); }, true},
      {"ceil_div(a, b)", [](Wide x, Wide y) { return -floored(-x, y); }, true}};
  std::mt19937_64 random(5);
  const std::vector<Integer> ends = {INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, -1, 0, 1};
  for (const Operation& o : operations) {
    const Expression e(std::string(o.text) + " == c", names, {}, "t");
    for (int i = 0; i < 2000; ++i) {
      const auto draw = [&]() -> Integer {
        if (random() % 4 == 0) return ends[random() % ends.size()];
        const auto bits = random() % 63;
        const auto of = static_cast<Integer>(random() >> (63 - bits) >> 1);
        return random() % 2 == 0 ? of : -of;
      };
      const Integer a = draw(), b = draw();
      if (o.divides && b == 0) continue;
      const Wide wide = o.of(a, b);
      const auto evaluated = [&](Integer c) {
        return e.evaluate(std::vector{Operand::of(a), Operand::of(b), Operand::of(c)});
      };
      // ceil_div is -((-a) // b): the least integer has no negative.
      const bool fits = wide >= INT64_MIN && wide <= INT64_MAX;
      const bool has_negative = std::string_view(o.text) != "ceil_div(a, b)" || a != INT64_MIN;
      if (fits && has_negative) {
        const auto c = static_cast<Integer>(wide);
        ASSERT_EQ(evaluated(c), Truth::yes) << o.text << ' ' << a << ' ' << b;
        ASSERT_EQ(evaluated(c ^ 1), Truth::no);
      } else {
        const Error found = error_of([&] { evaluated(0); });
        ASSERT_NE(found.line().find("64 bits"), std::string::npos) << o.text << a << ' ' << b;
      }
    }
  }
  EXPECT_TRUE(fails("-(-9223372036854775807 - 1) > 0", "64 bits"));
  EXPECT_EQ(value("-9223372036854775807 - 1 < -9223372036854775807"), Truth::yes);
}

TEST(ExpressionValues, floats_are_those_of_python) {
  for (const char* text :
       {"7.5 // 2 == 3", "-7.5 // 2 == -4", "7.5 % 2 == 1.5", "-7.5 % 2 == 0.5", "7.5 % -2 == -0.5",
        "ceil_div(7.5, 2) == 4", "ceil_div(-7.5, 2) == -3", "7 / 2 == 3.5", "8 / 2 == 4",
        "0.5 + 1 == 1.5", "0.5 - 1 == -0.5", "0.5 * 3 == 1.5", "-half == -0.5",
        "min(1, 0.5) == half", "max(1, 0.5) == 1", "max(0.25, half, 0.125) == half",
        "log2(half) == -1", "1.0 == 1"}) {
    EXPECT_EQ(value(text), Truth::yes) << text;
  }
  EXPECT_TRUE(fails("1e308 * 10 > 0", "not a finite number"));
  EXPECT_TRUE(fails("-1e308 - 1e308 < 0", "not a finite number"));
  EXPECT_EQ(value("1e308 - 1e308 == 0"), Truth::yes);
}

TEST(ExpressionValues, unlike_kinds_are_never_equal_and_never_ordered) {
  const std::vector<std::string> kinds = {"1", "true", "null", "'1'"};
  for (const std::string& x : kinds) {
    for (const std::string& y : kinds) {
      EXPECT_EQ(value(x + " == " + y), x == y ? Truth::yes : Truth::no) << x << y;
      EXPECT_EQ(value(x + " != " + y), x == y ? Truth::no : Truth::yes) << x << y;
      EXPECT_EQ(value(x + " in {" + y + "}"), x == y ? Truth::yes : Truth::no) << x << y;
      const bool is_ordered = x == y && (x == "1" || x == "'1'");
      for (const char* order : {" < ", " <= ", " > ", " >= "}) {
        if (is_ordered) {
          EXPECT_EQ(
              value(x + order + y),
              std::string_view(order).find('=') != std::string_view::npos ? Truth::yes : Truth::no);
        } else {
          EXPECT_TRUE(fails(x + order + y, "cannot compare a number with")) << x << order << y;
        }
      }
      if (x == "1" && y == "1") continue;
      for (const char* op : {" + ", " - ", " * ", " // ", " % ", " / "}) {
        EXPECT_TRUE(fails(x + op + y + " == 1", "cannot compute a number with")) << x << op << y;
      }
      EXPECT_TRUE(fails("min(" + x + ", " + y + ") == 1", "cannot compare a number")) << x << y;
    }
  }
  for (const char* nothing : {"0", "0.0", "-0.0"}) {
    for (const char* other : {"''", "'x'", "null", "false", "true"}) {
      EXPECT_EQ(value(std::string(nothing) + " == " + other), Truth::no) << other;
      EXPECT_EQ(value(std::string(other) + " == " + nothing), Truth::no) << other;
    }
  }
  EXPECT_EQ(value("true == false"), Truth::no);
  EXPECT_EQ(value("'a' == 'b'"), Truth::no);
  EXPECT_EQ(value("'a' < 'b' and 'a' <= 'b' and 'b' > 'a' and 'b' >= 'a'"), Truth::yes);
  EXPECT_EQ(value("'b' < 'a' or 'b' <= 'a'"), Truth::no);
}

TEST(ExpressionValues, functions_and_conditions_refuse_other_kinds) {
  EXPECT_TRUE(fails("is_pow2(0.5)", "is_pow2 needs an integer"));
  EXPECT_TRUE(fails("is_pow2('a')", "is_pow2 needs an integer"));
  EXPECT_TRUE(fails("divides(0.5, 1)", "divides needs integers"));
  EXPECT_TRUE(fails("divides(1, 0.5)", "divides needs integers"));
  EXPECT_TRUE(fails("divides(0, 1)", "division by zero"));
  EXPECT_TRUE(fails("log2('a') > 0", "cannot take the logarithm of"));
  EXPECT_TRUE(fails("log2(0.0) > 0", "not positive"));
  for (const char* text : {"0.5", "'a'", "null", "not 0.5", "true and 'a'", "false or null"}) {
    EXPECT_TRUE(fails(text, "a condition is needed here")) << text;
  }
  EXPECT_EQ(value("7"), Truth::yes);
  EXPECT_EQ(value("-7"), Truth::yes);
  EXPECT_EQ(value("0"), Truth::no);
}

TEST(ExpressionValues, facts_of_every_kind_are_constants) {
  EXPECT_EQ(value("yes and seven == 7 and half == 0.5 and none == null and word == 'w'"),
            Truth::yes);
  EXPECT_EQ(value("not yes"), Truth::no);
}

TEST(ExpressionValues, errors_of_evaluation_name_their_place_and_nothing_before_it) {
  EXPECT_NE(error("1 > 0 and\n  1 // 0 > 0").find("t: expression:2:5"), std::string::npos);
  const Error bare = error_of([] {
    Expression("1 // 0", names, facts, "").evaluate(std::vector{Operand{}, Operand{}, Operand{}});
  });
  EXPECT_EQ(bare.line().find(": expression"), std::string::npos) << bare.line();
  EXPECT_NE(bare.line().find("expression:1:3"), std::string::npos) << bare.line();
}

}  // namespace
}  // namespace halmark
