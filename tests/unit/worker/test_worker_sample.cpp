// Sampling in a worker: pilots, caps, failures inside the loop, shards that start together.
#include <gtest/gtest.h>

#include "fake_worker.hpp"
#include "host/process/barrier.hpp"
#include "measure/sampling/interference.hpp"

namespace halmark {
namespace {

using test::count_samples;
using test::FakeWorker;
using test::small_stage;

TEST(WorkerSample, the_pilot_makes_a_sample_long_enough) {
  FakeWorker worker("latency_ns=2000");
  ASSERT_TRUE(worker->stage(small_stage()));
  protocol::SampleRequest request;
  request.id = 1;
  request.pilot_only = true;
  // A pilot that loses the core for a while takes the kernel for a long one; twenty in a row do
  // not.
  std::int64_t repeat = 1;
  for (int attempt = 0; attempt < 20 && repeat < 2; ++attempt) {
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
  ASSERT_TRUE(worker->stage(small_stage()));
  protocol::SampleRequest request;
  request.id = 1;
  auto sampled = worker->sample(request);
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  EXPECT_EQ(sampled->samples.size(), 3u);
  EXPECT_EQ(sampled->measured.repeat, 1);
}

// Samples of a plugin that cannot flush its caches would be warm ones under a cold name.
TEST(WorkerSample, without_a_flush_there_is_no_flushed_sample) {
  FakeWorker worker;
  ASSERT_TRUE(worker->stage(test::stage_of(1, test::gemm(2, 2, 2), CacheMode::flush, 1)));
  const auto sampled = worker->sample(count_samples(1, 3));
  ASSERT_FALSE(sampled);
  EXPECT_NE(sampled.failure.reason.find("cache_flush"), std::string::npos)
      << sampled.failure.reason;
}

TEST(WorkerSample, the_wall_cap_keeps_the_samples) {
  FakeWorker worker("latency_ns=2000000");
  ASSERT_TRUE(worker->stage(small_stage()));
  auto request = count_samples(1, 100'000);
  request.wall_cap_s = 0.5;
  auto sampled = worker->sample(request);
  ASSERT_TRUE(sampled) << sampled.failure.reason;
  EXPECT_EQ(sampled->measured.stop_rule, protocol::StopReason::deadline);
  EXPECT_GE(sampled->samples.size(), 1u);
  EXPECT_LE(sampled->samples.size(), 250u);
}

TEST(WorkerSample, a_plugin_error_inside_the_loop_is_a_failure_of_its_phase) {
  FakeWorker worker("device_lost_at=8");
  ASSERT_TRUE(worker->stage(small_stage()));
  auto sampled = worker->sample(count_samples(1, 50));
  ASSERT_FALSE(sampled);
  EXPECT_EQ(sampled.failure.status, Status::device_lost);
  EXPECT_EQ(sampled.failure.phase, "sample");
}

TEST(WorkerSample, a_crash_names_the_phase_that_ran) {
  FakeWorker worker("crash=enqueue;after=8");
  ASSERT_TRUE(worker->stage(small_stage()));
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
    ASSERT_TRUE((*worker)->stage(small_stage()));
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
    ASSERT_TRUE((*worker)->stage(small_stage()));
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
    ASSERT_TRUE((*worker)->stage(small_stage()));
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

}  // namespace
}  // namespace halmark
