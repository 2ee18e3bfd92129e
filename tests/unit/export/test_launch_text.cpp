#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "core/json/json.hpp"
#include "core/text/shell_word.hpp"
#include "export/engine/launch_text.hpp"
#include "export/yaml.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char block[4096];
  while (const std::size_t n = fread(block, 1, sizeof block, pipe)) out.append(block, n);
  pclose(pipe);
  return out;
}

// The shell itself is the judge.
TEST(LaunchText, a_hostile_name_stays_one_word_of_the_shell) {
  for (const std::string name :
       {"a b", "it's", "$(touch x)", "`id`", "a;b", "\"", "", "-x y", "*", "é"}) {
    EXPECT_EQ(output_of("printf '%s|' " + shell_word(name) + " end"), name + "|end|");
  }
}

TEST(LaunchText, the_script_has_a_comment_for_every_flag_and_says_whose_forecast_it_is) {
  const Deployment d = test::small_deployment({.dp = 2, .tp = 4});
  const Launch l = test::launch(d, "vllm", "0.20.1");
  const std::string script = launch_files(d, l).front().text;
  for (const LaunchFlag& f : l.flags) EXPECT_THAT(script, HasSubstr(f.why));
  EXPECT_THAT(script, HasSubstr("no forecast of vllm"));
  EXPECT_THAT(script, HasSubstr("TPOT 10.0 ms"));
  EXPECT_THAT(script, Not(HasSubstr("--port")));
}

TEST(LaunchText, a_line_feed_in_a_name_does_not_end_a_comment) {
  Deployment d = test::small_deployment({.tp = 4});
  d.point_name = "point\nrm -rf x";
  const std::string script = launch_files(d, test::launch(d, "vllm", "0.20.1")).front().text;
  EXPECT_THAT(script, Not(HasSubstr("\nrm -rf")));
}

TEST(LaunchText, servers_of_a_deployment_have_devices_and_ports_of_their_own) {
  const Deployment d = test::small_deployment({.dp = 4, .tp = 2}, true);
  const std::string script = launch_files(d, test::launch(d, "vllm", "0.20.1")).front().text;
  EXPECT_THAT(script, HasSubstr("CUDA_VISIBLE_DEVICES=6,7"));
  EXPECT_THAT(script, HasSubstr("--port 8003"));
}

TEST(Yaml, texts_that_look_like_other_scalars_are_quoted) {
  EXPECT_EQ(yaml_scalar("auto"), "auto");
  EXPECT_EQ(yaml_scalar("off"), "\"off\"");
  EXPECT_EQ(yaml_scalar("0.9"), "0.9");
  EXPECT_EQ(yaml_scalar("a: b"), "\"a: b\"");
  EXPECT_EQ(yaml_text({{"a", {{"b", Json::array({"8", "x"})}}}, {"n", 3}}),
            "a:\n  b:\n    - \"8\"\n    - x\n\"n\": 3\n");
}

}  // namespace
}  // namespace halmark::exports
