// What a server does, case by case, against figures that can be found by hand.
#include "simulate/serving/server/server.hpp"

#include "simulate/serving/summary.hpp"
#include "toy_steps.hpp"

namespace halmark::serving {
namespace {

using test::plan_of;
using test::simulated;

Load requests(std::int64_t count, RequestShape shape) {
  return load_of({.shape = shape, .requests = count, .clients = count});
}

double ttft_ns(const ServerRecord& record, std::size_t request) {
  const RequestRecord& r = record.requests.at(request);
  return static_cast<double>(r.first_ps - r.arrival_ps) * 1e-3;
}

TEST(Server, one_request_is_its_pieces_and_its_tokens) {
  const test::ToySteps times;
  const ServerRecord record = simulated(plan_of(1'000), requests(1, {1'000, 11}), times);
  const double prompt = *times.step_ns({1, 512, 0, 0}) + *times.step_ns({1, 488, 512, 0});
  EXPECT_NEAR(ttft_ns(record, 0), prompt, 1);
  EXPECT_NEAR(static_cast<double>(record.requests[0].end_ps) * 1e-3,
              prompt + 10 * *times.step_ns({0, 0, 0, 1}), 1);
  EXPECT_EQ(record.engines[0].steps, 12);
}

TEST(Server, terms_of_the_engine_lengthen_every_step_and_the_way_to_the_queue) {
  const test::ConstantSteps times;
  ServerPlan plan = plan_of(1'000);
  plan.engine.terms = {
      .device_scale = 2, .step_ns = 1'000, .sequence_ns = 100, .token_ns = 10, .arrival_ns = 5'700};
  const ServerRecord record = simulated(plan, requests(1, {100, 3}), times);
  const double prefill = 2 * times.ns + 1'000 + 100 + 10 * 100, decode = 2 * times.ns + 1'100;
  EXPECT_NEAR(ttft_ns(record, 0), 5'700 + prefill, 1e-3);
  EXPECT_NEAR(static_cast<double>(record.requests[0].end_ps) * 1e-3, 5'700 + prefill + 2 * decode,
              1e-3);
}

TEST(Server, prompts_share_steps_with_tokens) {
  const test::ConstantSteps times;
  // The second prompt comes in the middle of the first one's output and passes in one step.
  Load load = requests(2, {100, 10});
  load.clients = 0;
  load.requests[1].arrival_ps = 3'500'000'000;
  const ServerRecord record = simulated(plan_of(1'000), load, times);
  EXPECT_NEAR(ttft_ns(record, 1), 0.5e6 + 1e6, 1e-3) << "half a step, and its own";
  EXPECT_EQ(record.requests[0].end_ps, 10'000'000'000) << "the other does not notice";
}

TEST(Server, a_common_prefix_is_computed_once) {
  const test::ToySteps times;
  Load load = load_of(
      {.shape = {512, 4}, .requests = 8, .clients = 1, .prefix_tokens = 256, .prefix_share = 1});
  const ServerRecord with = simulated(plan_of(1'000), load, times);
  EXPECT_EQ(with.engines[0].prompt_tokens, 512 + 7 * 256);
  EXPECT_EQ(with.engines[0].kv.reused, 7 * 256 / 16);
  EXPECT_LT(ttft_ns(with, 1), ttft_ns(with, 0));
  ServerPlan without = plan_of(1'000);
  without.engine.keeps_prefixes = false;
  EXPECT_EQ(simulated(without, load, times).engines[0].prompt_tokens, 8 * 512);
}

TEST(Server, where_blocks_run_out_the_last_is_put_off_and_computed_again) {
  const test::ToySteps times;
  const ServerRecord tight = simulated(plan_of(40), requests(6, {64, 128}), times);
  EXPECT_GT(tight.engines[0].put_off, 0);
  EXPECT_GT(tight.engines[0].kv.recomputed, 0);
  EXPECT_GT(tight.engines[0].prompt_tokens, 6 * 64);
  EXPECT_EQ(summary_of(tight, {}).generated_tokens, 6 * 128);
  EXPECT_EQ(tight.requests[0].put_off, 0u) << "who came first stays";
  ServerPlan careful = plan_of(40);
  careful.engine.reserves_output = true;
  EXPECT_EQ(simulated(careful, requests(6, {64, 128}), times).engines[0].put_off, 0);
}

// The head of the queue would wait for 400 steps; computing 64 tokens again takes one.
TEST(Server, a_higher_priority_puts_others_off_only_where_that_gains) {
  const test::ToySteps times;
  Load load = requests(3, {64, 400});
  load.clients = 0;
  load.requests[2].arrival_ps = 20'000'000'000;
  load.requests[2].priority = 1;
  ServerPlan plan = plan_of(1'000);
  plan.engine.requests_max = 2;
  const ServerRecord gains = simulated(plan, load, times);
  EXPECT_EQ(gains.engines[0].put_off, 1);
  EXPECT_LT(ttft_ns(gains, 2), 1e6);
  plan.engine.hysteresis = 1e6;
  const ServerRecord never = simulated(plan, load, times);
  EXPECT_EQ(never.engines[0].put_off, 0);
  EXPECT_GT(ttft_ns(never, 2), 10e6);
}

TEST(Server, pools_hand_over_what_a_prompt_left_in_the_cache) {
  const test::ToySteps times;
  ServerPlan plan = plan_of(1'000);
  plan.mode = ServerMode::disaggregated;
  plan.prefill_workers = 2;
  plan.link_bytes_per_s = 1e9;
  plan.kv_bytes_per_token = 1'000;
  const ServerRecord record = simulated(plan, requests(4, {500, 20}), times);
  EXPECT_DOUBLE_EQ(record.handed_over_bytes, 4 * 500 * 1'000);
  ASSERT_EQ(record.engines.size(), 3u);
  EXPECT_EQ(record.engines[0].generated_tokens + record.engines[1].generated_tokens, 4)
      << "the first token comes with the prompt";
  EXPECT_EQ(record.engines[2].generated_tokens, 4 * 19);
  // 500 KB over 1 GB/s are 0.5 ms between the first token and the second.
  EXPECT_GE(static_cast<double>(record.requests[0].end_ps - record.requests[0].first_ps) * 1e-3,
            0.5e6 + 19 * *times.step_ns({0, 0, 0, 1}) - 1);
}

TEST(Server, a_shared_device_gives_each_its_part) {
  const test::ConstantSteps times;
  ServerPlan plan = plan_of(1'000);
  plan.mode = ServerMode::shared;
  plan.prefill_share = 0.25;
  const ServerRecord record = simulated(plan, requests(1, {100, 4}), times);
  EXPECT_NEAR(ttft_ns(record, 0), 4e6, 1e-3);
  EXPECT_NEAR(static_cast<double>(record.requests[0].end_ps) * 1e-3, 4e6 + 3e6 / 0.75, 1);
  EXPECT_EQ(record.handed_over_bytes, 0);
}

TEST(Server, a_cold_start_is_apart_from_the_steps) {
  const test::ConstantSteps times;
  ServerPlan plan = plan_of(1'000);
  plan.cold_start = {.weight_bytes = 2e9, .bytes_per_s = 1e9, .other_s = 3};
  const ServerRecord record = simulated(plan, requests(1, {100, 2}), times);
  EXPECT_EQ(record.cold_start_ps, 5'001'000'000'000);
  double one_time = 0, steps = 0;
  for (const auto& e : record.timeline.events) {
    if (e.resource == simulate::TimelineEvent::none) continue;
    (e.phase == simulate::TimelinePhase::one_time ? one_time : steps) +=
        events::seconds_of(e.end_ps - e.start_ps);
  }
  EXPECT_DOUBLE_EQ(one_time, 5);
  EXPECT_DOUBLE_EQ(steps, 0.002);
}

TEST(Server, a_request_moves_where_steps_are_shorter_if_that_gains) {
  const test::ToySteps times;
  // Engine 0 gets every long request: they come while engine 1 has as many short ones.
  Load load = requests(16, {64, 600});
  for (std::size_t i = 1; i < 16; i += 2) load.requests[i].output_tokens = 2;
  ServerPlan plan = plan_of(10'000);
  plan.engines = 2;
  plan.link_bytes_per_s = 1e11;
  plan.kv_bytes_per_token = 1'000;
  plan.migrates = true;
  const ServerRecord cheap = simulated(plan, load, times);
  EXPECT_GT(cheap.migrations, 0);
  plan.link_bytes_per_s = 1e3;
  EXPECT_EQ(simulated(plan, load, times).migrations, 0) << "the link is too slow";
}

std::string refusal_of(const ServerPlan& plan, const Load& load) {
  try {
    simulated(plan, load, test::ConstantSteps());
  } catch (const Error& error) {
    return error.line();
  }
  return "simulated";
}

TEST(Server, what_cannot_be_simulated_is_refused_before_it_begins) {
  says(refusal_of(plan_of(9), requests(1, {100, 50})), "needs 10 KV blocks, and an engine has 9");
  says(refusal_of(plan_of(0), requests(1, {1, 1})), "0 blocks");
  ServerPlan plan = plan_of(1'000);
  plan.work_max = 1'000;
  says(refusal_of(plan, requests(100, {10, 100})), "nothing was simulated");
  plan = plan_of(1'000);
  plan.mode = ServerMode::disaggregated;
  says(refusal_of(plan, requests(1, {1, 2})), "without a link");
}

}  // namespace
}  // namespace halmark::serving
