#include "plan/sweep.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <variant>

#include "plan/kernel_sweep.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

const std::string minimal =
    "name = 'a'\n"
    "model = 'qwen3-0.6b'\n"
    "dtypes = 'bf16'\n"
    "[[workload]]\n"
    "phase = 'decode'\n"
    "batch = [1, 4]\n"
    "context = 1024\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(const std::string& text) {
  const Error error = error_of([&] { parse_sweep(text, "s.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(Sweep, what_is_not_written_has_its_default) {
  const Sweep s = parse_sweep(minimal, "s.toml");
  EXPECT_EQ(s.file, "s.toml");
  EXPECT_EQ(s.backend, "cpu");
  EXPECT_EQ(s.device, "0");
  EXPECT_TRUE(s.shards.empty()) << "one to the number of cores";
  EXPECT_EQ(s.strategies, (std::vector<std::string>{"data", "tensor", "pipeline", "expert"}));
  EXPECT_EQ(s.objectives,
            (std::vector{Objective::latency, Objective::throughput, Objective::memory}));
  EXPECT_EQ(s.sampler, "grid");
  EXPECT_EQ(s.trials, 0);
  EXPECT_EQ(s.seed, 1u);
  EXPECT_EQ(s.measure.rounds, 3);
  EXPECT_EQ(s.validate_points, 6);
  EXPECT_EQ(s.model_where, "s.toml:2:9");
  ASSERT_EQ(s.workloads.size(), 1u);
  EXPECT_EQ(s.workloads[0].phase, Phase::decode);
  EXPECT_EQ(s.workloads[0].batches, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(s.workloads[0].new_tokens, 1);
  EXPECT_EQ(s.workloads[0].context, 1024);
  EXPECT_TRUE(s.workloads[0].precisions.empty());
}

TEST(Sweep, kernels_stand_in_stacks_where_it_says_so) {
  EXPECT_FALSE(parse_sweep(minimal, "s.toml").measure.in_stack);
  EXPECT_FALSE(parse_sweep(minimal + "[measure]\nrounds = 2\n", "s.toml").measure.in_stack);
  EXPECT_TRUE(parse_sweep(minimal + "[measure]\nin_stack = true\n", "s.toml").measure.in_stack);
}

TEST(Sweep, a_prefill_sees_its_new_tokens_unless_more_context_is_named) {
  const std::string prefill =
      replaced(replaced(minimal, "'decode'", "'prefill'"), "context = 1024", "new_tokens = 512");
  EXPECT_EQ(parse_sweep(prefill, "s").workloads[0].context, 512);
  EXPECT_EQ(parse_sweep(prefill + "context = 600\n", "s").workloads[0].context, 600);
  const std::string said = refusal(prefill + "context = 511\n");
  EXPECT_TRUE(said.starts_with("s.toml:8:11: context 511 is below new_tokens 512")) << said;
}

TEST(Sweep, everything_that_is_written_is_taken) {
  const Sweep s = parse_sweep(
      "shards = [1, 2]\nstrategies = 'tensor'\nsampler = 'nsga2'\ntrials = 40\nseed = 9\n"
      "budget_s = 12.5\nobjectives = ['memory', 'latency']\nbackend = 'fake'\ndevice = '3'\n" +
          minimal +
          "dtypes = 'int8'\n[measure]\nrounds = 5\nsample_budget_s = 0.5\nsamples_min = 20\n"
          "wall_cap_s = 30\nwarmup_cap_s = 0\n[validate]\npoints = 2\nbudget_s = 7\nturn_s = 0.5\n",
      "s.toml");
  EXPECT_EQ(s.shards, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(s.strategies, std::vector<std::string>{"tensor"});
  EXPECT_EQ(s.sampler, "nsga2");
  EXPECT_EQ(s.trials, 40);
  EXPECT_EQ(s.seed, 9u);
  EXPECT_EQ(s.budget_s, 12.5);
  EXPECT_EQ(s.objectives, (std::vector{Objective::memory, Objective::latency}));
  EXPECT_EQ(s.backend, "fake");
  EXPECT_EQ(s.device, "3");
  EXPECT_EQ(s.workloads[0].precisions, std::vector<std::string>{"int8"});
  EXPECT_EQ(s.measure.rounds, 5);
  EXPECT_EQ(s.measure.sample_budget_s, 0.5);
  EXPECT_EQ(s.measure.samples_min, 20);
  EXPECT_EQ(s.measure.wall_cap_s, 30);
  EXPECT_EQ(s.measure.warmup_cap_s, 0);
  EXPECT_EQ(s.validate_points, 2);
  EXPECT_EQ(s.validate_budget_s, 7);
  EXPECT_EQ(s.validate_turn_s, 0.5);
}

struct Refused {
  const char* from;
  const char* to;
  const char* line;  // how the refusal begins
};

class RefusedSweeps : public testing::TestWithParam<Refused> {};

TEST_P(RefusedSweeps, say_place_fault_and_remedy) {
  const Refused& c = GetParam();
  const std::string said = refusal(replaced(minimal, c.from, c.to));
  EXPECT_TRUE(said.starts_with(c.line)) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedSweeps,
    testing::Values(
        Refused{"name = 'a'", "nam = 'a'", "s.toml:1:1: unknown key 'nam'; did you mean 'name'?"},
        Refused{"name = 'a'", "name = 'a'\nsampelr = 'grid'",
                "s.toml:2:1: unknown key 'sampelr'; did you mean 'sampler'?"},
        Refused{"name = 'a'", "name = 7", "s.toml:1:8: key 'name' is 7; expected a string"},
        Refused{"dtypes = 'bf16'", "dtypes = 'bf61'",
                "s.toml:3:10: key 'dtypes': 'bf61' is unknown; did you mean 'bf16'"},
        Refused{"dtypes = 'bf16'", "dtypes = []", "s.toml:3:10: key 'dtypes' is a list"},
        Refused{"dtypes = 'bf16'", "dtypes = 'bf16'\nstrategies = 'tensr'",
                "s.toml:4:14: key 'strategies': 'tensr' is unknown; did you mean 'tensor'"},
        Refused{"dtypes = 'bf16'", "dtypes = 'bf16'\nobjectives = 'latencies'",
                "s.toml:4:14: key 'objectives': 'latencies' is unknown; did you mean 'latency'"},
        Refused{"dtypes = 'bf16'", "dtypes = 'bf16'\nshards = 0",
                "s.toml:4:10: key 'shards' is 0; expected an integer from 1"},
        Refused{"dtypes = 'bf16'", "dtypes = 'bf16'\nbudget_s = -1", "s.toml:4:12: key 'budget_s'"},
        Refused{"dtypes = 'bf16'", "dtypes = 'bf16'\nmeasure = 3",
                "s.toml:4:11: key 'measure' is 3; expected a table [measure]"},
        Refused{"phase = 'decode'", "phase = 'decod'",
                "s.toml:5:9: key 'phase': 'decod' is unknown; did you mean 'decode'"},
        Refused{"phase = 'decode'\n", "", "s.toml:4:1: key 'phase' is missing in [workload[0]]"},
        Refused{"batch = [1, 4]", "batch = [1, 0]", "s.toml:6:13: key 'batch' is 0; expected"},
        Refused{"batch = [1, 4]", "batch = [4, 1, 4]",
                "s.toml:6:16: key 'batch' is 4; expected each value once"},
        Refused{"dtypes = 'bf16'", "dtypes = ['bf16', 'bf16']", "s.toml:3:19: key 'dtypes' is"},
        Refused{"batch = [1, 4]", "batch = 'all'", "s.toml:6:9: key 'batch' is"},
        Refused{"context = 1024", "context = 1e3", "s.toml:7:11: key 'context' is"},
        Refused{"context = 1024", "contxt = 1024",
                "s.toml:7:1: unknown key 'contxt' in [workload[0]]; did you mean 'context'?"},
        Refused{"context = 1024\n", "", "s.toml:4:1: key 'context' is missing in [workload[0]]"},
        Refused{"name = 'a'\n", "", "s.toml:1:1: key 'name' is missing"},
        Refused{"context = 1024", "context = 1024\nbatches = 3",
                "s.toml:8:1: unknown key 'batches' in [workload[0]]; did you mean 'batch'"},
        Refused{"context = 1024", "context = 1024\n[measure]\nrounds = 0",
                "s.toml:9:10: key 'rounds' is 0"},
        Refused{"context = 1024", "context = 1024\n[validate]\npoint = 3",
                "s.toml:9:1: unknown key 'point' in [validate]; did you mean 'points'"},
        Refused{"name = 'a'", "name = ", "s.toml:1:"}),
    [](const auto& info) { return test::case_name({info.param.line}); });

TEST(Sweep, a_fabric_is_taken_with_its_place_and_not_looked_up) {
  const Sweep s = parse_sweep("fabric = 'two-nodes'\n" + minimal, "s.toml");
  EXPECT_EQ(s.fabric, "two-nodes");
  EXPECT_EQ(s.fabric_where, "s.toml:1:10");
  EXPECT_EQ(parse_sweep(minimal, "s.toml").fabric, "");
  EXPECT_TRUE(refusal("fabric = 7\n" + minimal)
                  .starts_with("s.toml:1:10: key 'fabric' is 7; expected a string"));
}

TEST(Sweep, routing_is_even_unless_a_skew_is_stated) {
  EXPECT_EQ(parse_sweep(minimal, "s.toml").routing_skew, 0);
  const Sweep skewed = parse_sweep("routing_skew = 50\n" + minimal, "s.toml");
  EXPECT_EQ(skewed.routing_skew, 50);
  EXPECT_EQ(skewed.routing_skew_where, "s.toml:1:16");
  EXPECT_NE(refusal("routing_skew = 1001\n" + minimal).find("1001"), std::string::npos);
  EXPECT_NE(refusal("routing_skew = -1\n" + minimal).find("-1"), std::string::npos);
}

TEST(Sweep, one_without_a_workload_is_refused) {
  const std::string said = refusal("name = 'a'\nmodel = 'm'\ndtypes = 'f32'\n");
  EXPECT_TRUE(said.starts_with("s.toml: no [[workload]] is given")) << said;
}

TEST(Sweep, every_shipped_file_is_read) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::in_source("/configs/sweeps"))) {
    if (entry.path().extension() != ".toml") continue;
    const auto s = read_tune_file(entry.path().string());
    EXPECT_EQ(std::visit([](const auto& sweep) { return sweep.name; }, s),
              entry.path().stem().string());
    ++files;
  }
  EXPECT_GE(files, 2);
}

TEST(Sweep, the_quickstart_is_the_promised_grid) {
  const Sweep s = read_sweep(test::in_source("/configs/sweeps/quickstart.toml"));
  EXPECT_EQ(s.model, "qwen3-0.6b");
  EXPECT_EQ(s.precisions, (std::vector<std::string>{"f32", "bf16", "int8"}));
  ASSERT_EQ(s.workloads.size(), 3u);
  EXPECT_EQ(s.workloads[0].batches, (std::vector<std::int64_t>{1, 4, 16}));
  EXPECT_EQ(s.workloads[0].context, 1024);
  EXPECT_EQ(s.workloads[1].new_tokens, 512);
  EXPECT_EQ(s.workloads[2].precisions, (std::vector<std::string>{"bf16", "int8"}));
  EXPECT_EQ(s.measure.rounds, 3);
  EXPECT_LE(s.budget_s, 180);
}

}  // namespace
}  // namespace halmark
