// One step has the same figures in every command: halmark model, the search of tune and its fast
// pricer, simulate, simulate plan and the page. What may differ: a step alone or in a stream, and
// the formula of a pipeline or its events.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "model/pricing/kernel_table.hpp"
#include "model/pricing/step_pricer.hpp"
#include "model/step/step_answer.hpp"
#include "plan/device/device_file.hpp"
#include "plan/precision.hpp"
#include "shipped.hpp"
#include "simulate/sharding/planner.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"
#include "tune/evaluate/priced_evaluator.hpp"
#include "tune/evaluate/step/step_expected.hpp"
#include "tune/evaluate/step/step_over_fabric.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/named_fabric.hpp"
#include "tune/shards/shard_planning.hpp"
#include "tune/simulate/simulate_step.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::pages::one_step {
namespace {

constexpr const char* device_id = "h200";
constexpr double same = 1e-9;
constexpr double picoseconds = 1e-6;  // events count whole ones

struct Model {
  std::string name;
  std::string config;  // "" = shipped
  bool has_experts = false, decodes = true;
};

const std::vector<Model>& models() {
  static const std::vector<Model> all = {
      {"qwen3-8b", ""},
      {"qwen3-30b-a3b", "", true},
      {"deepseek-v2-lite", "", true},
      {"nemotron-3-nano-30b-a3b", "", true},
      {"encoder",
       R"({"model_type": "bert", "architectures": ["BertModel"], "num_hidden_layers": 12,
           "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
           "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})",
       false, false},
      {"denoiser",
       R"({"model_type": "Dream", "num_hidden_layers": 28, "hidden_size": 3584,
           "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
           "vocab_size": 152064, "max_position_embeddings": 4096, "tie_word_embeddings": false})",
       false, false},
  };
  return all;
}

std::vector<Parallel> layouts_for(const Model& model, Phase phase) {
  std::vector<Parallel> out = {
      {}, {.tp = 2}, {.pp = 2}, {.dp = 2}, {.dp = 2, .tp = 2, .pp = 2}, {.pp = 4}};
  if (model.has_experts) {
    out.push_back({.tp = 2, .ep = 2});
    out.push_back({.dp = 2, .tp = 2, .ep = 4});
    out.push_back({.dp = 2, .pp = 2, .ep = 2});
  }
  if (phase == Phase::prefill) out.push_back({.cp = 2});
  return out;
}

struct Asked {
  std::vector<std::string> latency;
  std::string engine;
  std::string fabric = "";
};

// Figures of one configuration by every way to it.
class OneStep {
 public:
  OneStep(const ModelSpec& spec, const Configuration& c, const Asked& asked)
      : spec_(spec),
        asked_(asked),
        device_(known_device(device_id, sources_.devices)),
        step_(priced(c)) {}

  PricedStep priced(const Configuration& c) const {
    StepQuestion question;
    question.engine = parse_engine(asked_.engine);
    PricedStep out = price_step(spec_, c, device_, question);
    tune::price_over_fabric(out, asked_.fabric, sources_.fabrics);
    tune::expect_times(out, {asked_.latency, asked_.fabric}, sources_.devices, sources_.fabrics);
    return out;
  }

  tune::PricedLatencies latencies() const {
    return tune::priced_latencies({.sources = asked_.latency,
                                   .where = "--latency",
                                   .device = device_id,
                                   .device_where = "--device",
                                   .engine = parse_engine(asked_.engine)},
                                  device_, sources_.devices, std::nullopt,
                                  fabric_ ? &*fabric_ : nullptr);
  }

  const PricedStep& step() const { return step_; }
  const Configuration& configuration() const { return step_.graph.configuration; }

  Evaluation searched() const {
    tune::Target target;
    target.backend = device_.id;
    target.memory_bytes = std::int64_t{1} << 50;
    target.datasheet = device_;
    target.fabric = fabric_;
    const tune::PricedLatencies known = latencies();
    const auto engine = tune::step_engine(known, spec_, Phase::decode);
    tune::PricedEvaluator evaluator(spec_, target, known.chain, engine ? &*engine : nullptr);
    const Configuration c = configuration();
    return evaluator.evaluate({&c, 1}).front();
  }

  std::optional<Price> fast() const {
    const tune::PricedLatencies known = latencies();
    StepPricer pricer(
        spec_, [&](const Operator& op) { return kernel_time(tune::latency_of(known.chain, op)); },
        &device_, 0);
    const Configuration& c = configuration();
    const Workload& w = c.workload;
    return pricer.price(pricer.layout(c.parallel, c.precision), w.phase, w.batch, w.new_tokens,
                        w.context);
  }

  double simulated_ns() const {
    tune::StepSimulating asked{.fabric = asked_.fabric, .latency = asked_.latency};
    asked.options.runs = 0;
    asked.joins_kernels = true;
    return tune::simulate_step(step_, asked, sources_.devices, sources_.fabrics, [](double, int) {})
        .simulation.step_ns();
  }

  std::optional<simulate::PlannedLayout> planned() const {
    tune::ShardPlanning asked{.fabric = asked_.fabric,
                              .shards = configuration().devices(),
                              .strategy = "tensor",
                              .latency = asked_.latency};
    asked.devices = sources_.devices;
    const Parallel& p = configuration().parallel;
    const auto answer =
        tune::plan_shards(spec_, configuration(), std::span(&device_, 1), asked, sources_.fabrics);
    for (const auto& layout : answer.plan.layouts) {
      if (layout.configuration.parallel == p) return layout;
    }
    return std::nullopt;
  }

 private:
  const ModelSpec& spec_;
  const Asked& asked_;
  PageSources sources_ = shipped_sources();
  Device device_;
  std::optional<fabric::Topology> fabric_ =
      tune::named_fabric(asked_.fabric, "--fabric", {}, sources_.fabrics);
  PricedStep step_;
};

Configuration configuration_of(const ModelSpec& spec, Phase phase, const Parallel& parallel,
                               const Device& device) {
  const bool is_decode = phase == Phase::decode;
  return {.model = spec.id,
          .parallel = parallel,
          .precision = precision_of("bf16", tune::precision_facts(spec, device)),
          .workload = {.phase = phase,
                       .batch = 8,
                       .new_tokens = is_decode ? 1 : 256,
                       .context = is_decode ? 1024 : 256}};
}

void expect_near(double a, double b, double tolerance, const char* what) {
  EXPECT_NEAR(a / b, 1, tolerance) << what << ": " << a << " and " << b;
}

SummedStep model_of(const PricedStep& step) {
  const auto expected = step_expectation(step);
  return expected ? *expected : *step_floor(step);
}

double figure(const Json& document, const std::string& key) {
  for (const Json& one : document["figures"]) {
    if (one["key"] == key) return one["value"].get<double>();
  }
  return 0;
}

void compare_with_page(const OneStep& one, const Evaluation& searched, SimulatorPage& page,
                       const std::string& model) {
  const Configuration& c = one.configuration();
  const Json document = page.answer({"step",
                                     {{"model", model},
                                      {"device", device_id},
                                      {"shards", std::to_string(c.devices())},
                                      {"dtype", "bf16"},
                                      {"phase", std::string(phase_name(c.workload.phase))},
                                      {"batch", std::to_string(c.workload.batch)},
                                      {"new", std::to_string(c.workload.new_tokens)},
                                      {"context", std::to_string(c.workload.context)},
                                      {"strategy", c.parallel.text()}}});
  const Estimate& e = *searched.estimate;
  const bool has_stages = c.parallel.pp > 1;
  expect_near(figure(document, has_stages ? "stream_ns" : "step_ns"), e.step_ns, same, "page");
  EXPECT_EQ(document["memory"]["used"].get<std::int64_t>(), e.memory_bytes_per_rank);
  for (const Json& layout : document["layouts"]) {
    if (layout["strategy"] != c.parallel.text()) continue;
    ASSERT_TRUE(layout.contains("step_ns")) << layout.dump();
    expect_near(layout["step_ns"].get<double>(), e.step_ns, same, "layouts of the page");
    EXPECT_EQ(layout["bytes_per_rank"].get<std::int64_t>(), e.memory_bytes_per_rank);
  }
}

void compare(const OneStep& one, SimulatorPage* page, const std::string& model) {
  const Evaluation searched = one.searched();
  ASSERT_TRUE(searched.estimate) << searched.reason;
  const Estimate& e = *searched.estimate;
  const SummedStep m = model_of(one.step());
  expect_near(m.ns, e.step_ns, same, "model and tune");
  expect_near(m.low_ns, e.low_ns, same, "low ends of model and tune");
  expect_near(m.high_ns, e.high_ns, same, "high ends of model and tune");
  expect_near(answer_of(one.step()).rate->per_s, e.tokens_per_s, same, "rates");
  EXPECT_EQ(one.step().memory_bytes(), e.memory_bytes_per_rank);
  const double alone_ns = e.alone ? e.alone->ns : e.step_ns;
  // Slots of the formula end together, events do not: longer by less than one hand-over a slot.
  expect_near(one.simulated_ns(), alone_ns, e.alone ? 0.03 : picoseconds, "simulate and tune");
  if (!one.step().question.engine.is_asked) {
    if (const auto fast = one.fast()) expect_near(fast->step_ns, e.step_ns, same, "fast pricer");
    if (const auto planned = one.planned()) {
      expect_near(planned->cost.ns(), e.step_ns, same, "plan and tune");
      expect_near(planned->cost.alone_ns, alone_ns, same, "plan and tune, alone");
      EXPECT_EQ(planned->largest.total(), e.memory_bytes_per_rank);
    }
  }
  if (page != nullptr) compare_with_page(one, searched, *page, model);
}

class OneStepEverywhere : public testing::TestWithParam<Model> {
 protected:
  void SetUp() override {
    name_ = GetParam().name;
    if (GetParam().config.empty()) return;
    test::write_file(folder_ / (name_ + ".json"),
                     R"({"id": ")" + name_ + R"(", "aliases": [], "source": "", "config": )" +
                         GetParam().config + '}');
  }
  PageSettings settings() const {
    PageSettings out = shipped_settings();
    out.sources.models.push_back(folder_.path());
    return out;
  }
  std::vector<Phase> phases() const {
    if (!GetParam().decodes) return {Phase::prefill};
    return {Phase::decode, Phase::prefill};
  }

  test::ScratchFolder folder_;
  std::string name_;
};

TEST_P(OneStepEverywhere, has_one_time_and_one_memory) {
  PageSettings settings = this->settings();
  const ModelSpec spec = load_model(name_, settings.sources.models);
  const Device device = known_device(device_id, shipped_sources().devices);
  for (const auto& latency : {std::vector<std::string>{"roofline"}, tune::default_sources()}) {
    settings.sources.latency = latency;
    SimulatorPage page(settings);
    for (const Phase phase : phases()) {
      for (const Parallel& parallel : layouts_for(GetParam(), phase)) {
        // Times of tables differ in their sums as bounds do: the widest layouts will do.
        if (latency.front() != "roofline" && parallel.devices() < 4 && parallel.cp == 1) continue;
        SCOPED_TRACE(latency.front() + ' ' + std::string(phase_name(phase)) + ' ' +
                     parallel.text() + " cp" + std::to_string(parallel.cp));
        const Asked asked{latency, ""};
        const Configuration c = configuration_of(spec, phase, parallel, device);
        if (parallel.cp > 1 && check_configuration(spec, c)) continue;  // of a recurrence
        const OneStep one(spec, c, asked);
        compare(one, parallel.cp == 1 ? &page : nullptr, name_);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, OneStepEverywhere, testing::ValuesIn(models()),
                         [](const auto& info) { return test::case_name({info.param.name}); });

TEST(OneStepInAnEngine, is_the_same_by_model_tune_and_simulate) {
  const PageSources sources = shipped_sources();
  const Device device = known_device(device_id, sources.devices);
  const std::vector<std::string> bounds = {"roofline"}, tables = tune::default_sources();
  const ModelSpec spec = load_model("qwen3-8b", sources.models);
  for (const char* engine : {"vllm:0.19.0", "sglang", "trtllm"}) {
    for (const Phase phase : {Phase::decode, Phase::prefill}) {
      for (const Parallel& parallel : {Parallel{.tp = 2}, {.dp = 2, .pp = 2}}) {
        SCOPED_TRACE(std::string(engine) + ' ' + parallel.text());
        const Asked asked{parallel.tp == 2 ? tables : bounds, engine};
        const OneStep one(spec, configuration_of(spec, phase, parallel, device), asked);
        EXPECT_GT(model_of(one.step()).host_ns, 0);
        compare(one, nullptr, spec.id);
      }
    }
  }
}

TEST(OneStepOverAFabric, is_the_same_by_model_tune_simulate_and_plan) {
  const PageSources sources = shipped_sources();
  const Device device = known_device(device_id, sources.devices);
  for (const char* name : {"qwen3-8b", "deepseek-v2-lite"}) {
    const ModelSpec spec = load_model(name, sources.models);
    for (const auto& latency :
         {std::vector<std::string>{"roofline"}, std::vector<std::string>{"fabric", "roofline"},
          tune::default_sources()}) {
      const Parallel parallel{.dp = 2, .tp = 4, .ep = spec.moe ? 8 : 1};
      SCOPED_TRACE(std::string(name) + ' ' + latency.front());
      const Asked asked{latency, "", "nvlink-node"};
      compare(OneStep(spec, configuration_of(spec, Phase::decode, parallel, device), asked),
              nullptr, name);
    }
  }
}

TEST(OneStepInAnEngine, is_refused_of_what_no_engine_serves) {
  const PageSources sources = shipped_sources();
  const Device device = known_device(device_id, sources.devices);
  const ModelSpec spec = load_model("qwen3-8b", sources.models);
  Configuration c = configuration_of(spec, Phase::training, {}, device);
  const Asked asked{{"roofline"}, "vllm"};
  const Error error = test::error_of([&] { OneStep(spec, c, asked); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_EQ(error.where(), "--engine");
}

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

}  // namespace
}  // namespace halmark::pages::one_step
