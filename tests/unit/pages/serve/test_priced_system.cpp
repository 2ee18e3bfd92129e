// Two ways to the same figures: the pricer of many layouts, and the composed graph of one.
#include "pages/serve/state/priced_system.hpp"

#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "pages/serve/document/fabric_drawing.hpp"
#include "pages/serve/state/composed_step.hpp"
#include "shipped.hpp"

namespace halmark::pages {
namespace {

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
    EXPECT_NEAR(static_cast<double>(layout.bytes_per_rank),
                static_cast<double>(step.priced.memory_bytes()),
                0.002 * static_cast<double>(step.priced.memory_bytes()))
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
