// Spaces with expressions, conditional parameters, continua; and the recorded spaces, whose key
// sets are the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "problem.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

SearchDomain numbers(const char* name, std::vector<std::int64_t> values) {
  SearchDomain out{.name = name, .kind = DomainKind::ordinal};
  for (const std::int64_t v : values) out.values.emplace_back(v);
  return out;
}

SpaceDescription conditional() {
  SpaceDescription s;
  s.domains = {{.name = "strategy", .values = {ParamValue("data"), ParamValue("pipeline")}},
               numbers("stages", {1, 2, 4}),
               numbers("tile", {8, 16})};
  s.domains[1].when = "strategy == 'pipeline'";
  return s;
}

TEST(ConditionalSpace, an_inactive_parameter_has_no_value) {
  const Space space(conditional());
  ASSERT_EQ(space.size(), 2u + 6u) << "data: tile alone; pipeline: stages x tile";
  std::set<Point> all;
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    const Point p = space.point(i);
    EXPECT_EQ(p[1] == absent, p[0] == 0);
    EXPECT_EQ(space.setting(p).size(), p[0] == 0 ? 2u : 3u);
    EXPECT_EQ(space.index(p), i);
    EXPECT_EQ(space.point_of(space.setting(p)), p);
    all.insert(p);
  }
  EXPECT_EQ(all.size(), space.size());
  EXPECT_FALSE(space.contains({0, 1, 0})) << "a value where there is none";
  EXPECT_FALSE(space.contains({1, absent, 0})) << "no value where there is one";
}

TEST(ConditionalSpace, a_change_of_the_condition_switches_parameters) {
  const Space space(conditional());
  for (const Point& p : space.neighbours({0, absent, 0}, 3)) EXPECT_TRUE(space.contains(p));
  bool switches = false;
  for (const Point& p : space.neighbours({0, absent, 0}, 3)) switches |= p[0] == 1;
  EXPECT_TRUE(switches);
  EXPECT_EQ(space.settle({0, 2, 1}, 1), (Point{0, absent, 1}));
}

TEST(ConditionalSpace, a_constraint_over_an_absent_value_is_met) {
  SpaceDescription s = conditional();
  s.constraints = {{"small", "stages * tile <= 16", {}}};
  EXPECT_EQ(Space(s).size(), 2u + 3u);
}

// A constraint in C++ is told which parameters are absent, and judged wherever its last one is.
TEST(ConditionalSpace, a_constraint_holds_where_its_last_parameter_is_absent) {
  std::vector<SearchDomain> domains = {
      {.name = "kernel", .values = {ParamValue("a"), ParamValue("b")}},
      numbers("a.tile", {8, 16, 32}),
      numbers("b.tile", {1, 2})};
  domains[1].when = "kernel == 'a'";
  domains[2].when = "kernel == 'b'";
  const std::set<Point> listed = {{0, 0, absent}, {0, 2, absent}, {1, absent, 1}};
  const Space space(domains, {{"not_listed", {"kernel", "a.tile", "b.tile"}, [&](const Point& p) {
                                 return listed.contains(p);
                               }}});
  ASSERT_EQ(space.size(), listed.size());
  std::set<Point> found;
  for (std::uint64_t i = 0; i < space.size(); ++i) found.insert(space.point(i));
  EXPECT_EQ(found, listed);
  EXPECT_FALSE(space.contains({0, 1, absent}));
  EXPECT_EQ(space.discarded().at("not_listed"), 2u);
}

TEST(ConditionalSpace, settings_are_refused_with_the_parameter_named) {
  const Space space(conditional());
  const auto line = [&](const Setting& s) { return error_of([&] { space.point_of(s); }).line(); };
  const ParamValue data("data"), pipeline("pipeline"), eight(std::int64_t{8});
  EXPECT_NE(line({{"strategy", data}, {"tyle", eight}}).find("'tile'"), std::string::npos);
  EXPECT_NE(line({{"strategy", pipeline}, {"tile", eight}}).find("'stages' is missing"),
            std::string::npos);
  EXPECT_NE(line({{"strategy", data}, {"stages", ParamValue(std::int64_t{2})}, {"tile", eight}})
                .find("'stages' is not active"),
            std::string::npos);
  EXPECT_NE(line({{"strategy", data}, {"tile", ParamValue(std::int64_t{9})}}).find("outside"),
            std::string::npos);
}

TEST(Space, counts_far_more_points_than_it_could_list) {
  SpaceDescription s;
  for (int d = 0; d < 12; ++d) {
    s.domains.push_back(
        {.name = "x" + std::to_string(d), .kind = DomainKind::integer, .low = 0, .high = 19});
  }
  s.constraints = {{"", "x0 + x1 <= 5", {}}, {"", "x10 * x11 == 0", {}}};
  const Space space(s);
  // 21 pairs with a sum of at most 5; 39 with a product of zero; eight are free.
  EXPECT_EQ(space.size(), 21u * 39u * static_cast<std::uint64_t>(std::llround(std::pow(20, 8))));
  for (const std::uint64_t i : {std::uint64_t{0}, space.size() / 3, space.size() - 1}) {
    EXPECT_EQ(space.index(space.point(i)), i);
  }
}

TEST(Space, draws_are_uniform_over_the_valid_points) {
  SpaceDescription s;
  s.domains = {numbers("a", {1, 2, 3, 4}), numbers("b", {1, 2, 3, 4})};
  s.constraints = {{"", "a * b <= 6", {}}};
  const Space space(s);
  ASSERT_EQ(space.size(), 10u);
  std::map<Point, int> counts;
  for (std::uint64_t seed = 0; seed < 10000; ++seed) ++counts[space.draw(seed).value()];
  ASSERT_EQ(counts.size(), 10u);
  double chi_squared = 0;
  for (const auto& [point, count] : counts) chi_squared += std::pow(count - 1000, 2) / 1000.0;
  EXPECT_LT(chi_squared, 27.9) << "9 degrees of freedom, 0.1 %";
}

TEST(Space, continua_stay_outside_of_the_numbering) {
  SpaceDescription s;
  s.domains = {numbers("n", {1, 2}), {.name = "x", .kind = DomainKind::real, .low = 0, .high = 1}};
  s.constraints = {{"", "n == 1 or x >= 0.5", {}}};
  const Space space(s);
  EXPECT_FALSE(space.is_countable());
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Point p = space.draw(seed).value();
    EXPECT_TRUE(space.contains(p));
    EXPECT_TRUE(p[0] == 0 || p[1] >= 0.5);
  }
  EXPECT_FALSE(space.contains({1, 0.25}));
  EXPECT_TRUE(space.contains({0, 0.25}));
  EXPECT_EQ(space.identity({0, 0.0}), space.identity({0, -0.0}));
}

TEST(Space, expressions_that_cannot_be_read_are_refused_with_their_place) {
  SpaceDescription s = conditional();
  s.constraints = {{"", "tiel < 3", "space.toml:7:3"}};
  EXPECT_EQ(error_of([&] { Space{s}; }).where(), "space.toml:7:3: expression:1:1");
  s.constraints.clear();
  s.domains[1].when = "tile == 8";
  EXPECT_NE(error_of([&] { Space{s}; }).line().find("declared before it"), std::string::npos);
}

class RecordedSpace : public testing::TestWithParam<std::pair<const char*, std::uint64_t>> {};

TEST_P(RecordedSpace, the_predicates_give_the_recorded_keys_and_no_other) {
  const auto problem = problems::replay(GetParam().first);
  if (!problem) GTEST_SKIP() << "data not found: recorded files in " << problems::data_folder();
  const Space space(problem->description);
  ASSERT_EQ(space.size(), GetParam().second);
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    ASSERT_NE(problem->evaluate(space, space.point(i)).reason, "forbidden");
  }
  // Together with equal counts: the sets are equal.
  std::uint64_t discarded = 0;
  for (const auto& [rule, count] : space.discarded()) discarded += count;
  EXPECT_EQ(space.size() + discarded, space.product());
}

INSTANTIATE_TEST_SUITE_P(Files, RecordedSpace,
                         testing::Values(std::pair{"conv1", std::uint64_t{4362}},
                                         std::pair{"gemm1", std::uint64_t{17956}},
                                         std::pair{"dedisp1", std::uint64_t{11130}}),
                         [](const auto& info) { return test::case_name({info.param.first}); });

}  // namespace
}  // namespace halmark
