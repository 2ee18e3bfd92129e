#include "plan/space_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

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
  const Error error = error_of([&] { parse_space(text, "s.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), testing::HasSubstr(GetParam().line));
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

}  // namespace
}  // namespace halmark
