// What holds of every load and plan, at every instant.

#include "model/spec/model_spec.hpp"
#include "simulate/serving/cache_room.hpp"
#include "simulate/serving/serving_json.hpp"
#include "simulate/serving/summary.hpp"
#include "tests/checkout.hpp"
#include "toy_steps.hpp"

namespace halmark::serving {
namespace {

struct Case {
  ServerPlan plan;
  Load load;
};

Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  };
  Case out;
  out.plan = test::plan_of(40 + below(400));
  EnginePlan& engine = out.plan.engine;
  engine.token_budget = 32 + below(1'000);
  engine.chunks_prompts = below(4) > 0;
  engine.reserves_output = below(4) == 0;
  engine.requests_max = below(3) == 0 ? 1 + below(20) : 0;
  engine.terms = {.step_ns = 1e4, .arrival_ns = below(2) == 0 ? 0 : 5e5};
  out.plan.mode = static_cast<ServerMode>(below(3));
  out.plan.engines = static_cast<int>(1 + below(3));
  out.plan.prefill_workers = static_cast<int>(1 + below(2));
  out.plan.decode_workers = static_cast<int>(1 + below(2));
  out.plan.link_bytes_per_s = 1e10;
  out.plan.kv_bytes_per_token = 1'000;
  out.plan.migrates = below(2) == 0 && out.plan.mode == ServerMode::aggregated;
  out.load = load_of({.arrivals = static_cast<Arrivals>(below(3)),
                      .shape = {1 + below(300), 1 + below(120)},
                      .requests = 60,
                      .clients = 1 + below(30),
                      .rate_per_s = 20.0 + static_cast<double>(below(400)),
                      .variation = 2,
                      .seed = seed});
  for (RequestPlan& r : out.load.requests) {
    r.priority = static_cast<std::int32_t>(below(2));
    if (below(2) == 0) r.prefix = below(3), r.prefix_tokens = below(r.input_tokens + 1);
  }
  return out;
}

constexpr std::uint64_t seeds = 200;

TEST(ServerInvariants, blocks_are_conserved_and_memory_holds_at_every_instant) {
  const test::ToySteps times;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case c = random_case(seed);
    Picoseconds before = 0;
    test::simulated(c.plan, c.load, times, [&](Picoseconds now, const auto& engines) {
      EXPECT_GE(now, before);
      before = now;
      for (const Engine* engine : engines) {
        const KvBlocks& blocks = engine->blocks();
        ASSERT_TRUE(blocks.is_conserved()) << seed;
        ASSERT_LE(blocks.held() + blocks.kept(), c.plan.engine.blocks) << seed;
        std::int64_t own = 0;
        for (const Live& r : engine->batch()) own += r.blocks.own;
        ASSERT_LE(own, blocks.held()) << seed;
      }
    });
  }
}

TEST(ServerInvariants, work_is_throughput_times_time) {
  const test::ToySteps times;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case c = random_case(seed);
    const ServerRecord record = test::simulated(c.plan, c.load, times);
    const ServerSummary s = summary_of(record, {});
    std::int64_t asked = 0, generated = 0, prompts = 0, computed = 0, reused = 0;
    for (const RequestPlan& r : c.load.requests)
      asked += r.output_tokens, prompts += r.input_tokens;
    for (const EngineRecord& e : record.engines) {
      generated += e.generated_tokens, computed += e.prompt_tokens;
      EXPECT_LE(e.busy_ps, record.makespan_ps);
    }
    // Two engines of a pair have one pool, whose counters both report.
    for (std::size_t e = 0; e < record.engines.size(); ++e) {
      if (c.plan.mode == ServerMode::shared && e % 2 == 1) continue;
      reused += record.engines[e].kv.reused;
    }
    EXPECT_NEAR(s.tokens_per_s * s.makespan_s, static_cast<double>(asked), 1e-6);
    EXPECT_EQ(generated, asked) << "no token is made twice or lost, seed " << seed;
    EXPECT_GE(computed + reused * c.plan.engine.block_tokens, prompts) << seed;
  }
}

TEST(ServerInvariants, no_event_begins_before_its_cause_has_ended) {
  const test::ToySteps times;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case c = random_case(seed);
    const simulate::Timeline t = test::simulated(c.plan, c.load, times).timeline;
    std::vector<Picoseconds> free_at(t.resources.size(), 0);
    Picoseconds critical = 0, last = 0;
    for (std::size_t i = 0; i < t.events.size(); ++i) {
      const auto& e = t.events[i];
      ASSERT_LE(e.start_ps, e.end_ps);
      ASSERT_LT(e.actor, t.actors.size());
      ASSERT_LT(e.label, t.labels.size());
      if (e.cause != simulate::TimelineEvent::none) {
        ASSERT_LT(e.cause, i);
        ASSERT_LE(t.events[e.cause].end_ps, e.start_ps) << seed << ' ' << t.labels[e.label];
      }
      if (e.resource != simulate::TimelineEvent::none) {
        ASSERT_LE(free_at[e.resource], e.start_ps) << "one at a time";
        free_at[e.resource] = e.end_ps;
        last = std::max(last, e.end_ps);
      }
      if (e.is_critical) critical += e.end_ps - e.start_ps;
    }
    EXPECT_EQ(last, t.makespan_ps);
    EXPECT_EQ(critical, t.makespan_ps) << "the critical path has no gap, seed " << seed;
    for (const auto& r : t.resources) {
      EXPECT_LE(r.busy_ps, t.makespan_ps);
      if (!r.is_link) continue;
      EXPECT_LE(r.bytes, r.bytes_per_s * events::seconds_of(r.busy_ps) * 1.000001 + 1);
    }
  }
}

TEST(ServerInvariants, the_same_again_gives_the_same_events) {
  const test::ToySteps times;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case c = random_case(seed);
    const ServerRecord a = test::simulated(c.plan, c.load, times);
    const ServerRecord b = test::simulated(c.plan, c.load, times);
    EXPECT_EQ(events_text(a.timeline), events_text(b.timeline));
  }
}

// A known demonstration page reclaims more bytes than its cache has. Qwen3-32B keeps 2 x 64 layers
// x 8 heads x 128 x 2 bytes of a token: 256 KiB.
TEST(TenContradictions, reclaimed_bytes_are_blocks_and_no_more_than_the_cache) {
  const ModelSpec spec = load_model("qwen3-32b", {halmark::test::in_source("/configs/models")});
  StepPricer steps(
      spec,
      [](const Operator&) {
        return KernelTime{1e3, 1e3, 1e3, 1e3, true};
      },
      nullptr, 0);
  const auto layout = steps.layout({.tp = 2}, Precision::uniform("bf16", Dtype::bf16));
  constexpr std::int64_t input = 500, output = 200, batch = 12;
  const CacheRoom room = cache_room(steps, layout, 36'000'000'000, 512, 16, input + output);
  ASSERT_GT(room.blocks, 100);
  EXPECT_NEAR(room.kv_bytes_per_token, 262'144, 0.01 * 262'144) << "the last block is not full";
  EXPECT_LE(static_cast<double>(room.rank_weight_bytes + room.rank_kept_bytes) +
                static_cast<double>(room.blocks) * room.rank_block_bytes,
            36e9);
  ServerPlan plan = test::plan_of(room.blocks);
  plan.engine.block_bytes = room.block_bytes;
  plan.engine.requests_max = batch;
  // Three of eight begin with the same tokens, and too many are there for the cache.
  const Load load = load_of({.shape = {input, output},
                             .requests = 100,
                             .clients = 60,
                             .prefix_tokens = 320,
                             .prefix_share = 0.4});
  LayoutClock clock(steps, layout);
  const double cache_bytes = static_cast<double>(batch) * (input + output + 15) * 262'144 * 1.01;
  std::int64_t before = 0;
  const ServerRecord record =
      simulate_server(plan, load, clock, clock, [&](Picoseconds, const auto& engines) {
        const KvBlocks& blocks = engines[0]->blocks();
        const std::int64_t reclaimed = blocks.counters().freed + blocks.counters().evicted;
        // What is given back at one instant was held by the batch of one instant.
        EXPECT_LE(kv_bytes(plan.engine, reclaimed - before), cache_bytes);
        EXPECT_LE(kv_bytes(plan.engine, blocks.held()), cache_bytes);
        before = reclaimed;
      });
  const KvCounters& kv = record.engines[0].kv;
  EXPECT_GT(kv.freed + kv.evicted, 1'000);
  EXPECT_LE(kv.freed + kv.evicted, kv.allocated) << "nothing is reclaimed that was not written";
  EXPECT_LE(record.engines[0].blocks_peak, room.blocks);
}

TEST(ServerInvariants, what_is_reclaimed_was_written_before) {
  const test::ToySteps times;
  std::int64_t reclaimed = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Case c = random_case(seed);
    for (const EngineRecord& e : test::simulated(c.plan, c.load, times).engines) {
      reclaimed += e.kv.evicted + e.kv.recomputed;
      EXPECT_LE(e.kv.freed + e.kv.evicted, e.kv.allocated);
      EXPECT_LE(e.blocks_peak, c.plan.engine.blocks);
    }
  }
  EXPECT_GT(reclaimed, 100) << "else the test says nothing";
}

}  // namespace
}  // namespace halmark::serving
