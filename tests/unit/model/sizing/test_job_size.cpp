// Jobs against the parts that they are made of, and what an answer says it rests on.
#include "model/sizing/job_size.hpp"

#include "fixtures.hpp"

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
  EXPECT_THAT(named(sized, "mfu").source, StartsWith("assumed"));
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
  says(error.what(), "out_of_memory");
  job.devices = 0;
  job.days = 1;
  const SizedJob sized = size_job(tiny(), bf16(), d, job);
  EXPECT_GT(sized.devices_for_memory, 1);
  EXPECT_EQ(sized.plan.devices, sized.devices_for_memory);
}

Job run() { return {.tokens = 1e9, .devices = 1}; }
Job load() { return {.requests_per_s = 1, .input_tokens = 1, .output_tokens = 1}; }

std::string refusal_of(const Job& job) {
  return test::error_of([&] { require_answerable(job); }).what();
}

TEST(JobQuestion, a_run_has_a_time_or_devices_and_a_load_the_lengths_of_its_requests) {
  EXPECT_NO_THROW(require_answerable(run()));
  EXPECT_NO_THROW(require_answerable({.tokens = 1, .days = 1}));
  EXPECT_NO_THROW(require_answerable(load()));
  says(refusal_of({}), "name one job");
  Job both = load();
  both.tokens = 1;
  both.days = 1;
  says(refusal_of(both), "name one job");
  says(refusal_of({.tokens = 1}), "either a time or a number");
  says(refusal_of({.tokens = 1, .days = 1, .devices = 1}), "either a time or a number");
  for (const auto& [name, length] :
       {std::pair{"--input is 0", &Job::input_tokens}, {"--output is 0", &Job::output_tokens}}) {
    Job none = load();
    none.*length = 0;
    says(refusal_of(none), name);
  }
  Job waiting = load();
  waiting.users = 5;
  says(refusal_of(waiting), "name one job");
  waiting.requests_per_s.reset();
  EXPECT_NO_THROW(require_answerable(waiting));
  waiting.mfu = 0.3;
  says(refusal_of(waiting), "stated MFU");
  Job counted = load();
  counted.devices = 1;
  says(refusal_of(counted), "--devices is asked of a served load");
}

TEST(JobQuestion, figures_out_of_range_are_refused_by_their_name) {
  const std::pair<const char*, std::optional<double> Job::*> positive[] = {
      {"--power-w", &Job::power_w},
      {"--price-per-device-hour", &Job::price_per_device_hour},
      {"--carbon-g-per-kwh", &Job::carbon_g_per_kwh},
      {"--mfu", &Job::mfu},
      {"--decode-mfu", &Job::decode_mfu}};
  for (const auto& [name, field] : positive) {
    Job job = run();
    for (const double value : {0.0, -1.0, std::nan("")}) {
      job.*field = value;
      says(refusal_of(job), name);
    }
    job.*field = 1e-3;
    EXPECT_NO_THROW(require_answerable(job)) << name;
  }
  says(refusal_of({.tokens = 0, .devices = 1}), "--tokens");
  says(refusal_of({.tokens = 1, .days = 0}), "--days");
  EXPECT_NO_THROW(require_answerable({.tokens = 0.5, .days = 0.5}));
  Job rare = load();
  rare.requests_per_s = 0;
  says(refusal_of(rare), "--requests-per-s");
  rare.requests_per_s = 1e-3;
  EXPECT_NO_THROW(require_answerable(rare));
}

TEST(JobQuestion, shares_end_at_one_and_a_facility_takes_at_least_what_its_devices_take) {
  for (std::optional<double> Job::*share : {&Job::mfu, &Job::decode_mfu}) {
    Job job = run();
    job.*share = 1;
    EXPECT_NO_THROW(require_answerable(job));
    job.*share = 1.01;
    says(refusal_of(job), "at most 1");
  }
  Job job = run();
  for (const double pue : {0.99, HUGE_VAL, std::nan("")}) {
    job.pue = pue;
    says(refusal_of(job), "--pue");
  }
  job.pue = 1;
  EXPECT_NO_THROW(require_answerable(job));
  job.devices = -1;
  says(refusal_of(job), "--devices is -1");
  job.devices = 1;
  job.sequence = 0;
  says(refusal_of(job), "--sequence is 0");
  job.sequence = 1;
  EXPECT_NO_THROW(require_answerable(job));
}

TEST(JobSize, a_day_has_86400_seconds) {
  const Job job{.tokens = 1e12, .sequence = 64, .days = 10};
  const SizedJob sized = size_job(tiny(), bf16(), device(), job);
  EXPECT_NEAR(sized.plan.exact_devices, sized.flops / (10 * 86400.0) / (1e12 * 0.4), 1e-9);
}

TEST(JobSize, a_precision_without_a_peak_is_refused) {
  const Job job{.tokens = 1, .devices = 1};
  refuses([&] { size_job(tiny(), bf16(), Device{.id = "none"}, job); }, "no peak for bf16 on none");
}

}  // namespace
}  // namespace halmark::model_test
