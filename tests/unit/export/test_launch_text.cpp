#include <gmock/gmock.h>

#include <cstdio>

#include "core/text/shell_word.hpp"
#include "export/engine/launch_text.hpp"
#include "export/yaml.hpp"
#include "tests/unit/expect.hpp"
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
  EXPECT_THAT(script, test::has_all({"no forecast of vllm", "TPOT 10.0 ms"}));
  EXPECT_THAT(script, Not(HasSubstr("--port")));
}

TEST(LaunchText, a_line_feed_in_a_name_does_not_end_a_comment) {
  Deployment d = test::small_deployment({.tp = 4});
  d.point_name = "point\nrm -rf x";
  const std::string script = launch_files(d, test::launch(d, "vllm", "0.20.1")).front().text;
  EXPECT_THAT(script, Not(HasSubstr("\nrm -rf")));
}

}  // namespace
}  // namespace halmark::exports
