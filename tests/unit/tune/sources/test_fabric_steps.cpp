// Steps over a fabric: both ways of pricing one put the groups of a layout in the same places.
#include <gmock/gmock.h>

#include "latency/roofline_source.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/pricing/step_pricer.hpp"
#include "plan/device/device_file.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/expect.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/evaluate/step/placed_latencies.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/fabric_source.hpp"

namespace halmark::tune {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

const Folders models = {halmark::test::in_source("/configs/models")};
const Folders fabrics = {halmark::test::in_source("/configs/fabrics")};

Device h100() { return read_device(halmark::test::in_source("/configs/devices/h100-sxm.toml")); }

LatencyChain chain_over(const std::string& fabric, const Device& device) {
  LatencyChain out;
  out.add(SourceKind::roofline, std::make_unique<RooflineSource>(device, std::optional(50e9)));
  out.add(SourceKind::fabric,
          std::make_unique<FabricSource>(fabric::known_fabric(fabric, fabrics),
                                         roofline::Ceilings(device, 0, 1, 50e9), true));
  return out;
}

// Times of layouts are shared by what they have in common: a layout that was priced before must not
// leave its places to the next.
TEST(FabricSteps, layouts_priced_together_and_alone_agree) {
  const ModelSpec spec = load_model("qwen3-30b-a3b", models);
  const Device device = h100();
  const LatencyChain chain = chain_over("rail-su", device);
  StepPricer steps(
      spec,
      [&](const Operator& op) {
        return kernel_time(chain.latency(op.local, op.local_work, op.group_stride));
      },
      nullptr, 0);
  const Precision precision = precision_of("bf16", {});
  int compared = 0;
  for (const int tp : {1, 2, 4}) {
    for (const int pp : {1, 2}) {
      for (const int ep : {1, 4, 8}) {
        for (const int dp : {1, 4, 16}) {
          const Parallel parallel{.dp = dp, .tp = tp, .pp = pp, .ep = ep};
          if (tp * dp % ep != 0) continue;
          const Configuration c{
              spec.id, parallel, precision, {Phase::decode, 4ll * dp * pp, 1, 512}};
          auto built = build_graph(spec, c);
          if (built.get() == nullptr) continue;
          const Composer composer(*std::move(built), {.backend = "x", .parts = 1}, {});
          const Evaluation alone = composer.compose(placed(chain, composer.graph()));
          const auto together = steps.price(steps.layout(parallel, precision), Phase::decode,
                                            c.workload.batch, 1, 512);
          ASSERT_TRUE(alone.estimate && together) << parallel.text() << alone.reason;
          EXPECT_NEAR(together->step_ns, alone.estimate->step_ns, 1e-9 * together->step_ns)
              << parallel.text();
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 20);
}

// Experts of 8 replicas of one device each lie in a server, of replicas of eight devices in eight.
TEST(FabricSteps, rows_of_experts_cross_servers_where_replicas_fill_them) {
  const ModelSpec spec = load_model("qwen3-235b-a22b", models);
  const Device device = h100();
  const LatencyChain chain = chain_over("rail-su", device);
  const auto exchange_ns = [&](const Parallel& parallel) {
    auto built = build_graph(
        spec, {spec.id, parallel, precision_of("bf16", {}), {Phase::decode, 64, 1, 512}});
    const Composer composer(*std::move(built), {.backend = "x", .parts = 1}, {});
    const Evaluation e = composer.compose(placed(chain, composer.graph()));
    for (const OperatorShare& op : e.estimate->operators) {
      if (op.name == "dispatch_all_to_all") {
        EXPECT_EQ(op.provenance, Provenance::fabric);
        return std::pair(op.ns / static_cast<double>(op.count), op.implementation);
      }
    }
    return std::pair(0.0, std::string());
  };
  const auto [near_ns, near] = exchange_ns({.dp = 8, .tp = 1, .pp = 1, .ep = 8});
  const auto [far_ns, far] = exchange_ns({.dp = 8, .tp = 4, .pp = 1, .ep = 32});
  EXPECT_THAT(near, HasSubstr("curve of NVLink systems"));
  EXPECT_THAT(far, testing::Not(testing::Eq(near)));
  EXPECT_GT(near_ns, 0);
  EXPECT_GT(far_ns, 0);
}

// A cache goes from worker to worker over what all of them together span.
TEST(FabricSteps, caches_are_handed_over_at_the_rate_of_the_deployment) {
  const ModelSpec spec = load_model("qwen3-0.6b", models);
  Target target;
  target.backend = "h100-sxm";
  target.datasheet = h100();
  target.memory_bytes = target.datasheet->memory_bytes;
  const LatencyChain chain = chain_over("ib-pair", *target.datasheet);
  const RequestShape request{.input_tokens = 4096, .output_tokens = 16};
  Configuration c;
  c.model = spec.id;
  c.precision = precision_of("bf16", {});
  c.served = ServedLoad{.request = request, .concurrency = 4, .token_budget = 4096};
  c.served->mode = ServingMode::disaggregated;
  c.served->prefill_workers = c.served->decode_workers = 2;
  const auto ttft_ns = [&](const ServedCosts& costs) {
    ServedEvaluator evaluator(spec, target, chain, request, 0, costs);
    const std::vector<Configuration> asked = {c};
    return evaluator.evaluate(asked).at(0).served.value().figures.ttft_ns;
  };
  std::int64_t asked_of = 0;
  const auto at = [&](double rate) {
    return ServedCosts{.transfer_bytes_per_s = 1,
                       .fabric_bytes_per_s = [&asked_of, rate](std::int64_t devices) {
                         asked_of = devices;
                         return rate;
                       }};
  };
  EXPECT_DOUBLE_EQ(ttft_ns(at(50e9)), ttft_ns({.transfer_bytes_per_s = 50e9}));
  EXPECT_EQ(asked_of, 4);
  EXPECT_GT(ttft_ns(at(5e9)), ttft_ns(at(50e9)));
}

Sweep sweep_over(const std::string& fabric, const std::string& shards,
                 const std::string& more = "") {
  return parse_sweep("name = \"s\"\nmodel = \"qwen3-0.6b\"\nfabric = \"" + fabric +
                         "\"\nshards = " + shards + "\ndtypes = [\"bf16\"]\n" + more +
                         "[[workload]]\nphase = \"decode\"\nbatch = 4\ncontext = 64\n",
                     "s.toml");
}

TEST(NamedFabric, is_part_of_the_plan_and_of_its_hash) {
  const auto over = [](const std::string& fabric) {
    return priced_plan(sweep_over(fabric, "[1, 2]"), h100(), models, fabrics);
  };
  EXPECT_EQ(over("ib-pair")->target().fabric->devices().size(), 16u);
  EXPECT_EQ(over("ib-pair")->json()["fabric"]["id"], "ib-pair");
  EXPECT_NE(over("ib-pair")->hash(), over("rail-su")->hash());
}

// Two files of one name are two fabrics.
TEST(NamedFabric, is_told_apart_by_its_links) {
  fabric::Topology one = fabric::known_fabric("ib-pair", fabrics), other = one;
  EXPECT_EQ(fabric_digest(one), fabric_digest(other));
  other.figures.front().latency_ns += 1;
  EXPECT_NE(fabric_digest(one), fabric_digest(other));
}

TEST(NamedFabric, that_does_not_fit_or_is_not_known_is_refused_where_it_stands) {
  const auto refusal = [](const std::string& fabric, const std::string& shards,
                          const std::string& more = "") {
    return error_of([&] { priced_plan(sweep_over(fabric, shards, more), h100(), models, fabrics); })
        .line();
  };
  EXPECT_THAT(refusal("nvlink-node", "[4, 9]"),
              AllOf(HasSubstr("s.toml:3:10: "), HasSubstr("does not fit the configuration"),
                    HasSubstr("it has 8 devices, and 9 are wanted")));
  EXPECT_THAT(refusal("nvlink-nodes", "[4]"), HasSubstr("s.toml:3:10: "));
  Sweep sweep = sweep_over("rail-su", "[4]");
  take_fabric(sweep, "");
  EXPECT_EQ(sweep.fabric, "rail-su");
  take_fabric(sweep, "lite");
  const Error error = error_of([&] { priced_plan(sweep, h100(), models, fabrics); });
  EXPECT_EQ(error.where(), "--fabric");
}

// Who measures asks for one core after the other where the sweep states no shards.
TEST(NamedFabric, of_a_measured_sweep_has_as_many_devices_as_are_tried) {
  Target target;
  target.cores = 8;
  target.memory_bytes = 1ll << 36;
  const auto error = error_of(
      [&] { measured_plan(sweep_over("one-host", "[1, 5]"), target, true, models, fabrics); });
  EXPECT_THAT(error.line(), HasSubstr("it has 4 devices, and 5 are wanted"));
  halmark::test::expect_error(
      [&] {
        measured_plan(sweep_over("one-host", "[1]", "sampler = \"certify\"\n"), target, true,
                      models, fabrics);
      },
      "s.toml:3:10: certify proves what is measured");
}

}  // namespace
}  // namespace halmark::tune
