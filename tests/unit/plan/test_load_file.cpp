#include "plan/toml/load_file.hpp"

#include <gmock/gmock.h>

#include "plan/served_sweep.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using test::error_of;
using test::expect_error;
using testing::HasSubstr;

TEST(LoadFile, reads_buckets_and_levels) {
  const RequestLoad load = parse_load(
      "[[bucket]]\ninput_tokens = 512\noutput_tokens = 128\nrequests_per_s = 2.5\n"
      "[[bucket]]\ninput_tokens = 8000\noutput_tokens = 1\nrequests_per_s = 1\n"
      "[slo]\nttft_ms = 500\n",
      "load.toml");
  ASSERT_EQ(load.buckets.size(), 2u);
  EXPECT_EQ(load.buckets[0].text(), "512 + 128 tokens");
  EXPECT_EQ(load.buckets[0].requests_per_s, 2.5);
  ASSERT_EQ(load.levels.size(), 1u);
  EXPECT_EQ(load.levels[0].objective, Objective::ttft);
  EXPECT_EQ(load.levels[0].limit, 500e6);
}

TEST(LoadFile, refuses_with_the_place) {
  expect_error([] { (void)parse_load("", "load.toml"); }, "[[bucket]]");
  expect_error(
      [] { (void)parse_load("[[bucket]]\ninput_tokens = 0\noutput_tokens = 1\n", "load.toml"); },
      "load.toml:2");
  expect_error(
      [] {
        (void)parse_load(
            "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\n"
            "requests_per_s = 1\nrate = 1\n",
            "load.toml");
      },
      "load.toml:5");
}

TEST(ServiceLevels, read_from_a_command_line_as_from_a_sweep) {
  const auto levels =
      service_levels({.slo = {"ttft_ms=500", "tokens_per_s=12.5"}, .ttft = {}, .tpot = {}});
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].limit, 500e6);
  EXPECT_EQ(levels[1].limit, 12.5);
  expect_error([] { (void)service_levels({.slo = {"ttft=5"}, .ttft = {}, .tpot = {}}); },
               "ttft_ms");
  for (const char* bad : {"", "=", "ttft_ms", "ttft_ms=", "ttft_ms=-1", "ttft_ms=1s"}) {
    EXPECT_EQ(error_of([bad] {
                (void)service_levels({.slo = {bad}, .ttft = {}, .tpot = {}});
              }).exit_code(),
              ExitCode::refused)
        << bad;
  }
}

TEST(LoadFile, has_one_to_64_buckets) {
  const auto load_of = [](int buckets) {
    std::string text;
    for (int i = 0; i < buckets; ++i) {
      text += "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\nrequests_per_s = 1\n";
    }
    return parse_load(text, "load.toml");
  };
  EXPECT_EQ(load_of(1).buckets.size(), 1u);
  EXPECT_EQ(load_of(64).buckets.size(), 64u);
  EXPECT_THAT(error_of([&] { load_of(65); }).line(),
              testing::AllOf(HasSubstr("65 buckets of requests"), HasSubstr("1 to 64")));
  const auto rate = [](const std::string& rate) {
    return parse_load(
               "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\nrequests_per_s = " + rate + "\n",
               "load.toml")
        .buckets.at(0)
        .requests_per_s;
  };
  EXPECT_EQ(rate("1e9"), 1e9);
  EXPECT_EQ(rate("1e-9"), 1e-9);
  expect_error([&] { rate("1.1e9"); }, "'requests_per_s'");
  expect_error([&] { rate("0.9e-9"); }, "'requests_per_s'");
}

TEST(ServiceLevels, end_at_1e15_and_name_their_place) {
  const auto levels = service_levels({.slo = {"ttft_ms=1e15"}, .ttft = {}, .tpot = {}});
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].limit, 1e21) << "in ns";
  EXPECT_EQ(levels[0].where, "--slo");
  EXPECT_EQ(levels[0].objective, Objective::ttft);
  for (const char* bad : {"ttft_ms=1.1e15", "ttft_ms=0", "ttft_ms=nan", "ttft_ms=5="}) {
    EXPECT_THAT(
        error_of([bad] { (void)service_levels({.slo = {bad}, .ttft = {}, .tpot = {}}); }).line(),
        testing::AllOf(HasSubstr("--slo"), HasSubstr("states no limit"),
                       HasSubstr("as in ttft_ms=500")))
        << bad;
  }
  for (const StatedLevels& twice : {StatedLevels{{"ttft_ms=500"}, "1s", {}},
                                    StatedLevels{{"tpot_ms=5", "tpot_ms=6"}, {}, {}}}) {
    expect_error([&] { (void)service_levels(twice); }, "is stated twice");
  }
  const auto both = service_levels({{"tokens_per_s=9"}, "1.5s", "30ms"});
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both[1].objective, Objective::ttft);
  EXPECT_EQ(both[1].limit, 1.5e9);
  EXPECT_EQ(both[2].objective, Objective::tpot);
  EXPECT_EQ(both[2].limit, 30e6);
  expect_error([] { (void)service_levels({{}, "500", {}}); }, "is no duration");
  expect_error([] { (void)service_levels({.slo = {"=5"}, .ttft = {}, .tpot = {}}); },
               "names no level");
}

}  // namespace
}  // namespace halmark
