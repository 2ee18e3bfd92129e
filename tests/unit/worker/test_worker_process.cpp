// The worker program from outside: its order of requests, whole trials, probes, a minimal plugin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "fake_worker.hpp"
#include "kernels/contract.hpp"
#include "kernels/inputs.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using test::count_samples;
using test::expect_product;
using test::FakeWorker;
using test::gemm;
using test::probe_of;
using test::small_stage;
using test::stage_of;

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
  EXPECT_EQ(sampled->measured.signals.size(), 8u);
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
  ASSERT_TRUE(worker->stage(small_stage(9)));
  EXPECT_FALSE(worker->stage(small_stage(9)));
  EXPECT_FALSE(worker->reveal({9, {1}})) << "only set 0 exists";
  EXPECT_FALSE(worker->sequence({.steps = {{9, 1}}}));
  ASSERT_TRUE(worker->drop(9));
  EXPECT_FALSE(worker->drop(9));
  EXPECT_FALSE(worker->sample(count_samples(9, 3)));
  EXPECT_TRUE(worker->alive());
}

TEST(WorkerOrder, a_device_before_a_plugin_and_a_kernel_before_a_device_are_refused) {
  const auto worker = test::bare_worker();
  EXPECT_FALSE(worker->open(0));
  ASSERT_TRUE(worker->load(halmark::test::in_build("/tests/plugins/hm_fake.so")));
  EXPECT_FALSE(worker->load(halmark::test::in_build("/tests/plugins/hm_fake.so")));
  EXPECT_NE(worker->stage(small_stage()).failure.reason.find("no device is open"),
            std::string::npos);
  EXPECT_TRUE(worker->open(0));
  EXPECT_FALSE(worker->open(0));
  EXPECT_TRUE(worker->close());
  EXPECT_TRUE(worker->open(0));
}

TEST(WorkerProbe, lists_paths_and_measures_one) {
  using enum protocol::ProbeKind;
  FakeWorker worker;
  const auto listed = worker->probe(probe_of(peak_paths));
  ASSERT_TRUE(listed) << listed.failure.reason;
  ASSERT_FALSE(listed->paths.empty());
  auto of_path = probe_of(peak, 3);
  of_path.path = listed->paths.front().path;
  of_path.isa = listed->paths.front().isa;
  EXPECT_EQ(worker->probe(of_path)->rates.size(), 3u);
  EXPECT_EQ(worker->probe(probe_of(read, 2, 1 << 20))->rates.size(), 2u);
  const auto of_clock = worker->probe(probe_of(clock, 3));
  ASSERT_TRUE(of_clock) << of_clock.failure.reason;
  ASSERT_EQ(of_clock->rates.size(), 3u);
  // What others of this machine take of a window makes the clock look slower, never faster.
  EXPECT_GT(std::ranges::max(of_clock->rates), 0.3e9);
  EXPECT_NE(worker->probe(probe_of(copy)).failure.reason.find("working set of 0 bytes"),
            std::string::npos);
}

// An arena of one slice and a half: the second slice lies beside it, the third is the first again.
TEST(WorkerProbe, slices_walk_through_the_arena_and_memory_beside_it) {
  FakeWorker worker("", 24 << 20);
  for (const int count : {1, 5}) {
    const auto probe = [&] {
      return worker->probe(probe_of(protocol::ProbeKind::slices, count, 32 << 20));
    };
    auto slices = probe();  // a disturbed one has no rates
    for (int i = 0; i < 20 && slices && slices->rates.empty(); ++i) slices = probe();
    ASSERT_TRUE(slices) << slices.failure.reason;
    EXPECT_EQ(slices->rates.size(), static_cast<std::size_t>(count)) << slices->reason;
    for (const double rate : slices->rates) EXPECT_GT(rate, 1e7);
  }
}

TEST(WorkerProbe, beside_a_busy_thread_of_the_plugin_there_are_no_slices_but_the_reason) {
  FakeWorker worker("busy=1");
  auto slices = worker->probe(probe_of(protocol::ProbeKind::slices, 1, 16 << 20));
  ASSERT_TRUE(slices) << slices.failure.reason;
  EXPECT_TRUE(slices->rates.empty());
  EXPECT_EQ(slices->reason, "no probe: threads of the plugin were busy");
}

TEST(WorkerPlugin, the_smallest_plugin_goes_through_a_trial) {
  const auto worker = test::bare_worker();
  ASSERT_TRUE(worker->load(halmark::test::in_build("/tests/plugins/hm_minimal.so")));
  ASSERT_TRUE(worker->open(0));
  auto staged = worker->stage(stage_of(1, {"copy", {{"bytes", 1000}}}, CacheMode::rotate_all, 3));
  ASSERT_TRUE(staged) << staged.failure.reason;
  auto sampled = worker->sample(count_samples(1, 6));
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  auto shown = worker->reveal({1, {2}});
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

TEST(WorkerJoin, takes_a_token_of_whole_hexadecimal_bytes_once) {
  FakeWorker worker;
  const auto join = [&](const std::string& token) {
    worker->begin_join({token, 0, 1});
    const auto done = worker->finish_join();
    return done ? std::string("joined") : done.failure.reason;
  };
  for (const char* token : {"0aF", "0g", "g0", "0a f", "-1"}) {
    EXPECT_NE(join(token).find("the token is not hexadecimal"), std::string::npos) << token;
  }
  EXPECT_EQ(join("0aF39b"), "joined");
  EXPECT_NE(join("0aF39b").find("this rank has joined already"), std::string::npos);
}

}  // namespace
}  // namespace halmark
