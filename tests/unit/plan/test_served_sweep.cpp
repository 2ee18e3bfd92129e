// [request], [slo] and the facts of devices in a sweep.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/sweep.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

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
