#include "pages/serve/state/page_state.hpp"

#include <gmock/gmock.h>

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

TEST(PageStates, strategies_are_read_as_they_are_written) {
  for (const Parallel& parallel : {Parallel{.dp = 4, .tp = 2, .ep = 8}, Parallel{.tp = 2, .cp = 4},
                                   Parallel{.dp = 4, .pp = 2, .stages = {19, 17}}}) {
    EXPECT_EQ(parse_strategy(parallel.text()), parallel) << parallel.text();
  }
}

TEST(PageStates, training_takes_whole_sequences_and_says_how_it_trains) {
  const PageState state = parse_state({{"phase", "training"},
                                       {"context", "4096"},
                                       {"new", "16"},
                                       {"micro", "2"},
                                       {"zero", "3"},
                                       {"recompute", "full"},
                                       {"schedule", "zero-bubble"}});
  EXPECT_EQ(state.new_tokens, 4096);
  EXPECT_EQ(state.training.micro_batch, 2);
  EXPECT_EQ(state.training.zero, 3);
  EXPECT_EQ(state.training.recompute, "full");
  EXPECT_EQ(state.schedule, "zero-bubble");
  EXPECT_FALSE(parse_state({{"phase", "decode"}, {"zero", "3"}}).training.has_any());
}

TEST(PageStates, serving_has_a_load) {
  const PageState state =
      parse_state({{"phase", "serving"}, {"rate", "2.5"}, {"input", "512"}, {"output", "64"}});
  ASSERT_TRUE(state.load);
  EXPECT_EQ(state.load->rate, 2.5);
  EXPECT_EQ(state.load->input, 512);
  EXPECT_FALSE(parse_state({{"phase", "decode"}, {"rate", "2"}}).load);
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
  EXPECT_THROW(parse_state({{"phase", "dreaming"}}), Error);
  EXPECT_THROW(parse_state({{"phase", "training"}, {"zero", "4"}}), Error);
  for (const char* wrong : {"", "0", "-1", "nan", "inf", "1e9", "2x"}) {
    EXPECT_THROW(parse_state({{"phase", "serving"}, {"rate", wrong}}), Error) << wrong;
  }
  EXPECT_THROW(parse_state({{"phase", "prefill"}, {"context", "10"}, {"new", "11"}}), Error);
  for (const char* wrong :
       {"xx2", "tp", "tp0", "tp-2", "t", "tp2;ls", "stages", "stages1+", "stages+1"}) {
    EXPECT_THROW(parse_strategy(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace halmark::pages
