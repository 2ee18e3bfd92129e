// The page against halmark simulate: the same step, link for link and joule for joule.
#include "pages/serve/document/simulation_document.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/json/json.hpp"
#include "pages/serve/simulator_page.hpp"
#include "plan/device/device_file.hpp"
#include "plan/precision.hpp"
#include "shipped.hpp"
#include "simulate/schedule/simulation_json.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::pages {
namespace {

using Values = std::map<std::string, std::string>;

struct Case {
  std::string name;
  Values values;
  Parallel parallel;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"dense_decode",
       {{"model", "llama-3.1-70b"},
        {"device", "h100-sxm"},
        {"fabric", "nvlink-node"},
        {"shards", "8"},
        {"batch", "32"},
        {"context", "4096"},
        {"dtype", "bf16"}},
       {.tp = 8}},
      {"pipeline_decode",
       {{"model", "qwen3-32b"},
        {"device", "h100-sxm"},
        {"fabric", "nvlink-node"},
        {"shards", "8"},
        {"batch", "16"},
        {"context", "2048"}},
       {.tp = 2, .pp = 4}},
      {"experts_decode",
       {{"model", "qwen3-235b-a22b"},
        {"device", "b200"},
        {"fabric", "nvl72"},
        {"shards", "16"},
        {"batch", "64"},
        {"context", "8192"}},
       {.dp = 2, .tp = 8, .ep = 16}},
      {"prefill_over_leaves",
       {{"model", "qwen3-32b"},
        {"device", "h100-sxm"},
        {"fabric", "leaf-spine"},
        {"shards", "16"},
        {"batch", "16"},
        {"context", "4096"},
        {"new", "1024"},
        {"phase", "prefill"}},
       {.tp = 8, .pp = 2}},
      {"training",
       {{"model", "qwen3-8b"},
        {"device", "h100-sxm"},
        {"fabric", "nvlink-node"},
        {"shards", "8"},
        {"batch", "32"},
        {"context", "2048"},
        {"phase", "training"},
        {"zero", "1"},
        {"micro", "2"},
        {"recompute", "selective"}},
       {.dp = 2, .tp = 2, .pp = 2}},
  };
  return all;
}

class SimulatedPages : public testing::TestWithParam<Case> {
 protected:
  Values values() const {
    Values out = GetParam().values;
    out["strategy"] = GetParam().parallel.text();
    return out;
  }
};

// What the command does, without the page's own rooms.
tune::SimulatedStep commanded(const Case& of, std::optional<int> runs) {
  const PageSources sources = shipped_sources();
  const PageState state = parse_state(of.values);
  const ModelSpec spec = load_model(state.model, sources.models);
  const Device device = known_device(state.device, sources.devices);
  Configuration c{.model = spec.id,
                  .parallel = of.parallel,
                  .precision = precision_of(state.dtype, tune::precision_facts(spec, true)),
                  .workload = {.phase = state.phase,
                               .batch = state.batch,
                               .new_tokens = state.new_tokens,
                               .context = state.context}};
  StepQuestion question;
  if (state.phase == Phase::training) {
    c.workload.micro_batch = *state.training.micro_batch;
    question.training = training_plan(state.training, c.precision);
  }
  const PricedStep step = price_step(spec, c, device, question);
  tune::StepSimulating asked{.fabric = state.fabric};
  asked.options.runs = runs;
  return tune::simulate_step(step, asked, sources.devices, sources.fabrics, [](double, int) {});
}

double figure(const Json& document, const std::string& key) {
  for (const Json& one : document["figures"]) {
    if (one["key"] == key) return one["value"].get<double>();
  }
  throw std::runtime_error("no figure " + key);
}

TEST_P(SimulatedPages, say_what_halmark_simulate_says) {
  SimulatorPage page(shipped_settings());
  const tune::SimulatedStep command = commanded(GetParam(), 0);
  const Json throughput = schedule::throughput_json(command.simulation)["throughput"];
  const Json document = page.answer({"simulation", values()});
  EXPECT_DOUBLE_EQ(figure(document, "step_ns"), command.simulation.step_ns());
  EXPECT_DOUBLE_EQ(figure(document, "tokens_per_s"), throughput["tokens_per_s"].get<double>());
  EXPECT_DOUBLE_EQ(figure(document, "flops_per_s"), throughput["flops_per_s"].get<double>());
  EXPECT_DOUBLE_EQ(figure(document, "mfu"), throughput["mfu"].get<double>());
  EXPECT_DOUBLE_EQ(figure(document, "j_per_token"), command.power->j_per_token());
  EXPECT_DOUBLE_EQ(figure(document, "power"), command.power->use.mean_w);
  const Json parts = schedule::critical_json(command.simulation);
  EXPECT_EQ(document["critical"], parts["critical_path"]);
  EXPECT_DOUBLE_EQ(figure(document, "bubble"), parts["devices"]["bubble"].get<double>());
  EXPECT_EQ(document["schedule"], schedule::schedule_json(command.simulation)["schedule"]);
  double busiest = 0;
  const Json links = schedule::links_json(command.simulation)["links"];
  for (const Json& link : links) {
    busiest = std::max(busiest, link["utilisation"].get<double>());
  }
  EXPECT_DOUBLE_EQ(document["load"]["busiest"].get<double>(), busiest);
  double drawn = 0;
  for (const Json& link : document["load"]["links"]) drawn = std::max(drawn, link[2].get<double>());
  EXPECT_DOUBLE_EQ(drawn, busiest) << "the fullest link is drawn";
}

// What a slider shows at once is what the events say after it.
TEST_P(SimulatedPages, answer_at_once_with_the_same_step) {
  SimulatorPage page(shipped_settings());
  const double at_once = figure(page.answer({"step", values()}), "step_ns");
  const double simulated = figure(page.answer({"simulation", values()}), "step_ns");
  EXPECT_NEAR(at_once, simulated, 1e-6 * simulated);
}

TEST_P(SimulatedPages, draw_the_same_percentiles) {
  if (GetParam().name == "experts_decode") GTEST_SKIP() << "a hundred times 100,000 events";
  SimulatorPage page(shipped_settings());
  const schedule::StepRuns runs = commanded(GetParam(), std::nullopt).simulation.runs;
  const Json document = page.answer({"spread", values()});
  EXPECT_EQ(document["n"], runs.ns.size());
  for (const auto& [key, q] :
       std::map<std::string, double>{{"p50_ns", 0.5}, {"p90_ns", 0.9}, {"p99_ns", 0.99}}) {
    EXPECT_DOUBLE_EQ(figure(document, key), runs.quantile_ns(q)) << key;
  }
}

void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

INSTANTIATE_TEST_SUITE_P(States, SimulatedPages, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

// An all-reduce over n ranks of a switch: every rank sends 2 (n - 1) / n of the message. Two of
// them a layer, of batch x hidden values in two bytes.
TEST(LinkLoads, are_what_the_all_reduces_of_the_step_send) {
  SimulatorPage page(shipped_settings());
  Values values = cases().front().values;
  values["strategy"] = "tp8";
  const Json document = page.answer({"simulation", values});
  ASSERT_EQ(document["load"]["links"].size(), 8u);  // each device to the switch
  // One more behind the embedding; logits are gathered, 128,256 of them in two bytes a sequence.
  const double sent = ((80 * 2 + 1) * (32.0 * 8192 * 2) * 2 + 32.0 * 128256 * 2) * 7 / 8;
  for (const Json& link : document["load"]["links"]) {
    EXPECT_NEAR(link[3].get<double>(), sent, 1e-6 * sent);
    // 450 GB/s one way.
    EXPECT_NEAR(link[2].get<double>(),
                link[3].get<double>() / (450e9 * figure(document, "step_ns") * 1e-9), 1e-9);
  }
}

// GPipe: m micro-batches through p equal stages take (m + p - 1) turns; here m = p = 4.
TEST(ShownTimelines, fill_and_drain_a_pipeline) {
  SimulatorPage page(shipped_settings());
  Values values = cases().front().values;
  values["strategy"] = "tp2 pp4";
  const double stream_ns = figure(page.answer({"step", values}), "stream_ns");
  const Json timeline = page.answer({"simulation", values})["timeline"];
  const double turn_ns = stream_ns / 4, makespan_ns = timeline["makespan_us"].get<double>() * 1e3;
  EXPECT_GT(makespan_ns, 6 * turn_ns);
  EXPECT_LE(makespan_ns, 7 * turn_ns * 1.001);
  double critical_us = 0;
  std::size_t critical = 0;
  for (const Json& event : timeline["events"]) {
    EXPECT_LE(event[0].get<double>(), event[1].get<double>());
    if (event[6] != 1) continue;
    critical_us += event[1].get<double>() - event[0].get<double>();
    ++critical;
  }
  EXPECT_NEAR(critical_us * 1e3, makespan_ns, 1.0 * static_cast<double>(critical));
}

// Of more events than are sent: whole devices, those with the critical path among them.
TEST(ShownTimelines, leave_out_devices_and_say_so) {
  SimulatorPage page(shipped_settings());
  Values values = cases()[2].values;
  values["shards"] = "32";
  values["strategy"] = "dp4 tp8 ep32";
  const Json some = page.answer({"simulation", values})["timeline"];
  values["all"] = "1";
  const Json all = page.answer({"simulation", values})["timeline"];
  EXPECT_GT(some["left_out"].get<std::size_t>(), 0u);
  EXPECT_FALSE(some["note"].get<std::string>().empty());
  EXPECT_EQ(all["left_out"], 0u);
  EXPECT_EQ(some["makespan_us"], all["makespan_us"]);
  EXPECT_LE(some["events"].size(), shown_events_max);
  const auto critical = [](const Json& timeline) {
    return std::ranges::count_if(timeline["events"], [](const Json& e) { return e[6] == 1; });
  };
  EXPECT_EQ(critical(some), critical(all));
}

}  // namespace
}  // namespace halmark::pages
