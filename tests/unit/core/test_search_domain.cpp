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

}  // namespace
}  // namespace halmark
