#include "plan/toml/load_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../error_of.hpp"
#include "plan/served_sweep.hpp"

namespace halmark {
namespace {

using test::error_of;
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
  EXPECT_THAT(error_of([] { (void)parse_load("", "load.toml"); }).line(), HasSubstr("[[bucket]]"));
  EXPECT_THAT(error_of([] {
                (void)parse_load("[[bucket]]\ninput_tokens = 0\noutput_tokens = 1\n", "load.toml");
              }).line(),
              HasSubstr("load.toml:2"));
  EXPECT_THAT(error_of([] {
                (void)parse_load(
                    "[[bucket]]\ninput_tokens = 1\noutput_tokens = 1\n"
                    "requests_per_s = 1\nrate = 1\n",
                    "load.toml");
              }).line(),
              HasSubstr("load.toml:5"));
}

TEST(ServiceLevels, read_from_a_command_line_as_from_a_sweep) {
  const auto levels = parse_service_levels({"ttft_ms=500", "tokens_per_s=12.5"}, "--slo");
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].limit, 500e6);
  EXPECT_EQ(levels[1].limit, 12.5);
  EXPECT_THAT(error_of([] { (void)parse_service_levels({"ttft=5"}, "--slo"); }).line(),
              HasSubstr("ttft_ms"));
  for (const char* bad : {"", "=", "ttft_ms", "ttft_ms=", "ttft_ms=-1", "ttft_ms=1s"}) {
    EXPECT_EQ(error_of([bad] { (void)parse_service_levels({bad}, "--slo"); }).exit_code(),
              ExitCode::refused)
        << bad;
  }
}

}  // namespace
}  // namespace halmark
