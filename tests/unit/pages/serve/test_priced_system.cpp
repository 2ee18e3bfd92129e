// Two ways to the same figures: the pricer of many layouts, and the composed graph of one.
#include "pages/serve/priced_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "pages/serve/composed_step.hpp"
#include "pages/serve/fabric_drawing.hpp"
#include "pages/serve/step_timeline.hpp"
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
    const ComposedStep step = composed_step(system, system.configuration(state));
    EXPECT_NEAR(layout.price->step_ns, step.estimate.step_ns, 1e-6 * step.estimate.step_ns)
        << layout.parallel.text();
    EXPECT_NEAR(static_cast<double>(layout.bytes_per_rank),
                static_cast<double>(step.memory.largest.total()),
                0.002 * static_cast<double>(step.memory.largest.total()))
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

// An all-reduce over n ranks of a switch: every rank sends 2 (n - 1) / n of the message. Two of
// them a layer, of batch x hidden values in two bytes.
TEST(PricedSystems, links_carry_what_the_all_reduces_of_the_step_send) {
  PageState state = on_a_node;
  state.strategy = Parallel{.tp = 8};
  PricedSystem system(state, shipped_sources());
  const ComposedStep step = composed_step(system, system.configuration(state));
  const fabric::Router router(*system.topology());
  const Json load = link_load_json(*system.topology(), router, step);
  ASSERT_EQ(load["links"].size(), 8u);  // each device to the switch
  // One more behind the embedding; logits are gathered, 128,256 of them in two bytes a sequence.
  const double sent = ((80 * 2 + 1) * (32.0 * 8192 * 2) * 2 + 32.0 * 128256 * 2) * 7 / 8;
  for (const Json& link : load["links"]) {
    EXPECT_NEAR(link[3].get<double>(), sent, 1e-6 * sent);
    // 450 GB/s one way.
    EXPECT_NEAR(link[2].get<double>(),
                link[3].get<double>() / (450e9 * step.estimate.step_ns * 1e-9), 1e-9);
  }
}

// GPipe: m micro-batches through p equal stages take (m + p - 1) turns; here m = p.
TEST(StepTimelines, fill_and_drain_a_pipeline) {
  PageState state = on_a_node;
  state.strategy = Parallel{.tp = 2, .pp = 4};
  PricedSystem system(state, shipped_sources());
  const ComposedStep step = composed_step(system, system.configuration(state));
  const simulate::Timeline timeline = step_timeline(system, step);
  ASSERT_EQ(timeline.actors.size(), 4u);
  EXPECT_EQ(timeline.actors[1], "node0.device2");  // stages of tp 2 are two devices apart
  const double turn_ns = step.estimate.step_ns / 4;
  const double makespan_ns = static_cast<double>(timeline.makespan_ps) / 1e3;
  EXPECT_GT(makespan_ns, 6 * turn_ns);
  EXPECT_LE(makespan_ns, 7 * turn_ns * 1.001);
  events::Picoseconds critical = 0;
  for (const simulate::TimelineEvent& event : timeline.events) {
    if (event.is_critical) critical += event.end_ps - event.start_ps;
    if (event.cause == simulate::TimelineEvent::none) {
      EXPECT_EQ(event.start_ps, 0);
    } else {
      EXPECT_EQ(event.start_ps, timeline.events[event.cause].end_ps);
    }
  }
  EXPECT_EQ(critical, timeline.makespan_ps);
}

TEST(StepTimelines, of_one_stage_sum_to_the_step) {
  PageState state = on_a_node;
  state.strategy = Parallel{.tp = 8};
  PricedSystem system(state, shipped_sources());
  const ComposedStep step = composed_step(system, system.configuration(state));
  const simulate::Timeline timeline = step_timeline(system, step);
  EXPECT_NEAR(static_cast<double>(timeline.makespan_ps) / 1e3, step.estimate.step_ns,
              1e-5 * step.estimate.step_ns);
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
