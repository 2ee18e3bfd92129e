// What a server is said to have done: figures of requests, and the document of them.

#include <algorithm>
#include <cmath>

#include "core/numeric/random.hpp"
#include "simulate/serving/serving_json.hpp"
#include "simulate/serving/summary.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

constexpr Picoseconds ms = 1'000'000'000;

// First tokens 1, 2, 3 and 4 ms behind the request; the last token of each 4 ms behind the first.
ServerRecord four_requests() {
  ServerRecord out;
  for (std::int64_t i = 0; i < 4; ++i) {
    out.requests.push_back({.arrival_ps = i * ms,
                            .first_ps = (2 * i + 1) * ms,
                            .end_ps = (2 * i + 5) * ms,
                            .input_tokens = 100,
                            .output_tokens = i == 3 ? 1 : 1 + (i + 1)});
  }
  out.makespan_ps = 20 * ms;
  return out;
}

TEST(ServerSummary, is_of_all_requests_and_their_times) {
  const ServerSummary s = summary_of(four_requests(), {});
  EXPECT_EQ(s.ttft.n, 4u);
  EXPECT_DOUBLE_EQ(s.ttft.mean, 2.5e6);
  EXPECT_DOUBLE_EQ(s.ttft.p50, 2.5e6);
  EXPECT_DOUBLE_EQ(s.ttft.p90, 3.7e6) << "at 0.9 x 3 between the sorted four";
  EXPECT_NEAR(s.ttft.p99, 3.97e6, 1);
  // 4 ms for one, two and three later tokens; the fourth has none.
  EXPECT_EQ(s.tpot.n, 3u);
  EXPECT_NEAR(s.tpot.mean, (4e6 + 2e6 + 4e6 / 3) / 3, 1e-3);
  EXPECT_DOUBLE_EQ(s.tpot.p50, 2e6);
  EXPECT_DOUBLE_EQ(s.request.mean, 6.5e6);
  EXPECT_DOUBLE_EQ(s.makespan_s, 0.02);
  EXPECT_DOUBLE_EQ(s.requests_per_s, 200);
  EXPECT_EQ(s.generated_tokens, 2 + 3 + 4 + 1);
  EXPECT_DOUBLE_EQ(s.tokens_per_s, 500);
  EXPECT_EQ(s.prompt_tokens, 400);
}

// One server that takes a second for each request, requests by chance: D. G. Kendall's M/D/1, whose
// queue is finite below one request a second and grows without end above.
ServerRecord queue_at(double rate_per_s, std::uint64_t seed, std::size_t requests = 200) {
  ServerRecord out;
  double arrival_s = 0, free_s = 0;
  for (std::size_t i = 0; i < requests; ++i) {
    arrival_s += -std::log1p(-uniform_01(hash_u64(seed, i))) / rate_per_s;
    free_s = std::max(free_s, arrival_s) + 1;
    out.requests.push_back({.arrival_ps = events::picoseconds(arrival_s),
                            .first_ps = events::picoseconds(free_s),
                            .end_ps = events::picoseconds(free_s),
                            .input_tokens = 1,
                            .output_tokens = 1});
  }
  out.makespan_ps = out.requests.back().end_ps;
  return out;
}

TEST(Saturation, is_a_queue_that_only_grows) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const double rate : {0.1, 0.4, 0.6}) {
      EXPECT_FALSE(saturation_of(queue_at(rate, seed)).is_saturated) << rate << ' ' << seed;
    }
    for (const double rate : {1.4, 2.0, 10.0, 1000.0}) {
      const Saturation s = saturation_of(queue_at(rate, seed));
      EXPECT_TRUE(s.is_saturated) << rate << ' ' << seed;
      EXPECT_NEAR(s.offered_per_s, rate, 0.3 * rate);
      EXPECT_NEAR(s.served_per_s, 1, 0.05);
    }
  }
  EXPECT_FALSE(saturation_of(queue_at(1e15, 1)).is_saturated) << "all at once: a batch";
  EXPECT_FALSE(saturation_of(queue_at(10, 1, 5)).is_saturated) << "too few to tell";
  EXPECT_FALSE(saturation_of({}).is_saturated);
}

TEST(ServerSummary, leaves_the_first_out_of_times_alone) {
  const ServerSummary s = summary_of(four_requests(), {.ttft_ns = 3e6}, 2);
  EXPECT_EQ(s.ttft.n, 2u);
  EXPECT_DOUBLE_EQ(s.ttft.mean, 3.5e6);
  EXPECT_EQ(s.generated_tokens, 10);
  EXPECT_DOUBLE_EQ(*s.goodput_share, 0.5);
  EXPECT_DOUBLE_EQ(*s.goodput_requests_per_s, 100);
  const ServerSummary none = summary_of(four_requests(), {.ttft_ns = 3e6}, 4);
  EXPECT_EQ(none.ttft.n, 0u);
  EXPECT_FALSE(none.goodput_share);
}

TEST(ServerSummary, good_is_who_keeps_every_level_that_was_named) {
  const auto share = [](const Levels& levels) {
    return *summary_of(four_requests(), levels).goodput_share;
  };
  EXPECT_DOUBLE_EQ(share({.ttft_ns = 2e6}), 0.5) << "a level is kept at itself";
  EXPECT_DOUBLE_EQ(share({.tpot_ns = 2e6}), 0.75) << "one token keeps every TPOT";
  EXPECT_DOUBLE_EQ(share({.ttft_ns = 2e6, .tpot_ns = 2e6}), 0.25);
  EXPECT_DOUBLE_EQ(share({.ttft_ns = 0.5e6, .tpot_ns = 9e6}), 0);
}

TEST(ServerSummary, nothing_that_took_no_time_has_a_rate) {
  const ServerSummary s = summary_of({}, {.ttft_ns = 1});
  EXPECT_EQ(s.requests_per_s, 0);
  EXPECT_EQ(s.tokens_per_s, 0);
  EXPECT_FALSE(s.goodput_share);
}

TEST(ServerDocument, has_every_figure_with_its_unit) {
  ServerPlan plan;
  plan.mode = ServerMode::disaggregated;
  plan.engine.blocks = 50;
  plan.engine.block_bytes = 1000;
  plan.prefill = plan.engine;
  plan.prefill->blocks = 30;
  plan.prefill->block_bytes = 500;
  ServerRecord record = four_requests();
  record.in_system = 1.5;
  record.migrations = 3;
  record.handed_over_bytes = 4e6;
  record.cold_start_ps = 7 * ms;
  record.engines.push_back(
      {.name = "prefill worker 0",
       .steps = 4,
       .put_off = 1,
       .prompt_tokens = 400,
       .generated_tokens = 4,
       .busy_ps = 12 * ms,
       .blocks_peak = 9,
       .kv = {.allocated = 20, .reused = 2, .freed = 10, .evicted = 6, .recomputed = 5}});
  record.engines.push_back({.name = "decode worker 0", .kv = {.evicted = 6}});
  const Json document = server_json(plan, record, summary_of(record, {.ttft_ns = 2e6}));
  const Json& prefill = document["engines"][0];
  EXPECT_EQ(prefill, Json::parse(R"({"name": "prefill worker 0", "steps": 4, "busy_s": 0.012,
      "prompt_tokens": 400, "generated_tokens": 4, "put_off": 1,
      "kv": {"blocks": 30, "block_tokens": 16, "block_bytes": 500.0, "blocks_peak": 9,
             "allocated": 20, "reused": 2, "freed": 10, "evicted": 6, "recomputed": 5,
             "evicted_bytes": 3000.0}})"));
  EXPECT_EQ(document["engines"][1]["kv"]["blocks"], 50);
  EXPECT_EQ(document["engines"][1]["kv"]["evicted_bytes"], 6000.0);
  EXPECT_EQ(document["mode"], "disaggregated");
  EXPECT_EQ(document["requests"], 4);
  EXPECT_EQ(document["makespan_s"], 0.02);
  EXPECT_EQ(document["ttft"]["n"], 4);
  EXPECT_EQ(document["ttft"]["mean_ms"], 2.5);
  EXPECT_EQ(document["ttft"]["p50_ms"], 2.5);
  EXPECT_DOUBLE_EQ(document["ttft"]["p90_ms"], 3.7);
  EXPECT_DOUBLE_EQ(document["ttft"]["p99_ms"], 3.97);
  EXPECT_EQ(document["tpot"]["p50_ms"], 2.0);
  EXPECT_EQ(document["request"]["mean_ms"], 6.5);
  EXPECT_EQ(document["tokens_per_s"], 500.0);
  EXPECT_EQ(document["in_system_mean"], 1.5);
  EXPECT_EQ(document["goodput_requests_per_s"], 100.0);
  EXPECT_EQ(document["goodput_share"], 0.5);
  EXPECT_EQ(document["migrations"], 3);
  EXPECT_EQ(document["handed_over_bytes"], 4e6);
  EXPECT_EQ(document["cold_start_s"], 0.007);
}

TEST(ServerDocument, what_there_is_not_is_null) {
  ServerRecord record;
  record.engines.push_back({.name = "engine 0"});
  const Json document = server_json({}, record, summary_of(record, {}));
  EXPECT_EQ(document["mode"], "aggregated");
  for (const char* const key :
       {"ttft", "tpot", "request", "goodput_share", "goodput_requests_per_s", "cold_start_s"}) {
    EXPECT_TRUE(document.at(key).is_null()) << key;
  }
  ServerPlan shared;
  shared.mode = ServerMode::shared;
  EXPECT_EQ(server_json(shared, record, {})["mode"], "shared");
}

}  // namespace
}  // namespace halmark::serving
