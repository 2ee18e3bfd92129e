#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "export/engine/launch_text.hpp"
#include "export/engine/own_steps.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/export/small_deployment.hpp"

namespace halmark::exports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The point of small_deployment: 64 sequences, 10 ms a token forecast.
EngineImport imported(const std::string& engine, const std::string& model, std::int64_t batch) {
  return {.tool = "vllm-bench",
          .file = "r.json",
          .file_sha256 = "0123456789abcdef",
          .imported_utc = {},
          .steps = {{.engine = engine,
                     .model_id = model,
                     .device = "GPU",
                     .phase = "decode",
                     .batch = batch,
                     .input_tokens = 1000,
                     .output_tokens = 24,
                     .step_ns = 1.5e7,
                     .deviation_ns = 1e5}}};
}

std::vector<std::string> lines(const EngineImport& import) {
  const Deployment d = test::small_deployment({});
  return own_step_lines(d, "vllm", own_steps(d, "vllm", {&import, 1}));
}

TEST(OwnSteps, without_one_the_forecast_is_said_to_be_none_of_the_engine) {
  Deployment d = test::small_deployment({});
  EXPECT_THAT(own_step_lines(d, "vllm", {}), ElementsAre(HasSubstr("no forecast of vllm")));
  d.forecast_engine = "vllm";
  EXPECT_THAT(own_step_lines(d, "vllm", {}),
              ElementsAre(testing::StartsWith("a forecast of vllm")));
  EXPECT_THAT(own_step_lines(d, "sglang", {}), ElementsAre(HasSubstr("no forecast of sglang")));
  EXPECT_THAT(lines(imported("sglang", "small", 64)), ElementsAre(HasSubstr("no forecast of")));
  EXPECT_THAT(lines(imported("vllm", "other", 64)), ElementsAre(HasSubstr("no forecast of")));
}

TEST(OwnSteps, one_of_the_point_stands_beside_its_forecast_with_origin_and_ratio) {
  const auto out = lines(imported("vllm", "small", 64));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0],
              test::has_all({"imported from vllm-bench, r.json (sha256 0123456789ab), version "
                             "not stated",
                             "decode, batch 64, 1000 prompt + 24 generated: 15.0 ms",
                             "forecast here 10.0 ms, the engine needs 1.50 times that"}));
  EXPECT_THAT(out[0], Not(HasSubstr("no forecast")));
}

TEST(OwnSteps, one_of_another_batch_is_shown_and_compared_with_nothing) {
  EXPECT_THAT(lines(imported("vllm", "small", 8)),
              ElementsAre(HasSubstr("no forecast of vllm"),
                          testing::AllOf(HasSubstr("batch 8"), Not(HasSubstr("times that")))));
}

TEST(OwnSteps, one_of_other_lengths_or_of_an_unknown_device_is_compared_with_nothing) {
  EngineImport import = imported("vllm", "small", 64);
  import.steps[0].input_tokens = 2000;
  EXPECT_THAT(lines(import).back(), Not(HasSubstr("times that")));
  import.steps[0].input_tokens = 1050;
  EXPECT_THAT(lines(import).back(), HasSubstr("times that"));
  import.steps[0].device.clear();
  EXPECT_THAT(lines(import).back(),
              testing::AllOf(HasSubstr("on what is not stated"), Not(HasSubstr("times that"))));
}

TEST(OwnSteps, of_decode_the_context_is_that_of_the_point) {
  Deployment d = test::small_deployment({});
  d.point.configuration.served.reset();
  d.point.configuration.workload = {
      .phase = Phase::decode, .batch = 64, .new_tokens = 1, .context = 512};
  d.point.estimate = Estimate{.step_ns = 3e7};
  EngineImport import = imported("vllm", "small", 64);
  import.steps[0].input_tokens = 0;
  EXPECT_FALSE(own_steps(d, "vllm", {&import, 1})[0].is_of_point);  // 24 tokens behind nothing
  import.steps[0].cached_tokens = 480;
  EXPECT_TRUE(own_steps(d, "vllm", {&import, 1})[0].is_of_point);
}

TEST(OwnSteps, of_a_step_the_same_kind_is_compared) {
  Deployment d = test::small_deployment({});
  d.point.configuration.served.reset();
  d.point.configuration.workload = {
      .phase = Phase::prefill, .batch = 64, .new_tokens = 512, .context = 512};
  d.point.estimate = Estimate{.step_ns = 3e7};
  EngineImport import = imported("vllm", "small", 64);
  EXPECT_FALSE(own_steps(d, "vllm", {&import, 1})[0].is_of_point);
  import.steps[0].phase = "prefill";
  import.steps[0].input_tokens = 512;
  const auto own = own_steps(d, "vllm", {&import, 1});
  EXPECT_TRUE(own[0].is_of_point);
  EXPECT_DOUBLE_EQ(own_steps_json(own)[0]["times_forecast"].get<double>(), 0.5);
}

TEST(OwnSteps, a_script_has_their_lines_and_no_second_sentence) {
  const Deployment d = test::small_deployment({});
  Launch l = test::launch(d, "vllm", "0.20.1");
  EXPECT_THAT(launch_files(d, l).front().text, HasSubstr("# no forecast of vllm"));
  const EngineImport import = imported("vllm", "small", 64);
  l.own_lines = own_step_lines(d, "vllm", own_steps(d, "vllm", {&import, 1}));
  const std::string script = launch_files(d, l).front().text;
  EXPECT_THAT(script, HasSubstr("# vllm itself: decode"));
  EXPECT_THAT(script, Not(HasSubstr("no forecast of vllm")));
}

}  // namespace
}  // namespace halmark::exports
