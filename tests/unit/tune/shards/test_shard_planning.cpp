// Names become values, and measured steps become pairs: the seams between a plan and its sources.
// Layers per stage as a parameter of a sweep: beside equal stages, each with its own number of
// stages.
#include <gmock/gmock.h>

#include "../../model/fixtures.hpp"
#include "core/text/error.hpp"
#include "model/graph/graph.hpp"
#include "plan/device/device_file.hpp"
#include "plan/sweep.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tune/problem/problem.hpp"
#include "tune/shards/journal_steps.hpp"
#include "tune/shards/shard_planning.hpp"
#include "tune/shards/shard_times.hpp"

namespace halmark::tune {
namespace {

const std::filesystem::path configs = std::filesystem::path(halmark::test::in_source()) / "configs";

Device device(const std::string& id) { return known_device(id, {configs / "devices"}); }

Configuration step(const ModelSpec& spec, const Parallel& parallel, std::int64_t batch) {
  return {.model = spec.id,
          .parallel = parallel,
          .precision = model_test::bf16(),
          .workload = {.batch = batch, .context = 1024}};
}

simulate::PlanAnswer planned(const std::vector<std::string>& devices, const ShardPlanning& asked,
                             const Configuration& configuration) {
  const ModelSpec spec = model_test::shipped(configuration.model);
  std::vector<Device> known;
  for (const std::string& id : devices) known.push_back(device(id));
  return plan_shards(spec, configuration, known, asked, {configs / "fabrics"});
}

TEST(ShardPlanning, gives_the_slower_of_two_devices_fewer_layers) {
  const ModelSpec spec = model_test::shipped("qwen3-8b");
  const auto plan = planned({"h100-sxm", "l40s"}, {.fabric = "ib-pair"}, step(spec, {}, 2));
  const Parallel& chosen = plan.plan.chosen()->configuration.parallel;
  ASSERT_EQ(chosen.stages.size(), 2u);
  // 3.35 TB/s beside 864 GB/s: decode reads weights.
  EXPECT_GT(chosen.stages[0], 2 * chosen.stages[1]);
  EXPECT_THAT(plan.not_executable, testing::HasSubstr("not executable here"));
}

TEST(ShardPlanning, keeps_degrees_that_are_stated_and_leaves_out_what_is_not_named) {
  const ModelSpec spec = model_test::shipped("qwen3-8b");
  const auto kept =
      planned({"h100-sxm"}, {.fabric = "nvlink-node", .shards = 8}, step(spec, {.tp = 2}, 16));
  for (const auto& layout : kept.plan.layouts) EXPECT_EQ(layout.configuration.parallel.tp, 2);
  EXPECT_GT(kept.plan.layouts.size(), 1u);
  const auto tensor =
      planned({"h100-sxm"}, {.fabric = "nvlink-node", .shards = 8, .strategy = "tensor"},
              step(spec, {}, 16));
  ASSERT_EQ(tensor.plan.layouts.size(), 1u);
  EXPECT_EQ(tensor.plan.chosen()->configuration.parallel.tp, 8);
}

TEST(ShardPlanning, prices_exchanges_over_the_fabric) {
  const ModelSpec spec = model_test::shipped("qwen3-8b");
  const auto fast =
      planned({"h100-sxm"}, {.fabric = "nvlink-node", .shards = 2, .strategy = "tensor"},
              step(spec, {}, 1));
  const auto slow = planned({"h100-sxm"}, {.fabric = "lite", .shards = 2, .strategy = "tensor"},
                            step(spec, {}, 1));
  EXPECT_GT(slow.plan.chosen()->cost.step.communication_ns,
            4 * fast.plan.chosen()->cost.step.communication_ns);
  EXPECT_EQ(slow.plan.chosen()->cost.step.compute_ns, fast.plan.chosen()->cost.step.compute_ns);
}

TEST(ShardPlanning, a_measured_cpu_is_cut_into_its_shards) {
  Device cpu = device("epyc-9654");
  cpu.is_measured = true;
  const ShardOf half = shard_of(cpu, 2), whole = shard_of(cpu, 1);
  EXPECT_EQ(half.share.parts, 2);
  EXPECT_EQ(shard_of(device("h100-sxm"), 2).share.parts, 1);
  if (whole.memory_bytes) {
    EXPECT_EQ(*half.memory_bytes * 2, *whole.memory_bytes);
  }
}

TEST(JournalSteps, compare_each_kind_with_what_is_predicted_of_it) {
  const ModelSpec spec = model_test::shipped("qwen3-0.6b");
  const auto steps = [&](double compute, double exchange) {
    std::vector<MeasuredStep> out;
    for (const std::int64_t batch : {2, 4, 8}) {
      MeasuredStep one{.configuration = step(spec, {.tp = 2}, batch), .validation = {}};
      const auto graph = build_graph(spec, one.configuration);
      for (const Operator& op : graph->operators) {
        const double factor = op.kind == OperatorKind::collective ? exchange : compute;
        one.validation.operators.push_back(
            {.name = op.name,
             .composed_ns = {},
             .measured_ns = factor * 1000 * static_cast<double>(op.stage_counts[0])});
      }
      out.push_back(std::move(one));
    }
    return out;
  };
  const auto flat = [](std::int64_t) {
    return simulate::OperatorTime([](const Operator&) { return 1000.0; });
  };
  const simulate::MeasuredPairs pairs = measured_pairs(spec, steps(1.5, 3), flat);
  EXPECT_NEAR(simulate::calibrate(pairs.compute).factor, 1.5, 1e-9);
  EXPECT_NEAR(simulate::calibrate(pairs.communication).factor, 3, 1e-9);
}

Sweep sweep_with(const std::string& more) {
  return parse_sweep("name = \"stages\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\"]\n" + more +
                         "\n[[workload]]\nphase = \"decode\"\nbatch = 4\ncontext = 128\n",
                     "test.toml");
}

std::vector<Configuration> configurations(const Sweep& sweep) {
  const ModelSpec spec = load_model("qwen3-0.6b", {halmark::test::in_source("/configs/models")});
  const std::vector<std::int64_t> shards = {1, 2, 4};
  const TuneProblem problem = problems_of(sweep, spec, shards, {}).front();
  std::vector<Configuration> out;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    out.push_back(problem.at(problem.space().point(i)));
    EXPECT_FALSE(check_configuration(spec, out.back())) << out.back().key();
  }
  return out;
}

TEST(StatedStages, stand_beside_equal_ones_with_their_own_number_of_stages) {
  const auto plain = configurations(sweep_with(""));
  const auto stated = configurations(sweep_with("stages = [\"10,18\", \"12,16\", \"4,8,8,8\"]"));
  const auto pipelines = [&](const std::vector<Configuration>& all, int pp) {
    return std::ranges::count_if(all, [pp](const Configuration& c) {
      return c.parallel.pp == pp && c.parallel.stages.empty();
    });
  };
  const auto of_two = pipelines(plain, 2), of_four = pipelines(plain, 4);
  EXPECT_EQ(pipelines(stated, 2), of_two);
  EXPECT_EQ(pipelines(stated, 4), of_four);
  EXPECT_EQ(std::ssize(stated), std::ssize(plain) + 2 * of_two + of_four);
  for (const Configuration& c : stated) {
    if (!c.parallel.stages.empty()) {
      EXPECT_EQ(std::ssize(c.parallel.stages), c.parallel.pp);
    }
  }
}

TEST(StatedStages, that_do_not_go_with_the_model_are_refused) {
  const auto refusal_of = [](const std::string& text) -> std::string {
    try {
      configurations(sweep_with(text));
    } catch (const Error& e) {
      return e.line();
    }
    return "";
  };
  halmark::test::expect_each(
      refusal_of,
      {{"stages = [\"10,17\"]", "stages 10,17 hold 27 layers, and qwen3-0.6b has 28"},
       {"stages = [\"10,\"]", "no layers per stage"},
       {"stages = [\"0,28\"]", "no layers per stage"},
       {"sampler = \"certify\"\nstages = [\"10,18\"]", "proofs know equal ones alone"}});
}

TEST(StatedStages, are_read_as_they_are_written) {
  EXPECT_EQ(parse_stages("10,18", "x"), (std::vector<int>{10, 18}));
  EXPECT_EQ(parse_stages("28", "x"), (std::vector<int>{28}));
  for (const char* bad : {"", ",", "1,,2", "1;2", "-1,2", "a", "1, 2"}) {
    EXPECT_THROW(parse_stages(bad, "x"), Error) << bad;
  }
}

}  // namespace
}  // namespace halmark::tune
