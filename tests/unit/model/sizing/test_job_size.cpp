// Jobs against the parts that they are made of, and what an answer says it rests on.
#include "model/sizing/job_size.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark::model_test {
namespace {

Device device() {
  Device out{.id = "d"};
  out.peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 1e12}};
  return out;
}

const Assumption& named(const SizedJob& sized, std::string_view name) {
  return *std::ranges::find(sized.assumptions, name, &Assumption::name);
}

TEST(JobSize, a_training_run_is_its_tokens_at_the_assumed_utilisation) {
  const Job job{.tokens = 1e12, .sequence = 64, .devices = 8};
  const SizedJob sized = size_job(tiny(), bf16(), device(), job);
  EXPECT_DOUBLE_EQ(sized.flops, 1e12 * training_flops_per_token(tiny(), bf16(), 64));
  EXPECT_DOUBLE_EQ(sized.plan.seconds, sized.flops / (8 * 1e12 * 0.4));
  EXPECT_EQ(*named(sized, "mfu").value, 0.4);
  EXPECT_THAT(named(sized, "mfu").source, testing::StartsWith("assumed"));
  EXPECT_EQ(named(sized, "peak_flops_per_s").source, "bf16 of d");
  EXPECT_FALSE(named(sized, "power_w").value);
  EXPECT_EQ(named(sized, "power_w").source, "not given");
}

TEST(JobSize, both_phases_of_a_load_take_their_own_time) {
  const Job job{
      .requests_per_s = 1e6, .input_tokens = 32, .output_tokens = 8, .mfu = 0.5, .decode_mfu = 0.1};
  const SizedJob sized = size_job(tiny(), bf16(), device(), job);
  const RequestFlops f = request_flops(tiny(), bf16(), 32, 8);
  const double device_seconds = 1e6 * (f.prefill / 0.5 + f.decode / 0.1) / 1e12;
  EXPECT_NEAR(sized.plan.exact_devices / device_seconds, 1, 1e-12);
  EXPECT_EQ(named(sized, "decode_mfu").source, "given");
}

TEST(JobSize, what_a_device_states_is_used_unless_something_else_is_given) {
  Device d = device();
  d.power_w = 700;
  Job job{.tokens = 1e9, .sequence = 64, .devices = 1};
  EXPECT_EQ(named(size_job(tiny(), bf16(), d, job), "power_w").source, "power of d");
  job.power_w = 400;
  const SizedJob sized = size_job(tiny(), bf16(), d, job);
  EXPECT_EQ(*named(sized, "power_w").value, 400);
  EXPECT_EQ(named(sized, "power_w").source, "given");
}

TEST(JobSize, devices_that_do_not_hold_the_run_are_refused_and_memory_asks_for_more) {
  Device d = device();
  d.memory_bytes = 4096;  // a part of weights, gradients and states
  Job job{.tokens = 1, .sequence = 64, .devices = 1};
  const Error error = test::error_of([&] { size_job(tiny(), bf16(), d, job); });
  EXPECT_THAT(error.what(), testing::HasSubstr("out_of_memory"));
  job.devices = 0;
  job.days = 1;
  const SizedJob sized = size_job(tiny(), bf16(), d, job);
  EXPECT_GT(sized.devices_for_memory, 1);
  EXPECT_EQ(sized.plan.devices, sized.devices_for_memory);
}

TEST(JobSize, a_precision_without_a_peak_is_refused) {
  const Job job{.tokens = 1, .devices = 1};
  EXPECT_THAT(test::error_of([&] { size_job(tiny(), bf16(), Device{.id = "none"}, job); }).what(),
              testing::HasSubstr("no peak for bf16 on none"));
}

}  // namespace
}  // namespace halmark::model_test
