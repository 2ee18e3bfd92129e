#include "core/text/error.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

const std::vector<std::string> ops{"gemm", "attention", "rmsnorm", "layernorm", "rope", "copy"};

TEST(Error, the_line_has_where_what_and_remedy) {
  EXPECT_EQ(refused("key 'x' is unknown", "a.toml:3:1", "did you mean 'y'?").line(),
            "a.toml:3:1: key 'x' is unknown; did you mean 'y'?");
  EXPECT_EQ(refused("bad").line(), "bad");
  EXPECT_EQ(refused("bad").exit_code(), ExitCode::refused);
  EXPECT_EQ(unfit("no device").exit_code(), ExitCode::unfit);
}

TEST(Error, the_line_carries_no_control_characters) {
  EXPECT_EQ(refused("name \x1b[31m\r\nred", "f\x07").line(), "f?: name ?[31m? red");
}

TEST(Nearest, the_nearest_spelling_comes_first) {
  EXPECT_EQ(nearest("gem", ops).front(), "gemm");
  EXPECT_EQ(nearest("GEMM", ops).front(), "gemm");
  EXPECT_EQ(nearest("atention", ops).front(), "attention");
  EXPECT_EQ(nearest("rmsnrom", ops).front(), "rmsnorm");
  EXPECT_EQ(nearest("norm", ops), (std::vector<std::string>{"rmsnorm", "layernorm"}))
      << "a fragment is near to what contains it";
}

TEST(Nearest, far_candidates_are_left_out_and_the_count_is_held) {
  EXPECT_TRUE(nearest("convolution", ops).empty());
  const std::vector<std::string> many{"aa", "ab", "ac", "ad", "ae"};
  EXPECT_EQ(nearest("a", many).size(), 3u);
  EXPECT_EQ(nearest("a", many, 1).size(), 1u);
}

TEST(Suggestion, names_near_spellings_else_what_is_known) {
  EXPECT_EQ(suggestion("gem", {"gemm", "gemv"}), "did you mean 'gemm' or 'gemv'?");
  EXPECT_EQ(suggestion("zzzzzzzz", {"gemm", "copy"}), "known: gemm, copy");
  EXPECT_EQ(suggestion("zzzzzzzz", {}), "nothing is known here");
  const std::string many = suggestion("zzzzzzzz", std::vector<std::string>(20, "gemm"));
  EXPECT_TRUE(many.ends_with(", ...")) << many;
}

}  // namespace
}  // namespace halmark
