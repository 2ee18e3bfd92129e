// What an expression says of points that are known in part: against every value that the parts can
// take, and by hand where an answer may stay open.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/numeric/cast.hpp"
#include "expression/expression.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;
using Integer = std::int64_t;

const std::vector<std::string> names{"a", "b"};

Truth with(const std::string& text, const Operand& a, const Operand& b = {}) {
  return Expression(text, names, {}, "t").evaluate(std::vector{a, b});
}
Operand between(Integer low, Integer high) { return Operand::integers_between(low, high); }
Operand reals(double low, double high) { return Operand::reals_between(low, high); }

Truth expected(bool all, bool none) { return all ? Truth::yes : none ? Truth::no : Truth::unknown; }

Integer floored(Integer x, Integer y) {
  Integer q = 0;  // the largest with q * y <= x, for y > 0
  if (y < 0) return floored(-x, -y);
  while (q * y > x) --q;
  while ((q + 1) * y <= x) ++q;
  return q;
}

struct Binary {
  const char* text;
  std::function<Integer(Integer, Integer)> of;
};

class Ranges : public testing::TestWithParam<Binary> {};

// The range of the result is read off by comparing it with every number near it.
TEST_P(Ranges, are_exactly_those_of_all_pairs) {
  const auto& [text, of] = GetParam();
  const std::string op = text;
  const bool divides = op.find('/') != op.npos || op.find("div") != op.npos;
  const Expression at_least(op + " >= c", std::vector<std::string>{"a", "b", "c"}, {}, "t");
  const Expression less(op + " < c", std::vector<std::string>{"a", "b", "c"}, {}, "t");
  for (Integer a = -4; a <= 4; ++a) {
    for (Integer to = a; to <= a + 3; ++to) {
      for (Integer b = -3; b <= 3; ++b) {
        for (Integer end = b; end <= b + 2; ++end) {
          if (divides && b <= 0 && end >= 0) continue;
          Integer low = 1000, high = -1000;
          for (Integer x = a; x <= to; ++x) {
            for (Integer y = b; y <= end; ++y) {
              low = std::min(low, of(x, y));
              high = std::max(high, of(x, y));
            }
          }
          for (Integer limit = low - 1; limit <= high + 1; ++limit) {
            const std::vector operands{between(a, to), between(b, end), Operand::of(limit)};
            ASSERT_EQ(at_least.evaluate(operands), expected(low >= limit, high < limit))
                << op << ' ' << a << ".." << to << ' ' << b << ".." << end << ' ' << limit;
            ASSERT_EQ(less.evaluate(operands), expected(high < limit, low >= limit));
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, Ranges,
    testing::Values(Binary{"a + b", [](Integer x, Integer y) { return x + y; }},
                    Binary{"a - b", [](Integer x, Integer y) { return x - y; }},
                    Binary{"a * b", [](Integer x, Integer y) { return x * y; }},
                    Binary{"a // b", floored},
                    Binary{"ceil_div(a, b)", [](Integer x, Integer y) { return -floored(-x, y); }},
                    Binary{"min(a, b)", [](Integer x, Integer y) { return std::min(x, y); }},
                    Binary{"max(a, b)", [](Integer x, Integer y) { return std::max(x, y); }},
                    Binary{"-a - 0 * b", [](Integer x, Integer) { return -x; }}),
    [](const auto& info) { return "Operation" + std::to_string(info.index); });

// Of two ranges, and of a range and a number: what holds for all pairs, for none, or else.
TEST(ThreeValues, comparisons_hold_for_all_pairs_for_none_or_stay_open) {
  struct Comparison {
    const char* text;
    bool (*holds)(Integer, Integer);
  };
  for (const Comparison& c :
       {Comparison{"a < b", [](Integer x, Integer y) { return x < y; }},
        Comparison{"a <= b", [](Integer x, Integer y) { return x <= y; }},
        Comparison{"a > b", [](Integer x, Integer y) { return x > y; }},
        Comparison{"a >= b", [](Integer x, Integer y) { return x >= y; }},
        Comparison{"a == b", [](Integer x, Integer y) { return x == y; }},
        Comparison{"a != b", [](Integer x, Integer y) { return x != y; }},
        Comparison{"a in {b}", [](Integer x, Integer y) { return x == y; }}}) {
    for (Integer low = -2; low <= 4; ++low) {
      for (Integer high = low; high <= low + 3; ++high) {
        for (Integer b = 0; b <= 3; ++b) {
          for (Integer end = b; end <= b + 2; ++end) {
            bool all = true, none = true;
            for (Integer x = low; x <= high; ++x) {
              for (Integer y = b; y <= end; ++y) (c.holds(x, y) ? none : all) = false;
            }
            const auto at = [&] { return c.text + (' ' + std::to_string(low)); };
            const Truth wanted = expected(all, none);
            const auto x = as_double(low), y = as_double(b);
            const auto x_end = as_double(high), y_end = as_double(end);
            ASSERT_EQ(with(c.text, between(low, high), between(b, end)), wanted) << at();
            ASSERT_EQ(with(c.text, reals(x, x_end), between(b, end)), wanted) << at();
            ASSERT_EQ(with(c.text, between(low, high), reals(y, y_end)), wanted) << at();
            ASSERT_EQ(with(c.text, reals(x, x_end), reals(y, y_end)), wanted) << at();
          }
        }
      }
    }
  }
}

// Kleene's tables; a number is a condition like in Python, an unbound one may be either.
TEST(ThreeValues, logic_follows_the_tables_of_kleene) {
  struct Case {
    Operand operand;
    Truth truth;
  };
  const std::vector<Case> cases = {
      {Operand::of(true), Truth::yes},  {Operand::of(false), Truth::no},
      {Operand{}, Truth::unknown},      {between(0, 0), Truth::no},
      {between(1, 5), Truth::yes},      {between(-3, -1), Truth::yes},
      {between(-1, 1), Truth::unknown}, {between(0, 3), Truth::unknown},
      {between(-3, 0), Truth::unknown}};
  const auto rank = [](Truth t) { return t == Truth::no ? 0 : t == Truth::unknown ? 1 : 2; };
  const Truth by_rank[] = {Truth::no, Truth::unknown, Truth::yes};
  for (const Case& a : cases) {
    EXPECT_EQ(with("a", a.operand), a.truth);
    EXPECT_EQ(with("not a", a.operand), by_rank[2 - rank(a.truth)]);
    for (const Case& b : cases) {
      const int least = std::min(rank(a.truth), rank(b.truth));
      const int most = std::max(rank(a.truth), rank(b.truth));
      EXPECT_EQ(with("a and b", a.operand, b.operand), by_rank[least]);
      EXPECT_EQ(with("a or b", a.operand, b.operand), by_rank[most]);
      EXPECT_EQ(with("(not a) == (not b)", a.operand, b.operand),
                a.truth == Truth::unknown || b.truth == Truth::unknown ? Truth::unknown
                : a.truth == b.truth                                   ? Truth::yes
                                                                       : Truth::no);
    }
  }
}

TEST(ThreeValues, what_is_decided_asks_no_further) {
  EXPECT_EQ(with("a and 1 // b > 0", Operand::of(false), between(0, 0)), Truth::no);
  EXPECT_EQ(with("a or 1 // b > 0", Operand::of(true), between(0, 0)), Truth::yes);
  EXPECT_NE(error_of([] { with("a and 1 // b > 0", Operand::of(true), between(0, 0)); })
                .line()
                .find("division by zero"),
            std::string::npos);
}

TEST(ThreeValues, a_member_that_is_found_outweighs_open_ones) {
  EXPECT_EQ(with("a in {b, 3}", between(3, 3)), Truth::yes);
  EXPECT_EQ(with("a in {3, b}", between(3, 3)), Truth::yes);
  EXPECT_EQ(with("a in {b, 4}", between(3, 3)), Truth::unknown);
  EXPECT_EQ(with("a in {4, b}", between(3, 3)), Truth::unknown);
  EXPECT_EQ(with("a in {1, 2, 5}", between(3, 4)), Truth::no);
  EXPECT_EQ(with("a in {1, 4}", between(3, 4)), Truth::unknown);
}

TEST(ThreeValues, a_divisor_that_may_be_zero_leaves_everything_open) {
  for (const char* text : {"a // b", "a % b", "a / b", "ceil_div(a, b)"}) {
    const std::string all = std::string(text) + " >= -100";
    EXPECT_EQ(with(all, between(1, 2), between(1, 2)), Truth::yes) << text;
    for (const auto& [low, high] : {std::pair(0, 1), std::pair(-1, 0), std::pair(-1, 1)}) {
      EXPECT_EQ(with(all, between(1, 2), between(low, high)), Truth::unknown) << text;
      EXPECT_EQ(with(all, between(1, 1), reals(low, high)), Truth::unknown) << text;
    }
    for (const Operand& zero : {between(0, 0), reals(0, 0)}) {
      EXPECT_NE(error_of([&] { with(all, between(1, 2), zero); }).line().find("division by zero"),
                std::string::npos)
          << text;
    }
    EXPECT_EQ(with(all, Operand{}, between(1, 2)), Truth::unknown);
    EXPECT_EQ(with(all, between(1, 2), Operand{}), Truth::unknown);
  }
}

// Remainders lie in 0..b-1 of the largest b, and below a where a is no larger.
TEST(ThreeValues, a_remainder_is_known_within_one_multiple_and_else_below_its_divisor) {
  EXPECT_EQ(with("1 <= a % 5 <= 3", between(6, 8)), Truth::yes);
  EXPECT_EQ(with("a % 5 == 4", between(6, 8)), Truth::no);
  EXPECT_EQ(with("a % 5 > 1", between(6, 8)), Truth::unknown);
  EXPECT_EQ(with("a % 5 >= 1", between(-4, -2)), Truth::yes);
  EXPECT_EQ(with("0 <= a % 5 <= 4", between(6, 12)), Truth::yes);
  EXPECT_EQ(with("a % 5 <= 3", between(6, 12)), Truth::unknown);
  EXPECT_EQ(with("a % 5 >= 1", between(6, 12)), Truth::unknown);
  EXPECT_EQ(with("a % b <= 3", between(2, 3), between(3, 9)), Truth::yes);
  EXPECT_EQ(with("a % b <= 2", between(2, 3), between(3, 9)), Truth::unknown);
  EXPECT_EQ(with("a % b <= 8", between(2, 30), between(3, 9)), Truth::yes);
  EXPECT_EQ(with("a % b <= 7", between(2, 30), between(3, 9)), Truth::unknown);
  EXPECT_EQ(with("a % b <= 8", between(-2, 3), between(3, 9)), Truth::yes);
  EXPECT_EQ(with("a % b <= 7", between(-2, 3), between(3, 9)), Truth::unknown);
  EXPECT_EQ(with("a % b <= 100", between(1, 2), between(-3, -2)), Truth::unknown);
  EXPECT_EQ(with("a % b < 100", reals(1, 2), between(3, 3)), Truth::unknown);
}

TEST(ThreeValues, divides_is_decided_where_no_multiple_or_any_is_in_range) {
  for (Integer divisor : {-3, -1, 1, 2, 3, 7}) {
    for (Integer low = -8; low <= 8; ++low) {
      for (Integer high = low; high <= low + 8; ++high) {
        Integer multiples = 0;
        for (Integer x = low; x <= high; ++x) multiples += x % divisor == 0 ? 1 : 0;
        const bool all = multiples == high - low + 1, none = multiples == 0;
        const Truth found = with("divides(a, b)", between(divisor, divisor), between(low, high));
        if (divisor > 0 || low == high || divisor == -1) {
          EXPECT_EQ(found, expected(all, none)) << divisor << ' ' << low << ".." << high;
        } else {
          EXPECT_EQ(found, Truth::unknown);
        }
      }
    }
  }
  EXPECT_EQ(with("divides(a, b)", between(6, 9), between(1, 5)), Truth::no) << "larger than any";
  EXPECT_EQ(with("divides(a, b)", between(5, 9), between(1, 5)), Truth::unknown);
  EXPECT_EQ(with("divides(a, b)", between(6, 9), between(0, 5)), Truth::unknown) << "divides 0";
  EXPECT_EQ(with("divides(a, b)", Operand{}, between(0, 5)), Truth::unknown);
  EXPECT_EQ(with("divides(a, b)", between(1, 1), Operand{}), Truth::unknown);
}

TEST(ThreeValues, powers_of_two_and_logarithms_of_ranges) {
  for (Integer low = -3; low <= 130; ++low) {  // every range of up to nine integers, one by one
    for (Integer high = low; high <= low + 8; ++high) {
      int powers = 0;
      for (const Integer power : {1, 2, 4, 8, 16, 32, 64, 128})
        powers += power >= low && power <= high;
      const bool is_single = low == high;
      EXPECT_EQ(with("is_pow2(a)", between(low, high)),
                expected(is_single && powers == 1, powers == 0))
          << low << ".." << high;
    }
  }
  EXPECT_EQ(with("is_pow2(a)", between(5, 7)), Truth::no);
  EXPECT_EQ(with("is_pow2(a)", between(5, 8)), Truth::unknown);
  EXPECT_EQ(with("is_pow2(a)", between(4, 7)), Truth::unknown);
  EXPECT_EQ(with("is_pow2(a)", between(-5, 0)), Truth::no);
  EXPECT_EQ(with("is_pow2(a)", between(-5, 1)), Truth::unknown);
  EXPECT_EQ(with("is_pow2(a)", between(Integer{1} << 62, Integer{1} << 62)), Truth::yes);
  EXPECT_EQ(with("is_pow2(a)", between((Integer{1} << 62) - 1, Integer{1} << 62)), Truth::unknown);
  EXPECT_EQ(with("is_pow2(a)", between((Integer{1} << 62) + 1, INT64_MAX)), Truth::no);
  EXPECT_EQ(with("is_pow2(a)", Operand{}), Truth::unknown);
  EXPECT_EQ(with("2 <= log2(a) <= 3", between(4, 8)), Truth::yes);
  EXPECT_EQ(with("log2(a) < 3", between(4, 8)), Truth::unknown);
  EXPECT_EQ(with("log2(a) > 2", between(4, 8)), Truth::unknown);
  EXPECT_EQ(with("log2(a) > -100", between(0, 8)), Truth::unknown);
  EXPECT_EQ(with("log2(a) == -1", reals(0.5, 0.5)), Truth::yes);
  EXPECT_EQ(with("log2(a) == 0", Operand{}), Truth::unknown);
  for (const Integer none : {0, -1}) {
    EXPECT_NE(error_of([&] { with("log2(a) > 0", between(none, none)); }).line().find("positive"),
              std::string::npos);
  }
}

// Corners of real ranges: every operation at its least and its greatest.
TEST(ThreeValues, ranges_of_reals_have_the_ends_of_their_corners) {
  struct Case {
    const char* text;
    double low, high;
  };
  for (const Case& c :
       {Case{"a + b", 1, 5}, Case{"a - b", -3.5, 0.5}, Case{"a * b", 0.75, 6},
        Case{"a / b", 0.5 / 3, 2.0 / 1.5}, Case{"b // a", 0, 6}, Case{"ceil_div(b, a)", 1, 6},
        Case{"min(a, b)", 0.5, 2}, Case{"max(a, b)", 1.5, 3}}) {
    const bool is_sum = std::string_view(c.text) == "a + b";
    const bool is_difference = std::string_view(c.text) == "a - b";
    const double low = is_sum ? 2 : is_difference ? -2.5 : c.low;
    const auto of = [&](const char* comparison, double limit) {
      return Expression(std::string(c.text) + comparison + "c",
                        std::vector<std::string>{"a", "b", "c"}, {}, "t")
          .evaluate(std::vector{reals(0.5, 2), reals(1.5, 3), Operand::of(limit)});
    };
    EXPECT_EQ(of(" >= ", low), Truth::yes) << c.text;
    EXPECT_EQ(of(" >= ", low + 0.001), Truth::unknown) << c.text;
    EXPECT_EQ(of(" <= ", c.high), Truth::yes) << c.text;
    EXPECT_EQ(of(" <= ", c.high - 0.001), Truth::unknown) << c.text;
    EXPECT_EQ(of(" > ", c.high), Truth::no) << c.text;
    EXPECT_EQ(of(" < ", low), Truth::no) << c.text;
  }
}

TEST(ThreeValues, ranges_that_overflow_stay_open) {
  const Operand all = between(INT64_MIN, INT64_MAX);
  for (const char* text : {"a + 1 > 0", "a - 1 > 0", "a * 2 > 0", "-a > 0", "a // -1 > 0"}) {
    EXPECT_EQ(with(text, all), Truth::unknown) << text;
  }
  EXPECT_EQ(with("a * 10 > 0", reals(1, 1e308)), Truth::unknown);
}

}  // namespace
}  // namespace halmark
