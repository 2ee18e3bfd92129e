// A server on a shipped device, simulated: what the layout becomes, what a rank may hold, and the
// figures against closed forms. No device is opened.
#include "tests/unit/error_of.hpp"
#include "tune/serving/served_simulation.hpp"

#include <gmock/gmock.h>

#include "tests/checkout.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using testing::HasSubstr;

const Folders models{halmark::test::in_source("/configs/models")};
const Folders devices{halmark::test::in_source("/configs/devices")};

ServingQuestion question() {
  ServingQuestion out;
  out.model = "llama-3.1-8b";
  out.dtype = "bf16";
  out.latency.device = "h100-sxm";
  out.load.shape = {256, 32};
  out.load.requests = 12;
  out.load.clients = 4;
  return out;
}

ServedSimulation run(const ServingQuestion& q) { return simulate_serving(q, models, devices); }

std::string refusal_of(const ServingQuestion& q) {
  return error_of([&] { run(q); }).line();
}

TEST(ServedSimulation, tensor_parallelism_takes_the_devices_that_the_others_leave) {
  ServingQuestion q = question();
  q.devices = 4;
  EXPECT_EQ(run(q).configuration.parallel.tp, 4);
  q.dp = 2;
  const ServedSimulation two = run(q);
  EXPECT_EQ(two.configuration.parallel.tp, 2);
  EXPECT_EQ(two.plan.engines, 2);
  q.devices = 5;
  EXPECT_THAT(refusal_of(q), HasSubstr("5 devices, and the layout has 2"));
  q.devices = 4;
  q.tp = 4;
  EXPECT_THAT(refusal_of(q), HasSubstr("4 devices, and the layout has 8"));
  q = question();
  q.tp = 0;
  EXPECT_THAT(refusal_of(q), HasSubstr("a layout of"));
}

TEST(ServedSimulation, the_workers_of_both_kinds_are_devices) {
  ServingQuestion q = question();
  q.mode = "disaggregated";
  q.prefill_workers = 2;
  q.decode_workers = 3;
  q.prefill.tp = 2;
  q.link_gb_per_s = 25;
  q.devices = 2 * 2 + 3;
  const ServedSimulation s = run(q);
  EXPECT_EQ(s.plan.mode, serving::ServerMode::disaggregated);
  EXPECT_EQ(s.plan.prefill_workers, 2);
  EXPECT_EQ(s.plan.decode_workers, 3);
  EXPECT_DOUBLE_EQ(s.plan.link_bytes_per_s, 25e9) << "every rank of the narrower side sends";
  EXPECT_FALSE(s.closed_form);
  q.devices = 6;
  EXPECT_THAT(
      refusal_of(q),
      HasSubstr(
          "6 devices, and the layout has 7: prefill 2x dp1 tp2 pp1 ep1 decode 3x dp1 tp1 pp1 ep1"));
  q.devices = 0;
  q.tp = 2;
  EXPECT_DOUBLE_EQ(run(q).plan.link_bytes_per_s, 50e9);
  q.dp = 2;  // each replica has a batch of its own; of those that prefill there is one
  q.prefill.dp = 1;
  const ServedSimulation replicas = run(q);
  EXPECT_EQ(replicas.plan.prefill_workers, 2);
  EXPECT_EQ(replicas.plan.decode_workers, 3 * 2);
  q.devices = 2 * 2 + 3 * 4;
  EXPECT_EQ(run(q).configuration.parallel, (Parallel{.dp = 2, .tp = 2}));
  q.mode = "aggregated";
  EXPECT_THAT(refusal_of(q), HasSubstr("it is read only with --mode disaggregated"));
  q = question();
  q.mode = "disaggregated";
  q.prefill.tp = -1;
  EXPECT_THAT(refusal_of(q), HasSubstr("a degree of -1"));
  q = question();
  q.mode = "split";
  EXPECT_THAT(refusal_of(q), HasSubstr("'split' is no way to serve"));
}

TEST(ServedSimulation, what_a_load_or_a_mode_does_not_read_is_refused) {
  const std::pair<const char*, std::function<void(ServingQuestion&)>> rows[] = {
      {"--link-gb-per-s", [](auto& q) { q.link_gb_per_s = 25; }},
      {"--prefill-share", [](auto& q) { q.prefill_share = 0.5; }},
      {"--prefill-*", [](auto& q) { q.prefill.tp = q.tp; }},
      {"--decode-workers", [](auto& q) { q.decode_workers = 2; }},
      {"--migrate", [](auto& q) { q.migrates = true; }},
      {"--burst", [](auto& q) { q.load.variation = 2; }},
      {"--concurrency", [](auto& q) { q.has_rate = true, q.load.clients = 4; }},
      {"--at-once", [](auto& q) { q.has_rate = q.begins_at_once = true; }},
      {"--spread", [](auto& q) { q.has_rate = q.begins_spread = true; }},
      {"--rate", [](auto& q) { q.trace = "a.csv", q.has_rate = true; }},
      {"--input, --output", [](auto& q) { q.trace = "a.csv"; }},
      {"--prefix-tokens", [](auto& q) { q.load.prefix_tokens = 16; }},
      {"--prefix-share", [](auto& q) { q.load.prefix_share = 1; }},
  };
  for (const auto& [option, change] : rows) {
    SCOPED_TRACE(option);
    ServingQuestion q = question();
    q.load.clients = 1;
    change(q);
    EXPECT_THAT(refusal_of(q), HasSubstr(option));
    EXPECT_THAT(refusal_of(q), HasSubstr("it is read only"));
  }
  ServingQuestion q = question();
  q.mode = "disaggregated";
  q.link_gb_per_s = -5;
  EXPECT_THAT(refusal_of(q), HasSubstr("-5 GB/s"));
}

// 32 layers of 8 KV heads of 128, two bytes each, keys and values: 128 KiB a token.
TEST(ServedSimulation, what_weights_leave_of_the_memory_is_cache) {
  ServingQuestion q = question();
  const ServedSimulation s = run(q);
  EXPECT_EQ(s.room.kv_bytes_per_token, 32 * 8 * 128 * 2 * 2);
  EXPECT_EQ(s.memory_bytes, 76'526'007'091) << "0.9 of 79.19 GiB";
  const double cache =
      static_cast<double>(s.memory_bytes - s.room.rank_weight_bytes - s.room.rank_kept_bytes);
  EXPECT_NEAR(static_cast<double>(s.plan.engine.blocks) * 16 * s.room.kv_bytes_per_token / cache, 1,
              0.01);
  EXPECT_EQ(s.plan.engine.token_budget, 8192) << "where nobody states one";
  q.engine.blocks = 100;
  EXPECT_EQ(run(q).plan.engine.blocks, 100);
  q.engine.blocks = s.plan.engine.blocks + 1;
  EXPECT_THAT(refusal_of(q), HasSubstr("KV blocks beside"));
  q = question();
  q.memory_fraction = 0.1;
  EXPECT_THAT(refusal_of(q), HasSubstr("no KV block"));
}

// Clients that come evenly over a request find what the closed form says.
TEST(ServedSimulation, a_closed_loop_has_the_figures_of_its_closed_form) {
  ServingQuestion q = question();
  q.load.requests = 40;
  q.begins_spread = true;
  const ServedSimulation s = run(q);
  ASSERT_TRUE(s.closed_form);
  EXPECT_NEAR(s.summary.request.mean / s.closed_form->request_ns, 1, 0.05);
  EXPECT_NEAR(s.summary.tpot.mean / s.closed_form->tpot_ns, 1, 0.05);
  EXPECT_EQ(s.record.requests.size(), 40u);
  // They begin evenly over one request.
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(static_cast<double>(s.record.requests[i].arrival_ps) * 1e-3,
                static_cast<double>(i) / 4 * s.closed_form->request_ns, 1);
  }
  q.begins_spread = false;
  q.begins_at_once = true;
  const ServedSimulation at_once = run(q);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(at_once.record.requests[i].arrival_ps, 0);
  // As the terms of an engine were fitted: together, eight requests each.
  q.begins_at_once = false;
  q.load.requests = 0;
  q.latency.sources = default_sources();
  q.latency.engine.name = "vllm";
  const ServedSimulation fitted = run(q);
  EXPECT_EQ(fitted.record.requests.size(), 32u);
  EXPECT_EQ(fitted.record.requests[3].arrival_ps, 0);
  q = question();
  q.dp = 3;  // four clients do not divide by three engines
  EXPECT_FALSE(run(q).closed_form);
  q = question();
  q.load.clients = 1;
  q.has_rate = true;
  EXPECT_FALSE(run(q).closed_form);
}

TEST(ServedSimulation, a_cold_start_reads_the_weights_of_each_engine_first) {
  ServingQuestion q = question();
  q.begins_at_once = true;
  const ServedSimulation warm = run(q);
  EXPECT_EQ(warm.plan.cold_start.bytes_per_s, 0);
  q.cold_start = "disk:2.5";
  q.cold_start_other_s = 3;
  const ServedSimulation cold = run(q);
  EXPECT_EQ(cold.plan.cold_start.from, "disk");
  EXPECT_EQ(cold.plan.cold_start.bytes_per_s, 2.5e9);
  EXPECT_EQ(cold.plan.cold_start.weight_bytes, cold.room.weight_bytes);
  const double wait_s = cold.room.weight_bytes / 2.5e9 + 3;
  EXPECT_NEAR(cold.summary.makespan_s - warm.summary.makespan_s, wait_s, 0.02 * wait_s);
  for (const char* text : {"disk", "disk:", "disk:0", "disk:-1", "disk:x", "tape:2", "disk:inf"}) {
    q.cold_start = text;
    EXPECT_THAT(refusal_of(q), HasSubstr("is no source of weights")) << text;
  }
}

TEST(ServedSimulation, levels_are_read_as_durations) {
  ServingQuestion q = question();
  EXPECT_FALSE(run(q).summary.goodput_share);
  q.ttft = "10s";
  q.tpot = "1us";
  const ServedSimulation s = run(q);
  EXPECT_EQ(s.levels.ttft_ns, 10e9);
  EXPECT_EQ(s.levels.tpot_ns, 1e3);
  EXPECT_EQ(s.summary.goodput_share, 0) << "no token comes within a microsecond";
  q.tpot = "10s";
  EXPECT_EQ(run(q).summary.goodput_share, 1);
}

TEST(ServedSimulation, says_what_its_times_rest_on) {
  const ServedSimulation s = run(question());
  EXPECT_THAT(s.basis.front(), HasSubstr("(h100-sxm)"));
  EXPECT_THAT(s.basis, testing::Contains(HasSubstr("engine: no host or scheduler terms")));
  ServingQuestion q = question();
  q.latency.engine = parse_engine("vllm");
  const ServedSimulation fitted = run(q);
  EXPECT_THAT(fitted.basis, testing::Contains(HasSubstr("its interval does not hold")));
  EXPECT_FALSE(fitted.keeps_ttft) << "the interval is of times that tables gave";
  EXPECT_GT(fitted.summary.request.mean, s.summary.request.mean) << "terms only add";
  q.latency.engine.release = "0.0.1";
  EXPECT_THAT(run(q).basis, testing::Contains(HasSubstr("too few rows of 0.0.1 with this model")));
}

// 100 blocks of 16 tokens hold twelve requests of 128.
TEST(ServedSimulation, says_where_requests_wait_for_room_in_the_cache) {
  ServingQuestion q = question();
  q.latency.engine = parse_engine("vllm");
  q.engine.blocks = 100;
  q.load.shape = {100, 28};
  for (const auto& [clients, is_full] : {std::pair{12, false}, {13, true}}) {
    q.load.clients = clients;
    const bool is_said = testing::Value(
        run(q).basis, testing::Contains(HasSubstr("requests waiting for room in the cache")));
    EXPECT_EQ(is_said, is_full) << clients;
  }
}

TEST(NamedEngine, has_a_release_or_none) {
  const NamedEngine named = parse_engine("trtllm:1.2.0rc6.post2");
  EXPECT_EQ(named.name, "trtllm");
  EXPECT_EQ(named.release, "1.2.0rc6.post2");
  for (const char* name : {"vllm", ""}) {
    EXPECT_EQ(parse_engine(name).name, name);
    EXPECT_EQ(parse_engine(name).release, "");
  }
  EXPECT_EQ(error_of([] { parse_engine("vllm:"); }).line(),
            "--engine: 'vllm:' names no release; vllm, vllm:0.19.0");
}

}  // namespace
}  // namespace halmark::tune
