// Keys of a sweep that name devices, stages and nights: their values, places and contradictions.
// [request], [slo] and the facts of devices in a sweep.
#include <gmock/gmock.h>

#include <algorithm>

#include "plan/sweep.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string root = "name = 'a'\nmodel = 'm'\ndtypes = 'bf16'\n";
const std::string workload = "[[workload]]\nphase = 'decode'\nbatch = 1\ncontext = 8\n";
const std::string request = "[request]\ninput_tokens = 4\noutput_tokens = 4\nconcurrency = 4\n";

Sweep steps(const std::string& keys, const std::string& tables = {}) {
  return parse_sweep(root + keys + workload + tables, "s.toml");
}

std::string said_of(const std::string& text) {
  const Error error = test::error_of([&] { parse_sweep(text, "s.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(SweepKeys, name_their_place_for_who_looks_them_up_later) {
  const Sweep s = steps(
      "latency = ['roofline', 'x.csv']\nseries = 'h200'\nsampler = 'nsga2'\nfused_qkv = true\n"
      "stages = ['10,18', '28']\ndevice_file = 'h100'\n");
  EXPECT_THAT(s.latency, ElementsAre("roofline", "x.csv"));
  EXPECT_EQ(s.latency_where, "s.toml:4:11");
  EXPECT_THAT(s.series, ElementsAre("h200"));
  EXPECT_EQ(s.series_where, "s.toml:5:10");
  EXPECT_EQ(s.sampler_where, "s.toml:6:11");
  EXPECT_TRUE(s.fused_qkv);
  EXPECT_THAT(s.stages, ElementsAre(ElementsAre(10, 18), ElementsAre(28)));
  EXPECT_EQ(s.stages_where, "s.toml:8:10");
  EXPECT_EQ(s.serving_devices.file, "h100");
  EXPECT_EQ(s.serving_devices.file_where, "s.toml:9:15");
  EXPECT_EQ(s.workloads[0].where, "s.toml:11:9");
  EXPECT_FALSE(steps("").fused_qkv);
}

TEST(SweepKeys, context_parallelism_has_to_be_asked_for) {
  EXPECT_THAT(steps("strategies = ['context', 'data']\n").strategies,
              ElementsAre("context", "data"));
  EXPECT_THAT(steps("").strategies, ElementsAre("data", "tensor", "pipeline", "expert"));
}

TEST(SweepKeys, training_is_not_measured) {
  EXPECT_THAT(said_of(root + "[[workload]]\nphase = 'training'\nbatch = 1\nnew_tokens = 8\n"),
              HasSubstr("s.toml:5:9: phase 'training' is modelled, but not measured"));
}

TEST(SweepKeys, stages_are_positive_numbers_between_commas) {
  EXPECT_THAT(parse_stages("1", "w"), ElementsAre(1));
  EXPECT_THAT(parse_stages("10,18,2", "w"), ElementsAre(10, 18, 2));
  for (const char* bad :
       {"", ",", "1,", ",1", "1,,2", "0", "1,0", "-1", "1;2", "1 ,2", "x", "1x"}) {
    test::expect_error([&] { parse_stages(bad, "w"); },
                       "w: stages '" + std::string(bad) + "' are no layers per stage",
                       ExitCode::refused);
  }
  EXPECT_THAT(said_of(root + "stages = '2,2'\n" + request),
              HasSubstr("s.toml:4:10: stages stand beside [request]"));
}

TEST(SweepKeys, shards_on_named_devices_stand_beside_no_request_and_no_night) {
  const std::string on = "shards_on = ['cuda:1/2 + cpu:0', 'cuda:1']\n";
  const Sweep s = steps(on);
  EXPECT_EQ(s.backend, "cuda");
  EXPECT_EQ(s.device, "1");
  EXPECT_EQ(s.shards_on_where, "s.toml:4:13");
  EXPECT_EQ(places_of(s).size(), 3u);
  test::expect_each(said_of, {{root + on + request, "shards_on stands beside request"},
                              {root + on + workload + "[nightly]\nminutes = 1\n",
                               "shards_on stands beside nightly"}});
}

TEST(SweepKeys, a_command_puts_shards_on_devices_of_a_measured_sweep) {
  Sweep s = steps("");
  put_shards_on("cuda:3/2 + cpu:0", "--shards-on", s);
  ASSERT_EQ(s.shards_on.size(), 1u);
  EXPECT_EQ(s.shards_on[0].size(), 2u);
  EXPECT_EQ(s.shards_on_where, "--shards-on");
  EXPECT_EQ(s.backend, "cuda");
  EXPECT_EQ(s.device, "3");
  for (Sweep other : {steps("shards = 2\n"), steps("latency = 'roofline'\n"),
                      parse_sweep(root + request, "s"), steps("", "[nightly]\nminutes = 1\n")}) {
    test::expect_error([&] { put_shards_on("cpu:0", "--shards-on", other); },
                       "--shards-on: shards on named devices are of measured sweeps");
  }
}

TEST(SweepKeys, a_night_has_minutes_of_its_own) {
  const Sweep s =
      steps("budget_s = 7\n",
            "[nightly]\nminutes = 1.5\nkeep_samples_nights = 12\n"
            "[[nightly.kernel]]\nop = 'gemm'\nparams = 'm=1'\ndtypes = ['f32', 'bf16']\n"
            "[[nightly.sentinel]]\nop = 'copy'\ndtypes = 'f32'\n");
  ASSERT_TRUE(s.nightly);
  EXPECT_EQ(s.nightly->budget_s, 90) << "1.5 minutes";
  EXPECT_EQ(s.budget_s, 90) << "the night's, not the sweep's";
  EXPECT_EQ(s.nightly->keep_samples_nights, 12);
  ASSERT_EQ(s.nightly->kernels.size(), 1u);
  EXPECT_EQ(s.nightly->kernels[0].op, "gemm");
  EXPECT_EQ(s.nightly->kernels[0].params, "m=1");
  EXPECT_THAT(s.nightly->kernels[0].dtypes, ElementsAre("f32", "bf16"));
  EXPECT_EQ(s.nightly->kernels[0].where, "s.toml:13:6");
  ASSERT_EQ(s.nightly->sentinels.size(), 1u);
  EXPECT_EQ(s.nightly->sentinels[0].op, "copy");
  EXPECT_EQ(s.nightly->sentinels[0].params, "");
  EXPECT_EQ(steps("", "[nightly]\nminutes = 1440\n").nightly->budget_s, 86'400);
  EXPECT_EQ(steps("", "[nightly]\nminutes = 1\n").nightly->keep_samples_nights, 0);
  EXPECT_FALSE(steps("").nightly);
  EXPECT_THAT(said_of(root + workload + "[nightly]\nminutes = 1441\n"), HasSubstr("'minutes'"));
}

TEST(SweepKeys, a_night_measures) {
  const std::string night = "[nightly]\nminutes = 1\n";
  const std::string expected = "[nightly] measures, and this sweep does not";
  test::expect_each(said_of, {{root + request + night, expected},
                              {root + "latency = 'roofline'\n" + workload + night, expected}});
}

TEST(SweepKeys, precisions_of_requests_are_those_of_the_sweep) {
  const Sweep s =
      parse_sweep(root + request + "[precision]\nkv_cache = ['bf16', 's8']\n", "s.toml");
  const std::vector<Precision> precisions = precisions_of(s, {.has_bf16 = true});
  ASSERT_EQ(precisions.size(), 2u);
  EXPECT_EQ(precisions[0].name, "bf16");
  EXPECT_EQ(precisions[1].name, "bf16+kv_cache=s8");
}

TEST(SweepKeys, facts_of_serving_devices_are_in_bytes_and_dollars) {
  const Sweep s =
      steps("network_gb_per_s = 12.5\nusd_per_device_hour = 2.5\nmemory_fraction = 0.5\n");
  EXPECT_EQ(s.serving_devices.network_bytes_per_s, 12.5e9);
  EXPECT_EQ(s.serving_devices.usd_per_device_hour, 2.5);
  EXPECT_EQ(s.serving_devices.memory_fraction, 0.5);
  EXPECT_FALSE(steps("").serving_devices.network_bytes_per_s);
  EXPECT_FALSE(steps("").serving_devices.usd_per_device_hour);
}

TEST(SweepKeys, objectives_of_requests_are_each_counted_once) {
  const Sweep s =
      parse_sweep(root + "objectives = ['throughput', 'latency', 'ttft']\n" + request +
                      "token_budget = [64, 128]\nmodes = ['disaggregated', 'aggregated']\n",
                  "s.toml");
  ASSERT_TRUE(s.served);
  EXPECT_EQ(s.served->objectives.size(), 3u);
  EXPECT_THAT(s.served->token_budgets, ElementsAre(64, 128));
  EXPECT_THAT(s.served->modes, ElementsAre(ServingMode::disaggregated, ServingMode::aggregated));
  EXPECT_TRUE(s.objectives.empty());
}

const std::string minimal =
    "name = 'a'\n"
    "model = 'qwen3-0.6b'\n"
    "dtypes = ['bf16', 'fp8']\n"
    "[request]\n"
    "input_tokens = 1000\n"
    "output_tokens = 100\n"
    "concurrency = [4, 16]\n";

std::string refusal(const std::string& text) {
  const Error error = test::error_of([&] { parse_sweep(text, "s.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(ServedSweep, what_is_not_written_has_its_default) {
  const Sweep s = parse_sweep(minimal, "s.toml");
  ASSERT_TRUE(s.served.has_value());
  EXPECT_EQ(s.served->request, (RequestShape{1000, 100}));
  EXPECT_EQ(s.served->concurrency, (std::vector<std::int64_t>{4, 16}));
  EXPECT_EQ(s.served->token_budgets, std::vector<std::int64_t>{8192});
  EXPECT_EQ(s.served->modes, std::vector{ServingMode::aggregated});
  EXPECT_EQ(s.served->objectives,
            (std::vector{Objective::ttft, Objective::tpot, Objective::tokens_per_s_per_device}));
  EXPECT_TRUE(s.served->levels.empty());
  EXPECT_TRUE(s.workloads.empty());
  EXPECT_EQ(s.serving_devices.memory_fraction, 0.9);
}

TEST(ServedSweep, any_figure_is_an_objective_and_any_a_level) {
  std::string all = "objectives = ['latency', 'throughput'";
  std::size_t figures = 0, levels = 0;
  for (const ObjectiveRow& row : objective_rows()) {
    if (row.of_requests == nullptr) continue;
    all += ", '" + std::string(row.name) + "'";
    ++figures;
  }
  std::string text = all + "]\ndevice_file = 'h200'\nlatency = 'roofline'\n" + minimal +
                     "token_budget = 512\nmodes = ['disaggregated']\n[slo]\n";
  for (const ObjectiveRow& row : objective_rows()) {
    if (row.level_key.empty()) continue;
    text += std::string(row.level_key) + " = 2\n";
    ++levels;
  }
  const Sweep s = parse_sweep(text, "s.toml");
  EXPECT_EQ(s.served->objectives.size(), figures) << "latency is counted once";
  EXPECT_EQ(s.served->objectives.front(), Objective::request_latency);
  ASSERT_EQ(s.served->levels.size(), levels);
  const auto ttft = std::ranges::find(s.served->levels, Objective::ttft, &ServiceLevel::objective);
  EXPECT_EQ(ttft->limit, 2e6) << "ttft_ms in ns";
  EXPECT_EQ(s.served->modes, std::vector{ServingMode::disaggregated});
  EXPECT_EQ(s.serving_devices.file, "h200");
  EXPECT_EQ(s.latency, std::vector<std::string>{"roofline"});
}

TEST(ServedSweep, refusals_say_place_fault_and_remedy) {
  const auto starts = [](const std::string& said, const std::string& with) {
    EXPECT_TRUE(said.starts_with(with)) << said;
  };
  starts(refusal(minimal + "[slo]\nttft_m = 3\n"),
         "s.toml:9:1: unknown key 'ttft_m' in [slo]; did you mean 'ttft_ms'");
  starts(refusal(minimal + "[slo]\ntpot_ms = -3\n"), "s.toml:9:11: key 'tpot_ms'");
  starts(refusal("objectives = 'ttfs'\n" + minimal),
         "s.toml:1:14: key 'objectives': 'ttfs' is unknown; did you mean 'ttft'");
  starts(refusal(minimal + "mode = 'aggregated'\n"),
         "s.toml:8:1: unknown key 'mode' in [request]; did you mean 'modes'");
  starts(refusal(minimal + "modes = 'agregated'\n"),
         "s.toml:8:9: key 'modes': 'agregated' is unknown; did you mean 'aggregated'");
  starts(refusal(minimal + "[[workload]]\nphase = 'decode'\n"),
         "s.toml:8:1: [[workload]] stands beside [request]");
  const std::string steps =
      "name = 'a'\nmodel = 'm'\ndtypes = 'bf16'\n[[workload]]\nphase = 'decode'\nbatch = 1\n"
      "context = 9\n";
  starts(refusal("objectives = ['memory', 'ttft']\n" + steps),
         "s.toml:1:14: objective 'ttft' is one of requests, and no [request] is given");
  starts(refusal(steps + "[slo]\nttft_ms = 3\n"), "s.toml:8:1: [slo] is given, but no [request]");
}

}  // namespace
}  // namespace halmark
