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

// Distances of spelling: two always, of longer words a third of their letters.
TEST(Nearest, is_within_two_slips_or_a_third_of_the_letters) {
  const auto is_near = [](const std::string& wanted, const std::string& candidate) {
    return !nearest(wanted, {candidate}).empty();
  };
  EXPECT_TRUE(is_near("abc", "axy")) << "two replaced";
  EXPECT_FALSE(is_near("abc", "xyz"));
  EXPECT_TRUE(is_near("abcdefghi", "abcdefxyz")) << "three of nine";
  EXPECT_FALSE(is_near("abcdefghi", "abcdewxyz")) << "four of nine";
  EXPECT_TRUE(is_near("abcdefghi", "abcdef")) << "three left out";
  EXPECT_FALSE(is_near("abcdefghi", "abcde"));
  EXPECT_TRUE(is_near("abcdef", "abcdefghi"));
  EXPECT_TRUE(is_near("b", "aaaaaaaaaaaaaaab")) << "a fragment of it";
  EXPECT_FALSE(is_near("", "abc")) << "nothing is a fragment of nothing";
  EXPECT_EQ(nearest("gemn", {"gemma", "gemm", "gem"}),
            (std::vector<std::string>{"gemm", "gem", "gemma"}));
}

TEST(Suggestion, lists_up_to_twelve_and_joins_with_or) {
  EXPECT_EQ(suggestion("gem", {"gema", "gemb", "gemc"}), "did you mean 'gema', 'gemb' or 'gemc'?");
  EXPECT_EQ(suggestion("gem", {"gemm"}), "did you mean 'gemm'?");
  std::vector<std::string> known;
  std::string joined;
  for (char c = 'a'; c < 'a' + 12; ++c) {
    known.emplace_back(1, c);
    joined += (joined.empty() ? "" : ", ") + known.back();
  }
  EXPECT_EQ(suggestion("zzzzzzzz", known), "known: " + joined);
  known.emplace_back("m");
  EXPECT_EQ(suggestion("zzzzzzzz", known), "known: " + joined + ", ...");
}

}  // namespace
}  // namespace halmark
