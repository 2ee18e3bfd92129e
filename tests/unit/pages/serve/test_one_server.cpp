// One server by one name and four commands: the search of `halmark tune`, `halmark simulate
// serving`, the page of `halmark serve`, and what is exported for the engine.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "export/engine/launch_text.hpp"
#include "plan/asked_sweep.hpp"
#include "shipped.hpp"
#include "tune/plan/deployment.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/search/priced/priced_sweep.hpp"
#include "tune/serving/served_simulation.hpp"

namespace halmark::pages {
namespace {

struct Server {
  const char *engine, *model, *device;
  Dtype cache;  // as public launch scripts of the engine ask, else as engines take by themselves
};

constexpr std::int64_t clients = 16, tp = 4;

ServedReport searched(const Server& server, const PageSources& sources) {
  AskedSweep asked{.model = server.model,
                   .device = server.device,
                   .devices = tp,
                   .input_tokens = 1024,
                   .output_tokens = 128,
                   .concurrency = {clients},
                   .dtypes = {"fp8"}};
  const Device device = tune::asked_device(asked, sources.models, sources.devices);
  const Sweep sweep = parse_sweep(asked_sweep_text(asked, device), "asked");
  tune::LatencyChoice choice = tune::latency_choice(sweep, {});
  choice.engine = parse_engine(server.engine);
  const tune::PricedSweep priced(sweep, choice, sources.models, sources.devices, sources.fabrics);
  return std::get<ServedReport>(priced.search({}, {}));
}

// Of all devices in one tensor-parallel group, with the budget of the simulation.
Evaluation like(const ServedReport& report, const tune::ServedSimulation& simulated) {
  for (const Evaluation& e : report.tried) {
    const bool is_meant =
        e.configuration.parallel == simulated.configuration.parallel &&
        e.configuration.served->token_budget == simulated.plan.engine.token_budget;
    if (e.served && is_meant) return e;
  }
  throw std::runtime_error("the search did not try it");
}

tune::ServedSimulation simulated(const Server& server, const PageSources& sources) {
  tune::ServingQuestion q{.model = server.model, .dtype = "fp8", .tp = tp};
  q.latency = {
      .sources = sources.latency, .device = server.device, .engine = parse_engine(server.engine)};
  q.load = {.shape = {1024, 128}, .requests = 0, .clients = clients};
  return tune::simulate_serving(q, sources.models, sources.devices);
}

std::string launched(const Evaluation& point, const Server& server, const PageSources& sources) {
  const SearchedFront front{.model = server.model, .device = server.device, .points = {point}};
  const Deployment d =
      tune::deployment_of(front, 1, "a/checkpoint", sources.models, sources.devices);
  const std::string name = server.engine;
  const auto table =
      exports::read_engine_table(name.substr(0, name.find(':')), "", sources.engines);
  std::string out;
  for (const exports::TextFile& file : exports::launch_files(d, exports::launch_of(d, table))) {
    out += file.text;
  }
  return out;
}

TEST(OneServer, has_the_same_cache_and_figures_in_every_command) {
  PageSettings settings = shipped_settings();
  settings.sources.latency = tune::default_sources();
  const PageSources& sources = settings.sources;
  SimulatorPage page(settings);
  for (const Server& server : {Server{"vllm", "llama-3.1-70b", "h200", Dtype::f8_e4m3fn},
                               {"vllm:0.19.0", "minimax-m2", "b200", Dtype::f8_e4m3fn},
                               {"vllm:0.18.0", "minimax-m2", "b200", Dtype::bf16},
                               {"sglang", "llama-3.1-70b", "h200", Dtype::bf16},
                               {"sglang", "llama-3.1-70b", "b200", Dtype::f8_e4m3fn},
                               {"trtllm", "llama-3.1-70b", "h200", Dtype::f8_e4m3fn}}) {
    SCOPED_TRACE(std::string(server.engine) + ' ' + server.model + " on " + server.device);
    const tune::ServedSimulation s = simulated(server, sources);
    const Evaluation e = like(searched(server, sources), s);
    EXPECT_EQ(s.configuration.precision.kv_cache, server.cache);
    EXPECT_EQ(e.configuration.precision, s.configuration.precision);
    EXPECT_NEAR(e.served->figures.tpot_ns / s.summary.tpot.mean, 1, 1e-9);
    EXPECT_NEAR(e.served->figures.ttft_ns / s.summary.ttft.mean, 1, 1e-9);
    EXPECT_NEAR(e.served->slow.ttft_ns / s.ranges->ttft.high, 1, 1e-9);
    const bool is_narrow = server.cache == Dtype::f8_e4m3fn;
    EXPECT_THAT(launched(e, server, sources),
                testing::ContainsRegex(is_narrow ? "dtype:? fp8|kv-cache-dtype fp8_e4m3"
                                                 : "kv-cache-dtype auto"));
    const Json shown = page.answer({"serving",
                                    {{"model", server.model},
                                     {"device", server.device},
                                     {"shards", std::to_string(tp)},
                                     {"dtype", "fp8"},
                                     {"phase", "serving"},
                                     {"clients", std::to_string(clients)},
                                     {"input", "1024"},
                                     {"output", "128"},
                                     {"engine", server.engine},
                                     {"strategy", "tp4"}}});
    EXPECT_EQ(shown["state"]["precision"], s.configuration.precision.name);
    EXPECT_EQ(shown["state"]["requests"], s.record.requests.size());
    EXPECT_NEAR(shown["experienced"][0]["mean_ns"].get<double>() / s.summary.ttft.mean, 1, 1e-9);
  }
}

}  // namespace
}  // namespace halmark::pages
