#include "pages/serve/page_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"

namespace halmark::pages {
namespace {

TEST(PageStates, read_what_a_link_says) {
  const PageState state = parse_state({{"device", "b200"},
                                       {"model", "qwen3-8b"},
                                       {"fabric", "nvl72"},
                                       {"phase", "prefill"},
                                       {"shards", "64"},
                                       {"batch", "8"},
                                       {"context", "4096"},
                                       {"new", "1024"},
                                       {"strategy", "tp4 pp2"}});
  EXPECT_EQ(state.device, "b200");
  EXPECT_EQ(state.phase, Phase::prefill);
  EXPECT_EQ(state.shards, 64);
  EXPECT_EQ(state.new_tokens, 1024);
  EXPECT_EQ(state.strategy, (Parallel{.tp = 4, .pp = 2}));
}

TEST(PageStates, a_decode_step_makes_one_token_and_a_prompt_is_new_unless_it_says_otherwise) {
  EXPECT_EQ(parse_state({{"context", "4096"}}).new_tokens, 1);
  EXPECT_EQ(parse_state({{"phase", "prefill"}, {"context", "4096"}}).new_tokens, 4096);
  EXPECT_FALSE(parse_state({{"strategy", "auto"}}).strategy);
}

TEST(PageStates, numbers_are_within_their_limits) {
  EXPECT_EQ(parse_state({{"shards", "1024"}}).shards, page_shards_max);
  EXPECT_EQ(parse_state({{"batch", "65536"}}).batch, page_batch_max);
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"shards", "1025"}, {"batch", "65537"}, {"context", "1048577"}}) {
    EXPECT_THROW(parse_state({{name, value}}), Error) << name;
  }
  for (const char* wrong : {"", "0", "-1", "1.5", "1e3", " 1", "99999999999999999999", "x"}) {
    EXPECT_THROW(parse_state({{"batch", wrong}}), Error) << wrong;
  }
}

TEST(PageStates, that_cannot_be_meant_are_refused) {
  EXPECT_THROW(parse_state({{"phase", "training"}}), Error);
  EXPECT_THROW(parse_state({{"phase", "prefill"}, {"context", "10"}, {"new", "11"}}), Error);
  for (const char* wrong : {"xx2", "tp", "tp0", "tp-2", "t", "tp2;ls"}) {
    EXPECT_THROW(parse_strategy(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace halmark::pages
