// halmark ops: what the contracts state, and that the commands it names are understood.
#include <algorithm>
#include <sstream>

#include "halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Ops : public HalmarkTest {};

Arguments words_of(const std::string& command) {
  std::istringstream in(command);
  Arguments out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

TEST_F(Ops, are_listed_with_what_they_compute) {
  const Json ops = data_of({"ops"})["ops"];
  const auto gemm = std::ranges::find(ops, "gemm", [](const Json& op) { return op["op"]; });
  ASSERT_NE(gemm, ops.end());
  EXPECT_EQ((*gemm)["measurable"], true);
  const auto priced =
      std::ranges::find(ops, "latent_attention", [](const Json& op) { return op["op"]; });
  ASSERT_NE(priced, ops.end());
  EXPECT_EQ((*priced)["measurable"], false);
  EXPECT_THAT(halmark({"ops"}).out, HasSubstr("(priced, not measured)"));
}

TEST_F(Ops, have_parameters_with_ranges_and_defaults) {
  const Json gemm = data_of({"ops", "gemm"});
  const Json trans = {{"name", "wei_trans"},
                      {"values", "0 1"},
                      {"default", "0"},
                      {"derived", false},
                      {"meaning", "wei is stored [n,k]"}};
  EXPECT_THAT(gemm["parameters"], testing::Contains(trans));
  EXPECT_EQ(gemm["example"]["operands"].size(), 3);
  const Outcome unknown = halmark({"ops", "gem"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean"));
}

TEST_F(Ops, are_shown_with_a_command_that_bench_understands) {
  for (const Json& op : data_of({"ops"})["ops"]) {
    if (!op["measurable"]) continue;
    const Json shown = data_of({"ops", op["op"].get<std::string>()});
    Arguments command = words_of(shown["example"]["command"].get<std::string>());
    ASSERT_EQ(command.front(), "halmark");
    command.erase(command.begin());
    command.insert(command.end(),
                   {"--backend", "fake", "--rounds", "1", "--seconds", "0.001", "--no-store"});
    const Outcome outcome = halmark(command);
    EXPECT_NE(outcome.exit_code, 2) << outcome.err;
  }
}

TEST_F(Ops, help_is_a_command_and_nothing_says_what_to_do_first) {
  EXPECT_EQ(halmark({"help", "ops"}).out, halmark({"ops", "--help"}).out);
  const Outcome near = halmark({"help", "tuen"});
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_THAT(near.err, HasSubstr("'tune'"));
  const Outcome bare = halmark({});
  EXPECT_EQ(bare.exit_code, 0);
  EXPECT_EQ(bare.out, halmark({"--help"}).out);
  EXPECT_THAT(bare.out, HasSubstr("First steps:"));
}

}  // namespace
}  // namespace halmark::integration
