#include "plan/space_file.hpp"

#include <gmock/gmock.h>

#include "tests/unit/case_name.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::expect_error;

constexpr const char* whole = R"toml(
[facts]
K = 12
devices = 6
[[parameter]]
name = "dtype"
kind = "categorical"
values = ["fp32", "bf16"]
[[parameter]]
name = "tile_k"
kind = "ordinal"
values = "divisors(K)"
[[parameter]]
name = "shards"
kind = "ordinal"
values = "powers_of_two(1, devices)"
[[parameter]]
name = "batch"
kind = "int"
low = 8
high = 60
step = 8
when = "dtype == 'bf16'"
[[parameter]]
name = "micro"
kind = "ordinal"
values = "divisors(shards)"
[[parameter]]
name = "rate"
kind = "float"
low = 0.001
high = 1.0
log = true
[[constraint]]
expression = "tile_k * shards <= 24"
[[objective]]
name = "tokens"
unit = "1/s"
direction = "maximize"
)toml";

std::vector<std::int64_t> integers(const SearchDomain& domain) {
  std::vector<std::int64_t> out;
  for (const ParamValue& v : domain.values) out.push_back(std::get<std::int64_t>(v));
  return out;
}

TEST(SpaceFile, reads_every_kind_of_domain) {
  std::vector<std::string> notes;
  const SpaceDescription s = parse_space(whole, "s.toml", &notes);
  ASSERT_EQ(s.domains.size(), 6u);
  EXPECT_EQ(s.domains[0].kind, DomainKind::categorical);
  EXPECT_EQ(integers(s.domains[1]), (std::vector<std::int64_t>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(integers(s.domains[2]), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_EQ(s.domains[3].kind, DomainKind::integer);
  EXPECT_EQ(s.domains[3].when, "dtype == 'bf16'");
  EXPECT_EQ(s.domains[3].high, 56);
  ASSERT_EQ(notes.size(), 1u) << "the high end that no step reaches is reported";
  EXPECT_THAT(notes[0], testing::HasSubstr("'batch' is 56"));
  EXPECT_TRUE(s.domains[5].is_log);
  ASSERT_EQ(s.objectives.size(), 1u);
  EXPECT_TRUE(s.objectives[0].is_maximised);
}

TEST(SpaceFile, a_domain_over_a_parameter_is_its_union_and_a_constraint) {
  const SpaceDescription s = parse_space(whole, "s.toml");
  EXPECT_EQ(integers(s.domains[4]), (std::vector<std::int64_t>{1, 2, 4}));
  ASSERT_EQ(s.constraints.size(), 2u);
  EXPECT_EQ(s.constraints[0].expression, "divides(micro, shards)");
  EXPECT_EQ(s.constraints[1].name, "tile_k * shards <= 24");
}

struct Refused {
  const char* from;
  const char* to;
  const char* line;  // part of the one line of the error
};

class SpaceFileRefusal : public testing::TestWithParam<Refused> {};

TEST_P(SpaceFileRefusal, names_the_place) {
  std::string text = whole;
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  expect_error([&] { parse_space(text, "s.toml"); }, GetParam().line, ExitCode::refused);
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, SpaceFileRefusal,
    testing::Values(Refused{"kind = \"int\"", "kind = \"integer\"", "s.toml:19:8"},
                    Refused{"divisors(K)", "divisors(N)", "'N' is no integer, fact or earlier"},
                    Refused{"divisors(K)", "primes(K)", "known: divisors(n)"},
                    Refused{"\"shards\"", "\"dtype\"", "declared twice"},
                    Refused{"\"shards\"", "\"2shards\"", "is no word"},
                    Refused{"tile_k * shards <= 24", "tile_q <= 24", "s.toml:35:14"},
                    Refused{"tile_k * shards <= 24", "tile_k <=", "expression:1:10"},
                    Refused{"dtype == 'bf16'", "rate > 0.5", "'rate' is no parameter"},
                    Refused{"low = 0.001", "low = 0.0", "logarithmic"},
                    Refused{"step = 8", "stride = 8", "unknown key 'stride'"},
                    Refused{"[\"fp32\", \"bf16\"]", "[\"fp32\", \"fp32\"]", "each value once"},
                    Refused{"\"maximize\"", "\"up\"", "'up' is unknown"}),
    [](const auto& info) { return test::case_name({info.param.to}); });

const std::string objective = "[[objective]]\nname = 'y'\n";

SpaceDescription with_parameter(const std::string& keys, const std::string& before = {}) {
  return parse_space(before + "[[parameter]]\nname = 'x'\n" + keys + objective, "s.toml");
}

std::string said_of(const std::string& keys, const std::string& before = {}) {
  return error_of([&] { with_parameter(keys, before); }).line();
}

TEST(SpaceFile, numbers_keep_their_ends_their_step_and_their_scale) {
  const SearchDomain whole_number =
      with_parameter("kind = 'int'\nlow = -3\nhigh = 9\nstep = 3\n").domains.at(0);
  EXPECT_EQ(whole_number.kind, DomainKind::integer);
  EXPECT_EQ(whole_number.low, -3);
  EXPECT_EQ(whole_number.high, 9);
  EXPECT_EQ(whole_number.step, 3);
  EXPECT_FALSE(whole_number.is_log);
  const SearchDomain real =
      with_parameter("kind = 'float'\nlow = -0.5\nhigh = 1\nstep = 0.25\n").domains.at(0);
  EXPECT_EQ(real.kind, DomainKind::real);
  EXPECT_EQ(real.low, -0.5);
  EXPECT_EQ(real.step, 0.25);
  EXPECT_NO_THROW(with_parameter("kind = 'float'\nlow = -1e300\nhigh = 1e300\n"));
  EXPECT_THAT(said_of("kind = 'float'\nlow = -1.1e300\nhigh = 1\n"), testing::HasSubstr("'low'"));
  EXPECT_THAT(said_of("kind = 'float'\nlow = 0\nhigh = 1.1e300\n"), testing::HasSubstr("'high'"));
  EXPECT_THAT(said_of("kind = 'int'\nlow = 0\nhigh = 8\nstep = 0.5\n"),
              testing::HasSubstr("'step'"));
  EXPECT_THAT(said_of("kind = 'float'\nlow = 0\nhigh = 8\nstep = 0\n"),
              testing::HasSubstr("'step'"));
}

TEST(SpaceFile, a_high_end_that_its_step_reaches_is_no_note) {
  std::vector<std::string> notes;
  const std::string text = "[[parameter]]\nname = 'x'\nkind = 'int'\nlow = 1\nhigh = 7\nstep = 3\n";
  parse_space(text + objective, "s.toml", &notes);
  EXPECT_TRUE(notes.empty());
}

TEST(SpaceFile, ordinal_values_are_numbers_and_categories_are_anything) {
  EXPECT_EQ(with_parameter("kind = 'ordinal'\nvalues = [1, 2.5]\n").domains[0].values.size(), 2u);
  EXPECT_EQ(
      with_parameter("kind = 'categorical'\nvalues = [true, 'a', 1]\n").domains[0].values.size(),
      3u);
  EXPECT_THAT(said_of("kind = 'ordinal'\nvalues = [1, 'a']\n"),
              testing::HasSubstr("an ordinal parameter has numbers, not 'a'"));
  EXPECT_THAT(said_of("kind = 'ordinal'\nvalues = [true, 1]\n"),
              testing::HasSubstr("an ordinal parameter has numbers"));
}

TEST(SpaceFile, names_are_words_of_letters_digits_points_and_underscores) {
  const auto named = [](const std::string& name) {
    return parse_space("[facts]\nK = 3\n[[parameter]]\nname = '" + name +
                           "'\nkind = 'ordinal'\nvalues = [1, 2]\n" + objective,
                       "s.toml");
  };
  for (const char* good : {"a", "_a", "a.b_1", "A9"}) EXPECT_NO_THROW(named(good)) << good;
  for (const char* bad : {"", "9a", "a-b", "a b"}) {
    EXPECT_THAT(error_of([&] { named(bad); }).line(), testing::HasSubstr("is no word")) << bad;
  }
  expect_error([&] { named("K"); }, "s.toml:4:8: 'K' is a fact and a parameter");
}

TEST(SpaceFile, what_a_domain_is_derived_from_is_an_integer) {
  EXPECT_THAT(said_of("kind = 'ordinal'\nvalues = 'divisors(K)'\n", "[facts]\nK = 1.5\n"),
              testing::HasSubstr("'K' is not an integer"));
  const std::string earlier = "[[parameter]]\nname = 'e'\nkind = ";
  EXPECT_THAT(said_of("kind = 'ordinal'\nvalues = 'divisors(e)'\n",
                      earlier + "'float'\nlow = 0\nhigh = 1\n"),
              testing::HasSubstr("'e' has too many values"));
  EXPECT_THAT(said_of("kind = 'ordinal'\nvalues = 'divisors(e)'\n",
                      earlier + "'int'\nlow = 1\nhigh = 65537\n"),
              testing::HasSubstr("'e' has too many values"));
  const std::string most = earlier + "'int'\nlow = 1\nhigh = 65536\n";
  EXPECT_EQ(with_parameter("kind = 'ordinal'\nvalues = 'powers_of_two(1, e)'\n", most)
                .domains[1]
                .values.size(),
            17u)
      << "2^0 to 2^16";
}

TEST(SpaceFile, constraints_and_objectives_have_names_units_and_a_direction) {
  const SpaceDescription s = parse_space(
      "[[parameter]]\nname = 'x'\nkind = 'ordinal'\nvalues = [1, 2]\n"
      "[[constraint]]\nname = 'small'\nexpression = 'x < 2'\n"
      "[[objective]]\nname = 'a'\nunit = 's'\n[[objective]]\nname = 'b'\ndirection = 'minimize'\n",
      "s.toml");
  ASSERT_EQ(s.constraints.size(), 1u);
  EXPECT_EQ(s.constraints[0].name, "small");
  EXPECT_EQ(s.constraints[0].expression, "x < 2");
  EXPECT_EQ(s.constraints[0].where, "s.toml:7:14");
  ASSERT_EQ(s.objectives.size(), 2u);
  EXPECT_EQ(s.objectives[0].unit, "s");
  EXPECT_FALSE(s.objectives[0].is_maximised);
  EXPECT_EQ(s.objectives[1].unit, "");
  EXPECT_FALSE(s.objectives[1].is_maximised);
}

TEST(SpaceFile, without_parameters_or_objectives_there_is_nothing_to_search) {
  expect_error([] { parse_space(objective, "s.toml"); }, "no [[parameter]]");
  expect_error(
      [] {
        parse_space("[[parameter]]\nname = 'x'\nkind = 'ordinal'\nvalues = [1, 2]\n", "s.toml");
      },
      "no [[objective]]");
}

TEST(SpaceFile, a_condition_sees_earlier_parameters_alone) {
  const std::string x = "[[parameter]]\nname = 'x'\nkind = 'ordinal'\nvalues = [1, 2]\n",
                    y = "[[parameter]]\nname = 'y2'\nkind = 'ordinal'\nvalues = [1, 2]\n";
  EXPECT_NO_THROW(parse_space(x + y + "when = 'x > 1'\n" + objective, "s.toml"));
  expect_error([&] { parse_space(x + "when = 'x > 1'\n" + y + objective, "s.toml"); },
               "s.toml:5:8");
}

TEST(SpaceFile, is_read_from_a_file) {
  const test::ScratchFolder folder;
  test::write_file(folder / "s.toml", whole);
  EXPECT_EQ(read_space(folder / "s.toml").domains.size(), 6u);
}

}  // namespace
}  // namespace halmark
