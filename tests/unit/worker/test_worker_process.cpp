#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "core/numeric/statistics.hpp"
#include "host/process/barrier.hpp"
#include "host/worker_client.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "measure/sampling/interference.hpp"

namespace halmark {
namespace {

constexpr std::int64_t f32 = static_cast<std::int64_t>(Dtype::f32);

Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {
      "gemm",
      {{"m", m}, {"n", n}, {"k", k}, {"src_dtype", f32}, {"wei_dtype", f32}, {"dst_dtype", f32}}};
}

// A worker with the fake plugin loaded and its first device open.
class FakeWorker {
 public:
  explicit FakeWorker(const std::string& script = "", std::int64_t arena_bytes = 0) {
    WorkerOptions options;
    options.program = HALMARK_WORKER_PROGRAM;
    options.cpus = CpuSet{};
    if (!script.empty()) options.environment["HALMARK_FAKE_SCRIPT"] = script;
    if (arena_bytes > 0) {
      arena_ = SharedMemory::create("arena", arena_bytes, false);
      options.arena = &arena_;
    }
    auto started = Worker::start(options);
    if (!started) throw std::runtime_error(started.failure.reason);
    worker_ = std::move(*started);
    auto loaded = worker_->load(HALMARK_FAKE_PLUGIN);
    if (!loaded) throw std::runtime_error(loaded.failure.reason);
    auto opened = worker_->open(0);
    if (!opened) throw std::runtime_error(opened.failure.reason);
  }
  Worker* operator->() { return worker_.get(); }
  Worker& operator*() { return *worker_; }

 private:
  SharedMemory arena_;
  std::unique_ptr<Worker> worker_;
};

protocol::Stage stage_of(std::int64_t id, const Problem& problem, CacheMode mode, int sets) {
  protocol::Stage stage;
  stage.id = id;
  stage.problem = problem;
  stage.mode = mode;
  stage.sets = sets;
  stage.seed = 7;
  return stage;
}

protocol::SampleRequest count_samples(std::int64_t id, std::int64_t n) {
  protocol::SampleRequest request;
  request.id = id;
  request.rule.stop = protocol::Stop::count;
  request.rule.count = n;
  request.rule.repeat = 1;
  request.rule.warmup_cap_s = 0;
  return request;
}

// Naive product of the generated inputs of one set.
void expect_product(const Problem& given, const RevealAnswer& shown, int set, int input_set) {
  const Problem problem = complete_problem(given);
  const OpContract& contract = *find_contract("gemm");
  const auto operands = contract.operands(problem.params);
  const std::int64_t m = problem.params.at("m"), n = problem.params.at("n"),
                     k = problem.params.at("k");
  const GeneratedInputs inputs(7, operands, input_set);
  std::vector<double> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
  inputs.read(0, 0, 0, a);
  inputs.read(0, 1, 0, b);
  for (const protocol::RevealedPart& part : shown.revealed.parts) {
    if (part.set != set) continue;
    const std::byte* bytes = shown.part(part).data();
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
        }
        ASSERT_NEAR(load_element(Dtype::f32, bytes, i * n + j), sum, 1e-3) << i << ',' << j;
      }
    }
    return;
  }
  FAIL() << "set " << set << " was not revealed";
}

TEST(WorkerProgram, alone_it_says_who_starts_it_and_leaves_with_two) {
  FILE* pipe = popen(HALMARK_WORKER_PROGRAM " 2>&1 </dev/null", "r");
  ASSERT_NE(pipe, nullptr);
  std::array<char, 256> text{};
  const std::size_t got = fread(text.data(), 1, text.size() - 1, pipe);
  const int status = pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string line(text.data(), got);
  EXPECT_NE(line.find("started by halmark"), std::string::npos) << line;
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

class StagedGemm : public testing::TestWithParam<CacheMode> {};

TEST_P(StagedGemm, goes_through_the_whole_trial_with_true_outputs) {
  const CacheMode mode = GetParam();
  FakeWorker worker("", 8 << 20);
  const Problem problem = gemm(5, 7, 11);
  auto staged = worker->stage(stage_of(1, problem, mode, 3));
  ASSERT_TRUE(staged) << staged.failure.reason;
  EXPECT_EQ(staged->sets, mode == CacheMode::hot ? 1 : 3);
  EXPECT_EQ(staged->constants_shared, mode != CacheMode::rotate_all);
  EXPECT_GT(staged->one_time.create_ns, 0);
  EXPECT_GT(staged->one_time.pack_ns, 0);
  EXPECT_GT(staged->one_time.first_ns, 0);
  EXPECT_FALSE(staged->implementation.name.empty());

  auto first = worker->reveal({1, {0}});
  ASSERT_TRUE(first) << first.failure.reason;
  EXPECT_TRUE(first->revealed.inputs_intact && first->revealed.canaries_intact);
  expect_product(problem, *first, 0, 0);

  auto sampled = worker->sample(count_samples(1, 12));
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  ASSERT_EQ(sampled->samples.size(), 12u);
  EXPECT_EQ(sampled->measured.stop_rule, protocol::StopReason::count);
  EXPECT_EQ(sampled->measured.repeat, 1);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(sampled->samples[i].set, static_cast<int>(i) % staged->sets);
    EXPECT_GT(sampled->samples[i].wall_ns, 0);
    EXPECT_FALSE(sampled->samples[i].device_ns);
    if (i > 0) {
      EXPECT_GE(sampled->samples[i].begin_ns,
                sampled->samples[i - 1].begin_ns + sampled->samples[i - 1].wall_ns);
    }
  }
  EXPECT_TRUE(sampled->measured.clock_hz.before && sampled->measured.clock_hz.after);
  EXPECT_TRUE(sampled->measured.peak_flops.before && sampled->measured.peak_flops.after);
  EXPECT_EQ(sampled->measured.signals.size(), 6u);
  EXPECT_NE(sampled->measured.environment.find("google benchmark"), std::string::npos);

  const int last = staged->sets - 1;
  auto second = worker->reveal({1, {last}});
  ASSERT_TRUE(second) << second.failure.reason;
  expect_product(problem, *second, last, mode == CacheMode::rotate_all ? last : 0);
  EXPECT_TRUE(worker->drop(1));
}

INSTANTIATE_TEST_SUITE_P(Modes, StagedGemm,
                         testing::Values(CacheMode::hot, CacheMode::rotate_const,
                                         CacheMode::rotate_all),
                         [](const auto& mode) { return std::string(cache_mode_name(mode.param)); });

TEST(WorkerOrder, what_is_not_staged_cannot_be_used_and_the_worker_goes_on) {
  FakeWorker worker;
  for (const auto& failure :
       {worker->sample(count_samples(9, 3)).failure, worker->reveal({9, {0}}).failure,
        worker->drop(9).failure, worker->sequence({.steps = {{9, 0}}}).failure}) {
    EXPECT_NE(failure.reason.find("nothing is staged as 9"), std::string::npos) << failure.reason;
    EXPECT_FALSE(failure.worker_is_gone);
  }
  ASSERT_TRUE(worker->stage(stage_of(9, gemm(2, 2, 2), CacheMode::hot, 1)));
  EXPECT_FALSE(worker->stage(stage_of(9, gemm(2, 2, 2), CacheMode::hot, 1)));
  EXPECT_FALSE(worker->reveal({9, {1}})) << "only set 0 exists";
  EXPECT_FALSE(worker->sequence({.steps = {{9, 1}}}));
  ASSERT_TRUE(worker->drop(9));
  EXPECT_FALSE(worker->drop(9));
  EXPECT_FALSE(worker->sample(count_samples(9, 3)));
  EXPECT_TRUE(worker->alive());
}

TEST(WorkerOrder, a_device_before_a_plugin_and_a_kernel_before_a_device_are_refused) {
  WorkerOptions options;
  options.program = HALMARK_WORKER_PROGRAM;
  options.cpus = CpuSet{};
  auto worker = Worker::start(options);
  ASSERT_TRUE(worker) << worker.failure.reason;
  EXPECT_FALSE((*worker)->open(0));
  ASSERT_TRUE((*worker)->load(HALMARK_FAKE_PLUGIN));
  EXPECT_FALSE((*worker)->load(HALMARK_FAKE_PLUGIN));
  const auto staged = (*worker)->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1));
  EXPECT_NE(staged.failure.reason.find("no device is open"), std::string::npos);
  EXPECT_TRUE((*worker)->open(0));
  EXPECT_FALSE((*worker)->open(0));
  EXPECT_TRUE((*worker)->close());
  EXPECT_TRUE((*worker)->open(0));
}

TEST(WorkerStage, a_file_that_is_no_plugin_is_refused_by_reason) {
  WorkerOptions options;
  options.program = HALMARK_WORKER_PROGRAM;
  options.cpus = CpuSet{};
  auto worker = Worker::start(options);
  ASSERT_TRUE(worker);
  const auto loaded = (*worker)->load("/etc/hostname");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure.status, Status::refused);
  EXPECT_FALSE(loaded.failure.worker_is_gone);
}

TEST(WorkerStage, an_op_without_a_kernel_and_an_unknown_kernel_have_their_own_status) {
  FakeWorker worker("unsupported=copy");
  auto copy = worker->stage(stage_of(1, {"copy", {{"bytes", 64}}}, CacheMode::hot, 1));
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.failure.status, Status::unsupported);
  auto stage = stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1);
  stage.kernel = "gemmm";
  auto unknown = worker->stage(stage);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.failure.reason.find("gemm"), std::string::npos);
  auto no_op = worker->stage(stage_of(1, {"gem", {}}, CacheMode::hot, 1));
  ASSERT_FALSE(no_op);
  EXPECT_FALSE(no_op.failure.worker_is_gone);
}

TEST(WorkerStage, labels_reach_the_plugin_as_its_integers) {
  FakeWorker worker("latency_ns=1000000");
  auto stage = stage_of(1, gemm(4, 4, 4), CacheMode::hot, 1);
  stage.config.labels = {{"impl", "wide"}};
  auto wide = worker->stage(stage);
  ASSERT_TRUE(wide) << wide.failure.reason;
  stage.id = 2;
  stage.config.labels = {{"impl", "naive"}};
  auto naive = worker->stage(stage);
  ASSERT_TRUE(naive) << naive.failure.reason;
  EXPECT_NE(wide->implementation.name, naive->implementation.name);
  stage.id = 3;
  stage.config.labels = {{"impl", "wid"}};
  auto unknown = worker->stage(stage);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.failure.reason.find("wide"), std::string::npos) << unknown.failure.reason;
}

TEST(WorkerStage, sets_end_where_the_arena_ends) {
  FakeWorker worker("", 1 << 20);
  auto staged = worker->stage(stage_of(1, gemm(1, 256, 256), CacheMode::rotate_const, 64));
  ASSERT_TRUE(staged) << staged.failure.reason;
  EXPECT_GE(staged->sets, 2);
  EXPECT_LE(staged->sets, 4) << "256 KiB of weights each";
  // Dropping gives the arena back.
  ASSERT_TRUE(worker->drop(1));
  auto again = worker->stage(stage_of(2, gemm(1, 256, 256), CacheMode::rotate_const, 64));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sets, staged->sets);
}

TEST(WorkerStage, opaque_constants_are_packed_for_every_set) {
  FakeWorker worker("constants_opaque=1", 8 << 20);
  const Problem problem = gemm(3, 4, 5);
  auto staged = worker->stage(stage_of(1, problem, CacheMode::rotate_const, 2));
  ASSERT_TRUE(staged) << staged.failure.reason;
  EXPECT_TRUE(staged->constants_opaque);
  EXPECT_FALSE(staged->constants_shared);
}

TEST(WorkerStage, constants_that_are_compiled_in_get_a_prepared_kernel_per_set_and_eight_at_most) {
  FakeWorker worker("constants_in_prepared=1", 8 << 20);
  const Problem problem = gemm(3, 4, 5);
  for (const int wanted : {7, 12}) {
    auto staged = worker->stage(stage_of(wanted, problem, CacheMode::rotate_all, wanted));
    ASSERT_TRUE(staged) << staged.failure.reason;
    EXPECT_EQ(staged->sets, std::min(wanted, 8));
    EXPECT_FALSE(staged->constants_shared);
  }
  auto request = count_samples(7, 3);
  request.rule.repeat = 5;  // each sample goes beyond the end of the ring or begins inside it
  ASSERT_TRUE(worker->sample(request));
  auto shown = worker->reveal({7, {0, 3, 6}});
  ASSERT_TRUE(shown) << shown.failure.reason;
  for (const int set : {0, 3, 6}) expect_product(problem, *shown, set, set);
}

TEST(WorkerReveal, a_write_past_an_output_and_a_changed_input_are_named) {
  FakeWorker overrun("overrun=1");
  ASSERT_TRUE(overrun->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  auto shown = overrun->reveal({1, {0}});
  ASSERT_TRUE(shown) << shown.failure.reason;
  EXPECT_FALSE(shown->revealed.canaries_intact);
  EXPECT_NE(shown->revealed.damage.find("dst"), std::string::npos) << shown->revealed.damage;

  FakeWorker mutate("mutate_inputs=1");
  ASSERT_TRUE(mutate->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  shown = mutate->reveal({1, {0}});
  ASSERT_TRUE(shown);
  EXPECT_FALSE(shown->revealed.inputs_intact);
  EXPECT_TRUE(shown->revealed.canaries_intact);
  EXPECT_NE(shown->revealed.damage.find("src"), std::string::npos) << shown->revealed.damage;
}

TEST(WorkerReveal, skipped_repeats_leave_poison_in_the_outputs) {
  FakeWorker worker("wrong=skip_repeats", 4 << 20);
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::rotate_const, 4)));
  auto request = count_samples(1, 3);
  request.rule.repeat = 4;
  ASSERT_TRUE(worker->sample(request));
  auto shown = worker->reveal({1, {3}});
  ASSERT_TRUE(shown);
  EXPECT_TRUE(
      std::isnan(load_element(Dtype::f32, shown->part(shown->revealed.parts.at(0)).data(), 0)));
}

TEST(WorkerSample, the_pilot_makes_a_sample_long_enough) {
  FakeWorker worker("latency_ns=2000");
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  protocol::SampleRequest request;
  request.id = 1;
  request.pilot_only = true;
  // A pilot that loses the core for a while takes the kernel for a long one; five in a row do not.
  std::int64_t repeat = 1;
  for (int attempt = 0; attempt < 5 && repeat < 2; ++attempt) {
    auto pilot = worker->sample(request);
    ASSERT_TRUE(pilot) << pilot.failure.reason;
    EXPECT_TRUE(pilot->samples.empty());
    repeat = pilot->measured.repeat;
  }
  EXPECT_GE(repeat, 2);
  request.pilot_only = false;
  auto sampled = worker->sample(request);
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  EXPECT_GE(sampled->samples.size(), 10u);
  for (const TimedSample& sample : sampled->samples) EXPECT_GE(sample.wall_ns, 2000);
}

TEST(WorkerSample, a_call_above_fifty_milliseconds_is_sampled_three_times) {
  FakeWorker worker("latency_ns=60000000");
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  protocol::SampleRequest request;
  request.id = 1;
  auto sampled = worker->sample(request);
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  EXPECT_EQ(sampled->samples.size(), 3u);
  EXPECT_EQ(sampled->measured.repeat, 1);
}

TEST(WorkerSample, the_wall_cap_keeps_the_samples) {
  FakeWorker worker("latency_ns=2000000");
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  auto request = count_samples(1, 100'000);
  request.wall_cap_s = 0.1;
  auto sampled = worker->sample(request);
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  EXPECT_EQ(sampled->measured.stop_rule, protocol::StopReason::deadline);
  EXPECT_GE(sampled->samples.size(), 1u);
  EXPECT_LE(sampled->samples.size(), 50u);
}

TEST(WorkerSample, a_plugin_error_inside_the_loop_is_a_failure_of_its_phase) {
  FakeWorker worker("device_lost_at=8");
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  auto sampled = worker->sample(count_samples(1, 50));
  ASSERT_FALSE(sampled);
  EXPECT_EQ(sampled.failure.status, Status::device_lost);
  EXPECT_EQ(sampled.failure.phase, "sample");
}

TEST(WorkerSample, a_crash_names_the_phase_that_ran) {
  FakeWorker worker("crash=enqueue;after=8");
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  auto sampled = worker->sample(count_samples(1, 50));
  ASSERT_FALSE(sampled);
  EXPECT_EQ(sampled.failure.status, Status::crashed);
  EXPECT_EQ(sampled.failure.phase, "sample");
}

double signal_value(const protocol::Measured& measured, const std::string& name) {
  for (const Signal& signal : measured.signals) {
    if (signal.name == name) return signal.value.value_or(-1);
  }
  return -2;
}

TEST(WorkerSample, both_slopes_expose_a_device_that_shortens_its_time) {
  FakeWorker honest("timer=device_event;latency_ns=3000000");
  FakeWorker liar("timer=device_event;latency_ns=3000000;elapsed_scale=0.1");
  for (FakeWorker* worker : {&honest, &liar}) {
    ASSERT_TRUE((*worker)->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  }
  auto truth = honest->sample(count_samples(1, 3));
  auto lie = liar->sample(count_samples(1, 3));
  ASSERT_TRUE(truth && lie);
  EXPECT_NEAR(*truth->samples.at(0).device_ns, 3e6, 1e5);
  EXPECT_NEAR(signal_value(truth->measured, "slope_device_ns"), 3e6, 1e5);
  EXPECT_NEAR(signal_value(lie->measured, "slope_device_ns"), 3e5, 1e4);
  EXPECT_GT(signal_value(lie->measured, "slope_wall_ns"), 2e6);
  EXPECT_EQ(signal_value(truth->measured, signal_name::wall_cpu_ratio), -1) << "absent, not clean";
}

TEST(WorkerSample, shards_start_every_sample_together) {
  FakeWorker a("latency_ns=300000"), b("latency_ns=300000");
  SharedBarrier barrier = SharedBarrier::create();
  int index = 0;
  for (FakeWorker* worker : {&a, &b}) {
    ASSERT_TRUE((*worker)->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
    auto request = count_samples(1, 20);
    request.barrier = protocol::Barrier{2, index++};
    (*worker)->begin_sample(request, barrier.fd());
  }
  auto first = a->finish_sample();
  auto second = b->finish_sample();
  ASSERT_TRUE(first && second) << first.failure.reason << second.failure.reason;
  ASSERT_EQ(first->samples.size(), 20u);
  ASSERT_EQ(second->samples.size(), 20u);
  // Neither is ahead of the other by a sample.
  for (std::size_t i = 1; i < 20; ++i) {
    EXPECT_GE(first->samples[i].begin_ns,
              second->samples[i - 1].begin_ns + second->samples[i - 1].wall_ns);
    EXPECT_GE(second->samples[i].begin_ns,
              first->samples[i - 1].begin_ns + first->samples[i - 1].wall_ns);
  }
}

TEST(WorkerSample, a_shard_that_fails_releases_the_others) {
  FakeWorker a("device_lost_at=6"), b;
  SharedBarrier barrier = SharedBarrier::create();
  for (FakeWorker* worker : {&a, &b}) {
    ASSERT_TRUE((*worker)->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
    auto request = count_samples(1, 20);
    request.barrier = protocol::Barrier{2, 0};
    (*worker)->begin_sample(request, barrier.fd());
  }
  EXPECT_EQ(a->finish_sample().failure.status, Status::device_lost);
  auto other = b->finish_sample();
  ASSERT_TRUE(other) << other.failure.reason;
  EXPECT_EQ(other->measured.stop_rule, protocol::StopReason::aborted);
  EXPECT_LT(other->samples.size(), 20u);
}

TEST(WorkerSequence, times_every_step_and_gives_the_outputs_of_its_steps) {
  FakeWorker worker("latency_ns=100000", 8 << 20);
  const Problem problem = gemm(3, 4, 5);
  ASSERT_TRUE(worker->stage(stage_of(1, problem, CacheMode::rotate_const, 2)));
  ASSERT_TRUE(worker->stage(stage_of(
      2, {"residual_add", {{"rows", 2}, {"cols", 8}, {"src_dtype", f32}, {"dst_dtype", f32}}},
      CacheMode::rotate_const, 1)));
  auto run = worker->sequence({.steps = {{1, 0}, {2, 0}, {1, 1}},
                               .repeat = 4,
                               .warmup = 1,
                               .wall_cap_s = 60,
                               .barrier = {}});
  ASSERT_TRUE(run) << run.failure.reason;
  ASSERT_EQ(run->ns.size(), 4u * 4);
  EXPECT_EQ(run->measured.samples, 4);
  for (std::size_t i = 0; i < run->ns.size(); i += 4) {
    for (std::size_t step = 0; step < 3; ++step) EXPECT_GE(run->ns[i + step], 100'000);
    EXPECT_NEAR(run->ns[i + 3], run->ns[i] + run->ns[i + 1] + run->ns[i + 2], 1);
  }
  auto shown = worker->reveal({1, {0, 1}});
  ASSERT_TRUE(shown);
  expect_product(problem, *shown, 1, 0);
}

// A router's choice has the type and size of the table that dispatch is given. Chained, it would
// send the rows elsewhere than the FLOPs and bytes of the problem say.
TEST(WorkerSequence, a_given_routing_is_not_replaced_by_the_output_of_an_earlier_step) {
  FakeWorker worker;
  const Problem route = complete_problem(
      {"moe_route", {{"tokens", 6}, {"experts", 6}, {"top_k", 2}, {"src_dtype", f32}}});
  const Problem dispatch = complete_problem(
      {"moe_dispatch",
       {{"tokens", 6}, {"experts", 6}, {"top_k", 2}, {"hidden", 8}, {"dtype", f32}}});
  ASSERT_TRUE(worker->stage(stage_of(1, route, CacheMode::hot, 1)));
  ASSERT_TRUE(worker->stage(stage_of(2, dispatch, CacheMode::hot, 1)));
  const auto run = worker->sequence({.steps = {{1, 0}, {2, 0}},
                                     .repeat = 1,
                                     .warmup = 0,
                                     .wall_cap_s = 60,
                                     .barrier = {},
                                     .chains_activations = true});
  ASSERT_TRUE(run) << run.failure.reason;

  const OpContract& contract = *find_contract("moe_dispatch");
  const auto operands = contract.operands(dispatch.params);
  const GeneratedInputs inputs(7, operands, 0);
  std::vector<std::int64_t> elements(static_cast<std::size_t>(operands[2].elements()));
  std::iota(elements.begin(), elements.end(), std::int64_t{0});
  std::vector<Expected> expected(elements.size());
  contract.reference(dispatch.params, inputs, 0, 2, elements, expected);
  const auto chosen = worker->reveal({1, {0}}), moved = worker->reveal({2, {0}});
  ASSERT_TRUE(chosen && moved);
  const auto choice = chosen->part(chosen->revealed.parts[0]);
  bool differs = false;
  for (std::size_t i = 0; i < 12; ++i) {
    const double picked = load_element(Dtype::s32, choice.data(), static_cast<std::int64_t>(i));
    differs = differs || picked != static_cast<double>((*operands[1].given)[i]);
  }
  EXPECT_TRUE(differs) << "else this test shows nothing";
  const auto rows = moved->part(moved->revealed.parts[0]);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(load_element(Dtype::f32, rows.data(), elements[i]), expected[i].value) << i;
  }
}

TEST(WorkerSequence, the_wall_cap_keeps_whole_repetitions) {
  FakeWorker worker("latency_ns=2000000");
  ASSERT_TRUE(worker->stage(stage_of(1, gemm(2, 2, 2), CacheMode::hot, 1)));
  auto run = worker->sequence({.steps = {{1, 0}, {1, 0}},
                               .repeat = 100'000,
                               .warmup = 0,
                               .wall_cap_s = 0.05,
                               .barrier = {}});
  ASSERT_TRUE(run) << run.failure.reason;
  EXPECT_EQ(run->measured.stop_rule, protocol::StopReason::deadline);
  EXPECT_EQ(run->ns.size(), 3 * static_cast<std::size_t>(run->measured.samples));
  EXPECT_LE(run->measured.samples, 13);
}

TEST(WorkerProbe, lists_paths_and_measures_one) {
  FakeWorker worker;
  auto listed = worker->probe({.kind = protocol::ProbeKind::peak_paths, .path = {}, .isa = {}});
  ASSERT_TRUE(listed) << listed.failure.reason;
  ASSERT_FALSE(listed->paths.empty());
  auto probed = worker->probe({.kind = protocol::ProbeKind::peak,
                               .path = listed->paths.front().path,
                               .isa = listed->paths.front().isa,
                               .windows = 3,
                               .window_ms = 0.5});
  ASSERT_TRUE(probed);
  EXPECT_EQ(probed->rates.size(), 3u);
  auto ring = worker->probe({.kind = protocol::ProbeKind::read,
                             .path = {},
                             .isa = {},
                             .windows = 2,
                             .window_ms = 0.5,
                             .working_set_bytes = 1 << 20});
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->rates.size(), 2u);
  auto nothing = worker->probe({.kind = protocol::ProbeKind::copy, .path = {}, .isa = {}});
  EXPECT_NE(nothing.failure.reason.find("working set of 0 bytes"), std::string::npos);
}

// An arena of one slice and a half: the second slice lies beside it, the third is the first again.
TEST(WorkerProbe, slices_walk_through_the_arena_and_memory_beside_it) {
  FakeWorker worker("", 24 << 20);
  for (const int count : {1, 5}) {
    auto slices = worker->probe({.kind = protocol::ProbeKind::slices,
                                 .path = {},
                                 .isa = {},
                                 .windows = count,
                                 .working_set_bytes = 32 << 20});
    ASSERT_TRUE(slices) << slices.failure.reason;
    EXPECT_EQ(slices->rates.size(), static_cast<std::size_t>(count)) << slices->reason;
    for (const double rate : slices->rates) EXPECT_GT(rate, 1e7);
  }
}

TEST(WorkerProbe, beside_a_busy_thread_of_the_plugin_there_are_no_slices_but_the_reason) {
  FakeWorker worker("busy=1");
  auto slices = worker->probe({.kind = protocol::ProbeKind::slices,
                               .path = {},
                               .isa = {},
                               .windows = 1,
                               .working_set_bytes = 16 << 20});
  ASSERT_TRUE(slices) << slices.failure.reason;
  EXPECT_TRUE(slices->rates.empty());
  EXPECT_EQ(slices->reason, "no probe: threads of the plugin were busy");
}

TEST(WorkerPlugin, the_smallest_plugin_goes_through_a_trial) {
  WorkerOptions options;
  options.program = HALMARK_WORKER_PROGRAM;
  options.cpus = CpuSet{};
  auto worker = Worker::start(options);
  ASSERT_TRUE(worker) << worker.failure.reason;
  ASSERT_TRUE((*worker)->load(HALMARK_MINIMAL_PLUGIN));
  ASSERT_TRUE((*worker)->open(0));
  auto staged =
      (*worker)->stage(stage_of(1, {"copy", {{"bytes", 1000}}}, CacheMode::rotate_all, 3));
  ASSERT_TRUE(staged) << staged.failure.reason;
  auto sampled = (*worker)->sample(count_samples(1, 6));
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  auto shown = (*worker)->reveal({1, {2}});
  ASSERT_TRUE(shown);
  const auto operands = find_contract("copy")->operands({{"bytes", 1000}});
  const GeneratedInputs inputs(7, operands, 2);
  std::vector<double> source(1000);
  inputs.read(0, 0, 0, source);
  const auto bytes = shown->part(shown->revealed.parts.at(0));
  for (std::size_t i = 0; i < source.size(); ++i) {
    ASSERT_EQ(static_cast<double>(std::to_integer<int>(bytes[i])), source[i]) << i;
  }
}

}  // namespace
}  // namespace halmark
