#include "search/space/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

SearchDomain domain(const std::string& name, int values, DomainKind kind = DomainKind::ordinal) {
  SearchDomain out{.name = name, .kind = kind};
  for (int v = 0; v < values; ++v) out.values.push_back(std::to_string(v));
  return out;
}

Constraint sum_at_most(const std::string& name, int limit) {
  return {name, {"a", "b"}, [limit](const Point& p) { return p[0] + p[1] <= limit; }};
}

TEST(Space, without_constraints_it_is_the_product_in_lexicographic_order) {
  const Space space({domain("a", 3), domain("b", 2)}, {});
  EXPECT_EQ(space.product(), 6u);
  ASSERT_EQ(space.size(), 6u);
  std::size_t index = 0;
  for (std::int32_t a = 0; a < 3; ++a) {
    for (std::int32_t b = 0; b < 2; ++b)
      EXPECT_EQ(space.point(index++), (Point{double(a), double(b)}));
  }
}

TEST(Space, valid_points_are_those_of_brute_force_and_discards_are_counted) {
  const Space space({domain("a", 7), domain("b", 5), domain("c", 4)},
                    {sum_at_most("a_plus_b", 6),
                     {"c_below_a", {"c", "a"}, [](const Point& p) { return p[2] <= p[0]; }}});
  std::set<Point> expected;
  std::uint64_t by_sum = 0, by_c = 0;
  for (std::int32_t a = 0; a < 7; ++a) {
    for (std::int32_t b = 0; b < 5; ++b) {
      for (std::int32_t c = 0; c < 4; ++c) {
        if (a + b > 6) {
          ++by_sum;
        } else if (c > a) {
          ++by_c;
        } else {
          expected.insert({double(a), double(b), double(c)});
        }
        EXPECT_EQ(space.contains({double(a), double(b), double(c)}), a + b <= 6 && c <= a);
      }
    }
  }
  std::set<Point> got;
  for (std::size_t i = 0; i < space.size(); ++i) got.insert(space.point(i));
  EXPECT_EQ(got, expected);
  EXPECT_EQ(space.discarded().at("a_plus_b"), by_sum) << "a pruned subtree counts all its points";
  EXPECT_EQ(space.discarded().at("c_below_a"), by_c);
  EXPECT_EQ(space.size() + by_sum + by_c, space.product());
}

TEST(Space, a_constraint_is_never_shown_an_incomplete_point) {
  const Space space({domain("a", 3), domain("b", 3), domain("c", 3)},
                    {{"b_only", {"b"}, [](const Point& p) { return p.size() >= 2 && p[1] != 1; }}});
  EXPECT_EQ(space.size(), 18u);
}

TEST(Space, ranks_are_distinct_and_points_outside_are_not_contained) {
  const Space space({domain("a", 4), domain("b", 3)}, {});
  std::set<std::uint64_t> ranks;
  for (std::size_t i = 0; i < space.size(); ++i) ranks.insert(space.identity(space.point(i)));
  EXPECT_EQ(ranks.size(), 12u);
  EXPECT_FALSE(space.contains({4, 0}));
  EXPECT_FALSE(space.contains({-1, 0}));
  EXPECT_FALSE(space.contains({0}));
  EXPECT_FALSE(space.contains({0, 0, 0}));
}

TEST(Space, a_space_without_a_valid_point_is_empty_and_says_why) {
  const Space space({domain("a", 3), domain("b", 3)}, {sum_at_most("never", -1)});
  EXPECT_EQ(space.size(), 0u);
  EXPECT_EQ(space.discarded().at("never"), 9u);
}

TEST(Space, mistakes_are_refused) {
  const auto is_refused = [](std::vector<SearchDomain> d, std::vector<Constraint> c) {
    return error_of([&] { Space(d, c); }).exit_code() == ExitCode::refused;
  };
  EXPECT_TRUE(is_refused({domain("a", 2), domain("a", 2)}, {}));
  EXPECT_TRUE(is_refused({domain("a", 0)}, {}));
  EXPECT_TRUE(is_refused({{.name = "a", .values = {"x", "x"}}}, {}));
  EXPECT_TRUE(is_refused({domain("a", 2)}, {sum_at_most("s", 1)})) << "there is no b";
  std::vector<SearchDomain> huge;
  for (int i = 0; i < 40; ++i) huge.push_back(domain("d" + std::to_string(i), 4));
  EXPECT_TRUE(is_refused(huge, {}));
  huge.push_back(domain("long", 9));
  const std::string why = error_of([&] { Space(huge, {}); }).what();
  EXPECT_THAT(why, testing::HasSubstr("1.1e+25 combinations")) << "9 x 4^40";
  EXPECT_THAT(why, testing::HasSubstr("'long' with 9 values first"));
}

}  // namespace
}  // namespace halmark
