// What is refused before anything is simulated, with the figure that is wrong, and what is not.

#include "toy_steps.hpp"

namespace halmark::serving {
namespace {

Load one(std::int64_t input, std::int64_t output) { return load_of({.shape = {input, output}}); }

std::string refusal(const ServerPlan& plan, const Load& load = one(100, 50)) {
  try {
    check_server(plan, load);
  } catch (const Error& error) {
    return error.line();
  }
  return "accepted";
}

std::string refusal_after(const std::function<void(ServerPlan&)>& change) {
  ServerPlan plan = test::plan_of(10);
  change(plan);
  return refusal(plan);
}

TEST(ServerChecks, engines_have_a_budget_blocks_and_tokens_in_them) {
  EXPECT_EQ(refusal_after([](ServerPlan&) {}), "accepted");
  EXPECT_EQ(refusal_after([](ServerPlan& p) { p.engine.token_budget = 1; }), "accepted");
  EXPECT_EQ(refusal_after([](ServerPlan& p) { p.engine.token_budget = 0; }),
            "a step of 0 tokens; --token-budget is 1 or more");
  EXPECT_EQ(refusal_after([](ServerPlan& p) { p.engine.block_tokens = 0; }),
            "KV blocks of 0 tokens; --block-tokens is 1 or more");
  EXPECT_THAT(
      refusal_after([](ServerPlan& p) { p.engine.block_tokens = 1, p.engine.blocks = 150; }),
      "accepted");
  EXPECT_EQ(refusal_after([](ServerPlan& p) { p.engine.blocks = 0; }),
            "a KV cache of 0 blocks; the weights leave no room, or --kv-blocks is below 1");
  ServerPlan smallest = test::plan_of(1);
  EXPECT_EQ(refusal(smallest, one(8, 8)), "accepted");
  says(refusal_after([](ServerPlan& p) { p.prefill = p.engine, p.prefill->blocks = 0; }),
       "a KV cache of 0 blocks");
}

TEST(ServerChecks, there_is_one_engine_of_each_at_least) {
  for (int ServerPlan::*const count :
       {&ServerPlan::engines, &ServerPlan::prefill_workers, &ServerPlan::decode_workers}) {
    ServerPlan plan = test::plan_of(10);
    plan.*count = 0;
    EXPECT_EQ(refusal(plan), "a server without engines; one of each at least");
  }
}

TEST(ServerChecks, what_moves_needs_a_link) {
  const auto pools = [](double bytes_per_s) {
    return [=](ServerPlan& p) {
      p.mode = ServerMode::disaggregated;
      p.link_bytes_per_s = bytes_per_s;
    };
  };
  EXPECT_EQ(refusal_after(pools(1)), "accepted");
  EXPECT_EQ(refusal_after(pools(0)),
            "prefill and decode workers without a link between them; state "
            "--link-gb-per-s, or a device file with a link");
  const auto moving = [](double bytes_per_s, ServerMode mode) {
    return [=](ServerPlan& p) {
      p.mode = mode;
      p.migrates = true;
      p.link_bytes_per_s = bytes_per_s;
    };
  };
  EXPECT_EQ(refusal_after(moving(1, ServerMode::aggregated)), "accepted");
  says(refusal_after(moving(0, ServerMode::aggregated)), "migration without a link");
  for (const ServerMode mode : {ServerMode::disaggregated, ServerMode::shared}) {
    says(refusal_after(moving(1, mode)), "migration in a server that is not aggregated");
  }
}

TEST(ServerChecks, both_engines_of_a_device_have_a_share) {
  const auto with = [](double share, ServerMode mode) {
    return refusal_after([=](ServerPlan& p) {
      p.mode = mode;
      p.prefill_share = share;
    });
  };
  EXPECT_EQ(with(0.01, ServerMode::shared), "accepted");
  EXPECT_EQ(with(0.99, ServerMode::shared), "accepted");
  says(with(0, ServerMode::shared), "a prefill share of 0; it lies between 0");
  says(with(1, ServerMode::shared), "a prefill share of 1;");
  EXPECT_EQ(with(1, ServerMode::aggregated), "accepted") << "which has no share";
}

TEST(ServerChecks, every_request_fits_into_the_cache) {
  EXPECT_EQ(refusal(test::plan_of(10), one(100, 60)), "accepted") << "160 tokens";
  Load second = load_of({.shape = {100, 60}, .requests = 2});
  second.requests[1].output_tokens = 61;
  EXPECT_EQ(refusal(test::plan_of(10), second),
            "request 1 of 100 + 61 tokens needs 11 KV blocks, and an engine has 10; more "
            "memory, more devices per engine, or shorter requests");
  ServerPlan pools = test::plan_of(100);
  pools.prefill = test::plan_of(7).engine;
  EXPECT_EQ(refusal(pools, one(112, 60)), "accepted") << "a prefill worker holds the prompt alone";
  says(refusal(pools, one(113, 60)), "needs 8 KV blocks, and an engine has 7");
}

// 513 tokens are two pieces of at most 512; seven tokens come behind each prompt.
TEST(ServerChecks, the_work_of_a_load_is_bounded) {
  ServerPlan plan = test::plan_of(100);
  const Load load = load_of({.shape = {513, 7}, .requests = 3});
  plan.work_max = 27;
  EXPECT_EQ(refusal(plan, load), "accepted");
  plan.work_max = 26.5;
  EXPECT_EQ(refusal(plan, load),
            "the load has 27 tokens and pieces to step over, and the limit is 26.5; ask "
            "for fewer --requests or a shorter trace: nothing was simulated");
  EXPECT_EQ(refusal(plan, {}), "a load without requests; ask for 1 or more");
}

}  // namespace
}  // namespace halmark::serving
