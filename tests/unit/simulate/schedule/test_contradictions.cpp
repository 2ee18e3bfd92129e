// Ten ways in which demonstrations of simulators contradict themselves, as tests that ours does
// not. The ninth, of reclaimed KV bytes, is with the simulation of serving.

#include "schedule_fixtures.hpp"
#include "simulate/timeline/timeline_export.hpp"
#include "tests/checkout.hpp"

namespace halmark::schedule {
namespace {

using events::EventKind;
using model_test::decode;
using model_test::prefill;
using simulate::TimelineEvent;
using test::leaf;
using test::simulated;
using test::step_of;
using test::times_of;

double microsecond(const Operator&) { return 1000; }

fabric::Topology lite() {
  return fabric::known_fabric(
      "lite", {std::filesystem::path(halmark::test::in_source()) / "configs/fabrics"});
}

std::vector<Carriage> both() { return {Carriage::closed_form, Carriage::messages}; }

TEST(TenContradictions, one_of_one_shard_nothing_is_exchanged) {
  for (const Carriage carriage : both()) {
    const PricedStep step = step_of(decode(2, 64));
    const auto s =
        simulated(step, lite(), times_of(step, microsecond), {.lowering = {.carriage = carriage}});
    for (const TimelineEvent& event : s.timeline.events) EXPECT_EQ(event.kind, EventKind::kernel);
    for (const auto& resource : s.timeline.resources) {
      EXPECT_TRUE(!resource.is_link || resource.bytes == 0) << resource.name;
    }
  }
}

TEST(TenContradictions, two_no_event_names_what_the_topology_lacks) {
  for (const Carriage carriage : both()) {
    const PricedStep step = step_of(test::training({.tp = 2, .pp = 2}, 4));
    const fabric::Topology topology = leaf(2, 4);
    std::set<std::string> names;
    for (const fabric::Entity& entity : topology.entities) names.insert(entity.name);
    const auto s = simulated(step, topology, times_of(step, microsecond),
                             {.lowering = {.carriage = carriage}});
    std::set<std::string> seen;
    for (const TimelineEvent& event : s.timeline.events) {
      seen.insert(s.timeline.actors.at(event.actor));
      if (event.resource == TimelineEvent::none) continue;
      const std::string& name = s.timeline.resources.at(event.resource).name;
      const std::string ends = name.substr(0, name.find(' '));
      EXPECT_TRUE(names.contains(ends)) << name;
      if (const std::size_t to = name.find("> "); to != std::string::npos) {
        EXPECT_TRUE(names.contains(name.substr(to + 2))) << name;
      }
    }
    EXPECT_EQ(seen.size(), 4u) << "the devices of the step and no others";
    for (const std::string& name : seen) EXPECT_TRUE(names.contains(name)) << name;
  }
}

// 64 MB in 0.70 ms would be 91 GB/s; two ranks on 3.125 GB/s need 20.5 ms.
TEST(TenContradictions, three_nothing_is_faster_than_its_links) {
  const ModelSpec model = model_test::shipped("llama-3.1-8b");
  const PricedStep step = step_of(model, prefill(1, 8192, 8192, {.tp = 2}));
  const auto s = simulated(step, lite(), times_of(step, microsecond),
                           {.lowering = {.carriage = Carriage::messages}});
  std::map<std::uint32_t, std::pair<double, double>> reductions;  // by label: begin, end
  for (const TimelineEvent& event : s.timeline.events) {
    if (!s.timeline.labels[event.label].ends_with("all_reduce")) continue;
    if (event.kind != EventKind::collective) continue;
    const auto [at, is_new] = reductions.try_emplace(
        event.label, events::seconds_of(event.start_ps), events::seconds_of(event.end_ps));
    at->second.first = std::min(at->second.first, events::seconds_of(event.start_ps));
    at->second.second = std::max(at->second.second, events::seconds_of(event.end_ps));
    if (event.bytes <= 0) continue;
    const double rate = event.bytes / events::seconds_of(event.end_ps - event.start_ps);
    EXPECT_LE(rate, 3.125e9 * (1 + 1e-9));
  }
  ASSERT_EQ(reductions.size(), 2u * 32 + 1);
  for (const auto& [label, times] : reductions) {
    EXPECT_GE(times.second - times.first, 8192.0 * 4096 * 2 / 3.125e9 - 1e-9)
        << s.timeline.labels[label];
  }
  for (const auto& link : s.timeline.resources) {
    if (!link.is_link) continue;
    EXPECT_LE(link.bytes, link.bytes_per_s * s.step_ns() * 1e-9 * (1 + 1e-9)) << link.name;
    EXPECT_LE(link.busy_ps, s.timeline.makespan_ps) << link.name;
  }
}

TEST(TenContradictions, four_latencies_are_those_of_the_transport) {
  const std::string slow =
      "id = \"t\"\nname = \"t\"\n[node]\ncount = 2\ndevices = 1\n[node.host]\ntransport = "
      "\"pcie\"\nlatency_us = 0.4\nbandwidth_gbs = 15\nsource = \"t\"\n[network]\nkind = "
      "\"leaf\"\ntransport = \"tcp\"\nlatency_us = 0.2\nbandwidth_gbs = 3.125\nsource = \"t\"\n";
  refuses([&] { fabric::parse_fabric(slow, "test"); }, "implausible_latency");
  // A hand-over of a few bytes takes the latencies of its links: 2 x 10 us of TCP, 2 x 0.4 of PCIe.
  Configuration c = decode(1, 64, {.pp = 2});
  const PricedStep step = step_of(c);
  const auto s = simulated(step, lite(), times_of(step, microsecond),
                           {.lowering = {.carriage = Carriage::messages}});
  int seen = 0;
  for (const TimelineEvent& event : s.timeline.events) {
    if (event.kind != EventKind::p2p) continue;
    ++seen;
    EXPECT_GE(event.end_ps - event.start_ps, events::picoseconds(20.8e-6));
  }
  EXPECT_EQ(seen, 1);
}

TEST(TenContradictions, five_what_happens_once_is_not_in_the_step) {
  const PricedStep step = step_of(decode(2, 64, {.tp = 2}));
  const auto s = simulated(step, lite(), times_of(step, microsecond));
  const std::vector<simulate::OneTimePhase> once = {{EventKind::boot, 2, "stated"},
                                                    {EventKind::place, 0.5, "stated"}};
  const simulate::Timeline whole = preceded_by(s.timeline, once);
  EXPECT_EQ(simulate::step_begin_ps(whole), events::picoseconds(2.5));
  EXPECT_EQ(whole.makespan_ps - simulate::step_begin_ps(whole), s.timeline.makespan_ps);
  EXPECT_EQ(critical_parts(whole).one_time_ps, events::picoseconds(2.5));
  EXPECT_EQ(critical_parts(whole).gap_ps, 0);
  EXPECT_EQ(critical_parts(s.timeline).one_time_ps, 0);
  for (const TimelineEvent& event : whole.events) {
    const bool is_before = event.start_ps < simulate::step_begin_ps(whole);
    EXPECT_EQ(event.phase == simulate::TimelinePhase::one_time, is_before);
    if (event.cause != TimelineEvent::none) {
      EXPECT_EQ(whole.events[event.cause].end_ps, event.start_ps);
    }
  }
}

TEST(TenContradictions, six_throughput_is_work_over_time) {
  for (const Configuration& c : {decode(3, 64), prefill(2, 16, 16)}) {
    const PricedStep step = step_of(c);
    const auto s = simulated(step, lite(), times_of(step, microsecond));
    double flops = 0;
    for (const TimelineEvent& event : s.timeline.events) flops += event.flops;
    EXPECT_NEAR(flops, step.graph.totals.flops, 1e-9 * flops);
    EXPECT_NEAR(s.work.flops, step.graph.totals.matmul_flops, 1e-9 * flops);
    EXPECT_DOUBLE_EQ(s.work.flops_per_s * s.step_ns() * 1e-9, s.work.flops);
    EXPECT_DOUBLE_EQ(s.work.tokens_per_s * s.step_ns() * 1e-9, s.work.tokens);
  }
}

// A norm of width 4096 in 16 bits has 8 KB, not 8 MB.
TEST(TenContradictions, seven_bytes_are_those_of_shape_and_type) {
  const PricedStep step = step_of(model_test::shipped("llama-3.1-8b"), decode(1, 1024));
  const auto s = simulated(step, lite(), times_of(step, microsecond));
  int norms = 0;
  for (const TimelineEvent& event : s.timeline.events) {
    if (!s.timeline.labels[event.label].ends_with("norm")) continue;
    ++norms;
    // One row is read and written in 16 bits; the op reads its gains in 32.
    EXPECT_EQ(event.bytes, 2 * 4096 * 2 + 4096 * 4) << s.timeline.labels[event.label];
  }
  EXPECT_EQ(norms, 2 * 32 + 1);
}

TEST(TenContradictions, eight_a_strategy_fits_its_layer) {
  const auto strategies = [](const Configuration& c) {
    std::set<std::pair<std::string, OperatorKind>> out;
    for (const Operator& op : step_of(model_test::tiny_moe(), c).graph.operators) {
      out.insert({op.strategy, op.kind});
    }
    return out;
  };
  for (const auto& [strategy, kind] : strategies(decode(8, 64))) EXPECT_EQ(strategy, "replicate");
  for (const auto& [strategy, kind] : strategies(decode(8, 64, {.dp = 2, .tp = 2, .ep = 4}))) {
    const bool is_of_experts = kind == OperatorKind::experts || kind == OperatorKind::routing ||
                               kind == OperatorKind::collective ||
                               kind == OperatorKind::elementwise;
    if (strategy.find("expert") != std::string::npos) {
      EXPECT_TRUE(is_of_experts) << strategy;
    }
    EXPECT_EQ(strategy.find("pipeline"), std::string::npos);
  }
  // Of a pipeline no stage has a kernel that belongs to another.
  const PricedStep step = step_of(decode(4, 64, {.pp = 2}));
  const auto s = simulated(step, lite(), times_of(step, microsecond));
  std::map<std::string, std::set<std::uint32_t>> actors;
  for (const TimelineEvent& event : s.timeline.events) {
    if (event.kind == EventKind::kernel) {
      actors[s.timeline.labels[event.label]].insert(event.actor);
    }
  }
  for (const auto& [label, of] : actors) EXPECT_EQ(of.size(), 1u) << label;
}

TEST(TenContradictions, ten_kernels_are_those_of_the_lowering) {
  for (const char* model : {"llama-3.1-8b", "qwen3-0.6b", "gpt2"}) {
    const PricedStep step = step_of(model_test::shipped(model), decode(1, 512));
    const auto s = simulated(step, lite(), times_of(step, microsecond));
    std::map<std::string, int> of_layer;
    std::size_t kernels = 0;
    for (const TimelineEvent& event : s.timeline.events) {
      const std::string& label = s.timeline.labels[event.label];
      kernels += event.kind == EventKind::kernel ? 1 : 0;
      if (label.starts_with("layer ")) ++of_layer[label.substr(0, label.find(' ', 6))];
    }
    EXPECT_EQ(of_layer.size(), step.graph.layers.size());
    for (const auto& [layer, count] : of_layer) EXPECT_GE(count, 6) << model << ' ' << layer;
    EXPECT_EQ(s.kernels, kernels);
    std::int64_t expected = 0;
    for (const Operator& op : step.graph.operators) expected += op.stage_counts[0];
    EXPECT_EQ(static_cast<std::int64_t>(kernels), expected);
  }
}

}  // namespace
}  // namespace halmark::schedule
