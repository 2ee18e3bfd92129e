#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "pages/serve/document/fabric_drawing.hpp"
#include "pages/serve/state/composed_step.hpp"
#include "pages/serve/state/page_state.hpp"
#include "pages/serve/state/priced_system.hpp"
#include "shipped.hpp"

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

// Two ways to the same figures: the pricer of many layouts, and the composed graph of one.

const PageState on_a_node = {.device = "h100-sxm",
                             .model = "llama-3.1-70b",
                             .fabric = "nvlink-node",
                             .dtype = "bf16",
                             .shards = 8,
                             .batch = 32,
                             .context = 4096};

TEST(PricedSystems, layouts_have_the_price_and_the_memory_of_their_graphs) {
  PricedSystem system(on_a_node, shipped_sources());
  int priced = 0;
  for (const PricedLayout& layout : system.layouts(on_a_node)) {
    if (!layout.price) continue;
    PageState state = on_a_node;
    state.strategy = layout.parallel;
    const ComposedStep step = composed_step(system, state, system.configuration(state));
    EXPECT_NEAR(layout.price->step_ns, step.estimate.step_ns, 1e-6 * step.estimate.step_ns)
        << layout.parallel.text();
    EXPECT_NEAR(as_double(layout.bytes_per_rank), as_double(step.priced.memory_bytes()),
                0.002 * as_double(step.priced.memory_bytes()))
        << layout.parallel.text();
    ++priced;
  }
  EXPECT_GE(priced, 4);
}

// 70.55e9 weights in two bytes are 131 GiB: two H100 have 149 GiB, one has not.
TEST(PricedSystems, auto_leaves_out_what_does_not_fit) {
  PageState state = on_a_node;
  state.fabric.clear();
  state.batch = 1;
  PricedSystem system(state, shipped_sources());
  state.shards = 1;
  EXPECT_THROW(system.configuration(state), Error);
  state.shards = 2;
  const Configuration found = system.configuration(state);
  EXPECT_EQ(found.parallel.dp, 1);
  EXPECT_EQ(found.devices(), 2);
}

// Layouts of a training step have what the graph of each says of its memory, and auto the first.
TEST(PricedSystems, auto_trains_with_a_layout_that_fits) {
  PageState state = on_a_node;
  state.model = "qwen3-8b";
  state.phase = Phase::training;
  state.batch = 8;
  state.new_tokens = state.context = 2048;
  state.training.zero = 1;
  PricedSystem system(state, shipped_sources());
  const std::vector<PricedLayout> layouts = system.layouts(state);
  ASSERT_TRUE(layouts.front().price);
  EXPECT_EQ(system.configuration(state).parallel, layouts.front().parallel);
  const ComposedStep step = composed_step(system, state, system.configuration(state));
  EXPECT_EQ(step.priced.memory_bytes(), layouts.front().bytes_per_rank);
  EXPECT_LE(step.priced.memory_bytes(), system.target().memory_bytes);
  for (const PricedLayout& layout : layouts) {
    EXPECT_NE(layout.price.has_value(), !layout.reason.empty()) << layout.parallel.text();
  }
}

TEST(FabricDrawings, have_every_entity_or_say_how_many_are_left_out) {
  PageState state = on_a_node;
  for (const char* fabric : {"lite", "nvl72", "leaf-spine", "rail-su", "torus-3d", "supernode"}) {
    state.fabric = fabric;
    PricedSystem system(state, shipped_sources());
    const Json drawing = fabric_drawing(*system.topology());
    EXPECT_EQ(drawing["nodes"].size() + drawing["left_out"].get<std::size_t>(),
              system.topology()->entities.size());
    EXPECT_LE(drawing["nodes"].size(), drawn_entities_max);
    for (const Json& link : drawing["links"]) {
      EXPECT_LT(link[0].get<std::size_t>(), drawing["nodes"].size());
      EXPECT_LT(link[1].get<std::size_t>(), drawing["nodes"].size());
    }
  }
}

}  // namespace
}  // namespace halmark::pages
