// The events of small servers, each written out: who does what, from when to when, and why then.
#include <fmt/format.h>

#include "simulate/serving/serving_json.hpp"
#include "simulate/serving/summary.hpp"
#include "toy_steps.hpp"

namespace halmark::serving {
namespace {

// "id: begin..end ms actor kind label [on resource] [after cause]", marked * on the critical path.
std::string lines_of(const simulate::Timeline& t) {
  constexpr auto none = simulate::TimelineEvent::none;
  std::string out;
  for (std::size_t i = 0; i < t.events.size(); ++i) {
    const auto& e = t.events[i];
    out += fmt::format("{}: {:g}..{:g} {}: {} '{}'", i, static_cast<double>(e.start_ps) * 1e-9,
                       static_cast<double>(e.end_ps) * 1e-9, t.actors[e.actor],
                       events::kind_name(e.kind), t.labels[e.label]);
    if (e.resource != none) out += " on " + t.resources[e.resource].name;
    if (e.cause != none) out += fmt::format(" after {}", e.cause);
    if (e.phase == simulate::TimelinePhase::one_time) out += ", once";
    if (e.is_critical) out += " *";
    out += '\n';
  }
  return out;
}

Load together(std::int64_t count, RequestShape shape) {
  return load_of({.shape = shape, .requests = count, .clients = count});
}

// 2 MB at 1 GB/s are 2 ms; steps take one.
TEST(ServerTimeline, of_a_cold_start) {
  ServerPlan plan = test::plan_of(100);
  plan.cold_start = {.weight_bytes = 2e6, .bytes_per_s = 1e9, .from = "network", .other_s = 1e-3};
  const ServerRecord record = test::simulated(plan, together(1, {100, 2}), test::ConstantSteps());
  EXPECT_EQ(lines_of(record.timeline),
            "0: 0..2 engine 0: place 'weights from network' on engine 0 network, once *\n"
            "1: 2..3 engine 0: boot 'start' on engine 0 steps after 0, once *\n"
            "2: 0..0 clients: dispatch 'until the next request'\n"
            "3: 0..0 clients: dispatch 'to the queue' after 2\n"
            "4: 3..4 engine 0: kernel 'prefill' on engine 0 steps after 1 *\n"
            "5: 4..5 engine 0: kernel 'decode' on engine 0 steps after 4 *\n"
            "6: 0..4 engine 0: emit 'request 0 to the first token'\n"
            "7: 4..5 engine 0: done 'request 0 to the last token' after 6\n");
  EXPECT_EQ(record.cold_start_ps, 4'000'000'000);
  ASSERT_EQ(record.timeline.resources.size(), 2u);
  EXPECT_EQ(record.timeline.resources[0].busy_ps, 3'000'000'000) << "starting and two steps";
  EXPECT_FALSE(record.timeline.resources[0].is_link);
  EXPECT_EQ(record.timeline.resources[1].bytes, 2e6);
  EXPECT_EQ(record.timeline.resources[1].bytes_per_s, 1e9);
  EXPECT_EQ(record.engines[0].busy_ps, 2'000'000'000);
  EXPECT_DOUBLE_EQ(record.in_system, 1);
  EXPECT_FALSE(test::simulated(test::plan_of(100), together(1, {100, 2}), test::ConstantSteps())
                   .cold_start_ps);
}

// The cache of a prompt of 100 tokens takes 1 ms over the link, the second's behind the first's.
TEST(ServerTimeline, of_pools) {
  ServerPlan plan = test::plan_of(100);
  plan.mode = ServerMode::disaggregated;
  plan.link_bytes_per_s = 1e9;
  plan.kv_bytes_per_token = 1e4;
  const ServerRecord record = test::simulated(plan, together(2, {100, 3}), test::ConstantSteps());
  EXPECT_EQ(
      lines_of(record.timeline),
      "0: 0..0 clients: dispatch 'until the next request' *\n"
      "1: 0..0 clients: dispatch 'until the next request' after 0\n"
      "2: 0..0 clients: dispatch 'to the queue' after 0 *\n"
      "3: 0..0 clients: dispatch 'to the queue' after 1\n"
      "4: 0..1 prefill worker 0: kernel 'prefill' on prefill worker 0 steps after 2 *\n"
      "5: 1..2 prefill worker 0: p2p 'KV cache to decode' on prefill worker 0 link after 4 *\n"
      "6: 2..3 prefill worker 0: p2p 'KV cache to decode' on prefill worker 0 link after 5\n"
      "7: 2..3 decode worker 0: kernel 'decode' on decode worker 0 steps after 5 *\n"
      "8: 3..4 decode worker 0: kernel 'decode' on decode worker 0 steps after 7 *\n"
      "9: 0..1 decode worker 0: emit 'request 0 to the first token'\n"
      "10: 1..4 decode worker 0: done 'request 0 to the last token' after 9\n"
      "11: 4..5 decode worker 0: kernel 'decode' on decode worker 0 steps after 8 *\n"
      "12: 0..1 decode worker 0: emit 'request 1 to the first token'\n"
      "13: 1..5 decode worker 0: done 'request 1 to the last token' after 12\n");
  ASSERT_EQ(record.engines.size(), 2u);
  EXPECT_EQ(record.engines[0].steps, 1);
  EXPECT_EQ(record.engines[0].prompt_tokens, 200);
  EXPECT_EQ(record.engines[0].kv.freed, 14) << "both caches of seven blocks";
  EXPECT_EQ(record.engines[1].steps, 3);
  EXPECT_EQ(record.engines[1].blocks_peak, 14);
  EXPECT_EQ(record.timeline.resources[1].name, "prefill worker 0 link");
  EXPECT_TRUE(record.timeline.resources[1].is_link);
  EXPECT_EQ(record.timeline.resources[1].bytes, 2e6);
  EXPECT_EQ(record.timeline.resources[1].busy_ps, 2'000'000'000);
  // Two requests for 4 ms and one for the fifth.
  EXPECT_DOUBLE_EQ(record.in_system, 9.0 / 5);
}

TEST(ServerTimeline, of_the_slowest_link_names_it_too) {
  ServerPlan plan = test::plan_of(100);
  plan.mode = ServerMode::disaggregated;
  plan.link_bytes_per_s = 0.5;
  const auto record = test::simulated(plan, together(1, {100, 2}), test::ConstantSteps());
  std::vector<std::string> names;
  for (const auto& resource : record.timeline.resources) names.push_back(resource.name);
  EXPECT_EQ(names, (std::vector<std::string>{"prefill worker 0 steps", "prefill worker 0 link",
                                             "decode worker 0 steps", "decode worker 0 link"}));
}

TEST(ServerTimeline, of_a_shared_device) {
  ServerPlan plan = test::plan_of(100);
  plan.mode = ServerMode::shared;
  EXPECT_EQ(lines_of(test::simulated(plan, together(1, {100, 2}), test::ConstantSteps()).timeline),
            "0: 0..0 clients: dispatch 'until the next request' *\n"
            "1: 0..0 clients: dispatch 'to the queue' after 0 *\n"
            "2: 0..2 device 0 prefill: kernel 'prefill' on device 0 prefill steps after 1 *\n"
            "3: 2..4 device 0 decode: kernel 'decode' on device 0 decode steps after 2 *\n"
            "4: 0..2 device 0 decode: emit 'request 0 to the first token'\n"
            "5: 2..4 device 0 decode: done 'request 0 to the last token' after 4\n");
}

TEST(ServerTimeline, of_a_prompt_beside_the_tokens_of_another_in_a_closed_loop) {
  ServerPlan plan = test::plan_of(100);
  plan.engine.terms.arrival_ns = 0.5e6;
  plan.engine.token_budget = 60;
  const Load load = load_of({.shape = {100, 1}, .requests = 2, .clients = 1});
  EXPECT_EQ(lines_of(test::simulated(plan, load, test::ConstantSteps()).timeline),
            "0: 0..0 clients: dispatch 'until the next request' *\n"
            "1: 0..0.5 clients: dispatch 'to the queue' after 0 *\n"
            "2: 0.5..1.5 engine 0: kernel 'prefill' on engine 0 steps after 1 *\n"
            "3: 1.5..2.5 engine 0: kernel 'prefill' on engine 0 steps after 2 *\n"
            "4: 0..2.5 engine 0: emit 'request 0 to the first token'\n"
            "5: 2.5..2.5 engine 0: done 'request 0 to the last token' after 4\n"
            "6: 2.5..3 clients: dispatch 'to the queue' after 3 *\n"
            "7: 3..4 engine 0: kernel 'prefill' on engine 0 steps after 6 *\n"
            "8: 4..5 engine 0: kernel 'prefill' on engine 0 steps after 7 *\n"
            "9: 2.5..5 engine 0: emit 'request 1 to the first token'\n"
            "10: 5..5 engine 0: done 'request 1 to the last token' after 9\n");
}

// Half a millisecond for every request of a step.
struct StepsByRequests : StepTimes {
  std::optional<double> step_ns(const StepMix& mix) const override {
    return 0.5e6 * (mix.prompts + mix.decodes);
  }
};

// Requests `first` and the one two behind it are answered by their first token, on an engine of
// their own. The other engine goes on with its two, whose steps take 1 ms together, half of it
// apart. After two tokens `left` are left, of which each saves 0.5 ms; the cache of 101 tokens
// takes 1 ms over the link, with the hysteresis 1.5.
ServerRecord after_two_answers(std::int64_t left, std::size_t first = 1) {
  Load load = together(4, {100, 2 + left});
  load.requests[first].output_tokens = load.requests[first + 2].output_tokens = 1;
  ServerPlan plan = test::plan_of(100);
  plan.engines = 2;
  plan.link_bytes_per_s = 1.01e8;
  plan.kv_bytes_per_token = 1'000;
  plan.migrates = true;
  return test::simulated(plan, load, StepsByRequests());
}

TEST(ServerTimeline, of_a_request_that_moves) {
  EXPECT_EQ(after_two_answers(2).migrations, 0) << "2 x 0.5 ms are saved, and 1.5 ms are needed";
  const ServerRecord record = after_two_answers(4);
  EXPECT_EQ(record.migrations, 1) << "4 x 0.5 ms are saved";
  EXPECT_DOUBLE_EQ(record.handed_over_bytes, 101e3);
  const std::string lines = lines_of(record.timeline);
  EXPECT_NE(lines.find("2..3 engine 0: rebalance 'request 2 from a batch of 2 to one of 0' on "
                       "engine 0 link"),
            std::string::npos)
      << lines;
  // Engine 0: four tokens in steps of half a millisecond; the other begins when it has moved.
  EXPECT_EQ(record.requests[0].end_ps, 4'000'000'000);
  EXPECT_EQ(record.requests[2].end_ps, 5'000'000'000);
  EXPECT_EQ(record.engines[0].kv.freed, 7 + 7) << "what moved leaves its blocks";
  EXPECT_EQ(record.engines[0].kv.allocated, 7 + 7);
}

TEST(ServerTimeline, of_a_request_that_moves_to_the_first_engine) {
  const ServerRecord record = after_two_answers(4, 0);
  EXPECT_EQ(record.migrations, 1);
  EXPECT_NE(lines_of(record.timeline)
                .find("engine 1: rebalance 'request 3 from a batch of 2 to one of 0' on engine 1 "
                      "link"),
            std::string::npos);
}

TEST(ServerTimeline, as_text_is_a_document_a_line) {
  simulate::Timeline t;
  t.actors = {"clients", "engine 0"};
  t.labels = {"wait", "prefill"};
  t.resources = {{.name = "engine 0 steps"}};
  t.events.push_back({.start_ps = 0,
                      .end_ps = 2'500'000,
                      .kind = events::EventKind::boot,
                      .phase = simulate::TimelinePhase::one_time});
  t.events.push_back({.start_ps = 2'500'000,
                      .end_ps = 4'000'000,
                      .bytes = 8,
                      .flops = 16,
                      .label = 1,
                      .actor = 1,
                      .resource = 0,
                      .cause = 0,
                      .is_critical = true});
  const std::string text = events_text(t);
  const std::size_t end = text.find('\n');
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(Json::parse(text.substr(0, end)),
            Json::parse(R"({"id": 0, "phase": "one_time", "actor": "clients", "kind": "boot",
                "label": "wait", "start_us": 0.0, "end_us": 2.5, "resource": null, "bytes": 0.0,
                "flops": 0.0, "cause": [], "is_critical": false})"));
  EXPECT_EQ(Json::parse(text.substr(end + 1)),
            Json::parse(R"({"id": 1, "phase": "step", "actor": "engine 0", "kind": "kernel",
                "label": "prefill", "start_us": 2.5, "end_us": 4.0, "resource": "engine 0 steps",
                "bytes": 8.0, "flops": 16.0, "cause": [0], "is_critical": true})"));
}

}  // namespace
}  // namespace halmark::serving
