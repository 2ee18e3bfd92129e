#include "core/chosen/search_domain.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

SearchDomain checked(SearchDomain domain) {
  domain.check();
  return domain;
}

TEST(SearchDomain, integers_have_levels_by_step) {
  const SearchDomain d =
      checked({.name = "b", .kind = DomainKind::integer, .low = 8, .high = 260, .step = 8});
  EXPECT_EQ(d.high, 256) << "the last value that the step reaches";
  EXPECT_EQ(d.levels(), 32u);
  EXPECT_EQ(d.value(31), ParamValue(std::int64_t{256}));
  EXPECT_EQ(d.coordinate(std::int64_t{16}), 1.0);
  EXPECT_EQ(d.coordinate(16.0), 1.0);
  EXPECT_FALSE(d.coordinate(std::int64_t{17}));
  EXPECT_FALSE(d.coordinate(std::int64_t{264}));
  EXPECT_FALSE(d.coordinate(ParamValue("16")));
}

TEST(SearchDomain, decimals_that_a_step_reaches_but_for_rounding_are_levels) {
  const SearchDomain d =
      checked({.name = "x", .kind = DomainKind::real, .low = 0, .high = 1, .step = 0.1});
  EXPECT_EQ(d.levels(), 11u);
  EXPECT_EQ(d.coordinate(0.3), 3.0);
  EXPECT_FALSE(d.coordinate(0.35));
  EXPECT_LE(std::get<double>(d.value(10)), 1.0);
}

TEST(SearchDomain, a_logarithmic_scale_is_even_in_the_logarithm) {
  const SearchDomain d =
      checked({.name = "x", .kind = DomainKind::real, .low = 1e-4, .high = 1, .is_log = true});
  EXPECT_EQ(d.levels(), 0u);
  EXPECT_NEAR(d.from_unit(0.5), 1e-2, 1e-12);
  EXPECT_NEAR(d.unit(1e-3), 0.25, 1e-12);
  EXPECT_EQ(d.from_unit(1), 1.0) << "never beyond the end";
  const SearchDomain i =
      checked({.name = "n", .kind = DomainKind::integer, .low = 1, .high = 1024, .is_log = true});
  EXPECT_EQ(i.value(i.from_unit(0.5)), ParamValue(std::int64_t{32}));
}

TEST(SearchDomain, every_level_survives_the_way_to_the_unit_interval_and_back) {
  const std::vector<SearchDomain> domains{
      checked({.name = "a", .kind = DomainKind::ordinal, .values = {std::int64_t{1}, 2.5}}),
      checked({.name = "b", .kind = DomainKind::integer, .low = -3, .high = 40, .step = 7}),
      checked({.name = "c", .kind = DomainKind::integer, .low = 2, .high = 300, .is_log = true}),
      checked({.name = "d", .kind = DomainKind::real, .low = -1, .high = 1, .step = 0.05})};
  for (const SearchDomain& d : domains) {
    for (std::uint64_t level = 0; level < d.levels(); ++level) {
      const auto x = static_cast<double>(level);
      EXPECT_EQ(d.from_unit(d.unit(x)), x) << d.name;
      EXPECT_EQ(d.coordinate(d.value(x)), x) << d.name;
    }
  }
}

TEST(SearchDomain, mistakes_are_refused) {
  const auto is_refused = [](SearchDomain d) {
    return error_of([&] { d.check(); }).exit_code() == ExitCode::refused;
  };
  EXPECT_TRUE(is_refused({.name = "a"}));
  EXPECT_TRUE(is_refused({.name = "a", .values = {std::int64_t{1}, 1.0}})) << "the same number";
  EXPECT_TRUE(is_refused({.name = "a", .kind = DomainKind::integer, .low = 2, .high = 1}));
  EXPECT_TRUE(is_refused({.name = "a", .kind = DomainKind::integer, .low = 0.5, .high = 1}));
  EXPECT_TRUE(
      is_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = 1, .is_log = true}));
  EXPECT_TRUE(is_refused(
      {.name = "a", .kind = DomainKind::real, .low = 1, .high = 2, .step = 0.1, .is_log = true}));
  EXPECT_TRUE(is_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = NAN}));
  EXPECT_TRUE(is_refused({.name = "a", .kind = DomainKind::integer, .low = 0, .high = 1e17}));
}

TEST(ParamValues, print_as_the_shortest_text_that_reads_back) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(std::int64_t{-4}), "-4");
  EXPECT_EQ(text_of(true), "true");
  EXPECT_EQ(text_of(nullptr), "null");
  EXPECT_EQ(text_of(std::string("bf16")), "bf16");
}

std::string refusal_of(SearchDomain domain) {
  return error_of([&] { domain.check("s.toml:1:2"); }).line();
}

void expect_refused(const SearchDomain& domain, const std::string& why) {
  const std::string said = refusal_of(domain);
  EXPECT_NE(said.find(why), std::string::npos) << said;
  EXPECT_TRUE(said.starts_with("s.toml:1:2: domain '" + domain.name + "' ")) << said;
}

TEST(SearchDomain, a_refusal_says_what_is_wrong_and_where) {
  expect_refused({.name = "a"}, "is empty");
  expect_refused({.name = "a", .values = {std::int64_t{1}, 1.0}}, "repeats the value 1");
  expect_refused({.name = "a", .values = {NAN}}, "is not finite");
  expect_refused({.name = "a", .kind = DomainKind::integer, .low = 2, .high = 1},
                 "needs low <= high, found 2 and 1");
  expect_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = INFINITY},
                 "needs low <= high");
  expect_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = 1, .step = -0.1},
                 "needs a positive step");
  expect_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = 1, .step = NAN},
                 "needs a positive step");
  expect_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = 1, .is_log = true},
                 "must begin above zero");
  for (const auto& [low, high, step] : {std::tuple{0.5, 2.0, 1.0}, {0, 2.5, 1}, {0, 2, 0.5}}) {
    expect_refused(
        {.name = "a", .kind = DomainKind::integer, .low = low, .high = high, .step = step},
        "low, high and step must be integers");
  }
  expect_refused(
      {.name = "a", .kind = DomainKind::integer, .low = 1, .high = 8, .step = 2, .is_log = true},
      "has both a step and a log");
  expect_refused(
      {.name = "a", .kind = DomainKind::real, .low = 1, .high = 8, .step = 2, .is_log = true},
      "has both a step and a log");
  expect_refused({.name = "a", .kind = DomainKind::real, .low = 0, .high = 1e17, .step = 1},
                 "has more than 2^53 levels");
}

// 2^53 is the last integer of a double that has both neighbours.
TEST(SearchDomain, integers_reach_to_two_to_the_53rd) {
  const auto integers = [](double low, double high) {
    return SearchDomain{.name = "a", .kind = DomainKind::integer, .low = low, .high = high};
  };
  EXPECT_EQ(checked(integers(0x1p53 - 4, 0x1p53)).levels(), 5u);
  EXPECT_EQ(checked(integers(-0x1p53, -0x1p53 + 4)).levels(), 5u);
  expect_refused(integers(0x1p53 - 4, 0x1p53 + 2), "reaches beyond 2^53");
  expect_refused(integers(-0x1p53 - 2, -0x1p53 + 4), "reaches beyond 2^53");
}

TEST(SearchDomain, one_value_is_one_level_in_the_middle) {
  const SearchDomain category = checked({.name = "a", .values = {std::int64_t{7}}});
  const SearchDomain real = checked({.name = "b", .kind = DomainKind::real, .low = 3, .high = 3});
  const SearchDomain integer =
      checked({.name = "c", .kind = DomainKind::integer, .low = 3, .high = 3, .is_log = true});
  for (const SearchDomain& d : {category, real, integer}) {
    EXPECT_EQ(d.levels(), 1u) << d.name;
    EXPECT_EQ(d.unit(0), 0.5) << d.name;
    EXPECT_EQ(d.from_unit(0.9), 0) << d.name;
  }
  EXPECT_EQ(real.value(0), ParamValue(3.0));
  EXPECT_EQ(integer.value(0), ParamValue(std::int64_t{3}));
}

TEST(SearchDomain, values_without_an_order_are_found_by_what_they_are) {
  const SearchDomain d =
      checked({.name = "a", .values = {std::string("x"), true, std::int64_t{1}, nullptr}});
  EXPECT_EQ(d.levels(), 4u);
  EXPECT_EQ(d.coordinate(std::string("x")), 0);
  EXPECT_EQ(d.coordinate(true), 1) << "true is no number";
  EXPECT_EQ(d.coordinate(1.0), 2) << "the same number";
  EXPECT_EQ(d.coordinate(nullptr), 3);
  EXPECT_FALSE(d.coordinate(false));
  EXPECT_EQ(d.unit(3), 1);
  EXPECT_EQ(d.unit(1), 1.0 / 3);
  EXPECT_EQ(d.from_unit(-1), 0);
  EXPECT_EQ(d.from_unit(2), 3);
}

TEST(SearchDomain, reals_without_a_step_are_what_they_are) {
  const SearchDomain d = checked({.name = "x", .kind = DomainKind::real, .low = -2, .high = 6});
  EXPECT_EQ(d.levels(), 0u);
  EXPECT_EQ(d.coordinate(1.25), 1.25);
  EXPECT_EQ(d.coordinate(-2.0), -2);
  EXPECT_EQ(d.coordinate(6.0), 6);
  EXPECT_FALSE(d.coordinate(-2.1));
  EXPECT_FALSE(d.coordinate(6.1));
  EXPECT_FALSE(d.coordinate(NAN));
  EXPECT_EQ(d.value(1.25), ParamValue(1.25));
  EXPECT_EQ(d.unit(0), 0.25);
  EXPECT_EQ(d.from_unit(0.25), 0);
}

// A decimal that was printed and read back is off by a rounding; a thousandth of a step is not.
TEST(SearchDomain, a_level_is_met_within_a_rounding) {
  const SearchDomain d =
      checked({.name = "x", .kind = DomainKind::real, .low = 10, .high = 20, .step = 2});
  EXPECT_EQ(d.coordinate(14 + 1e-9), 2);
  EXPECT_EQ(d.coordinate(14 - 1e-9), 2);
  EXPECT_FALSE(d.coordinate(14 + 1e-8));
  EXPECT_FALSE(d.coordinate(14 - 1e-8));
  EXPECT_EQ(d.unit(1), 0.2);
  EXPECT_EQ(d.from_unit(0.29), 1);
  EXPECT_EQ(d.from_unit(0.31), 2);
  EXPECT_EQ(d.value(5), ParamValue(20.0));
}

// 600 decades: their ratio is no double any more.
TEST(SearchDomain, a_scale_may_be_wider_than_numbers_are) {
  const SearchDomain d = checked(
      {.name = "x", .kind = DomainKind::real, .low = 1e-300, .high = 1e300, .is_log = true});
  EXPECT_NEAR(d.from_unit(0.5), 1, 1e-9);
  EXPECT_NEAR(std::log10(d.from_unit(0.75)), 150, 1e-9);
  EXPECT_NEAR(d.unit(1), 0.5, 1e-12);
  EXPECT_NEAR(d.unit(1e150), 0.75, 1e-12);
  EXPECT_NEAR(d.from_unit(0) / 1e-300, 1, 1e-12);
}

}  // namespace
}  // namespace halmark
