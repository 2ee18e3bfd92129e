// Searches over served loads and over priced steps, against the plainest loop over every
// configuration with the same prices.
#include "tests/unit/expect.hpp"
#include "tune/search/priced/served_search.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "latency/roofline_source.hpp"
#include "tests/checkout.hpp"
#include "tune/search/priced/priced_search.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using testing::HasSubstr;
using testing::IsEmpty;

Device gpu() {
  Device out;
  out.id = "gpu";
  out.memory_bytes = 1ll << 36;
  out.power_w = 700;
  out.peaks.push_back({.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e15});
  out.bandwidths.push_back({.level = "memory", .bytes_per_s = 4e12});
  out.links.push_back({.name = "link", .bytes_per_s = 4.5e11, .domain_devices = 8});
  return out;
}

Target gpus(Device device = gpu()) {
  Target out;
  out.backend = device.id;
  out.memory_bytes = device.memory_bytes;
  out.datasheet = std::move(device);
  return out;
}

// A plan that is priced, and the prices.
struct Priced {
  explicit Priced(const std::string& toml, const Target& target = gpus())
      : sweep(parse_sweep(toml, "s.toml")),
        plan(sweep, load_model(sweep.model, {halmark::test::in_source("/configs/models")}), target,
             sweep.shards, {}, false) {
    chain.add(SourceKind::roofline,
              std::make_unique<RooflineSource>(*plan.target().datasheet, std::optional<double>{}));
  }
  ServedReport search() const { return search_served(plan, chain, {}, {}, {}); }

  Sweep sweep;
  TunePlan plan;
  LatencyChain chain;
};

std::string served_toml(const std::string& levels, const std::string& objectives,
                        const std::string& top = "") {
  return "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\"]\nshards = [1, 2, 4]\n"
         "objectives = " +
         objectives + "\n" + top +
         "[request]\ninput_tokens = 512\noutput_tokens = 64\n"
         "concurrency = [1, 2, 3, 4, 8, 16, 64]\ntoken_budget = [64, 512, 2048]\n" +
         levels;
}

std::vector<Evaluation> all_of(const Priced& p) {
  ServedEvaluator evaluator(p.plan.spec(), p.plan.target(), p.chain, p.sweep.served->request, 0,
                            {});
  const TuneProblem& problem = p.plan.problems().front();
  std::vector<Configuration> configurations;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    configurations.push_back(problem.at(problem.space().point(i)));
  }
  return evaluator.evaluate(configurations);
}

double factor(double value, double limit) { return std::max(value / limit, limit / value); }

TEST(ServedSearch, its_front_is_what_no_other_configuration_beats) {
  const Priced p(served_toml("", "[\"ttft\", \"tokens_per_s_per_device\"]"));
  const ServedReport report = p.search();
  const std::vector<Evaluation> all = all_of(p);
  EXPECT_EQ(report.configurations, all.size());
  EXPECT_EQ(report.possible, all.size());
  EXPECT_EQ(report.missed, 0u);
  EXPECT_THAT(report.nearest, IsEmpty());
  std::vector<std::string> expected, found;
  for (const Evaluation& a : all) {
    if (!a.served) continue;
    const ServingFigures& x = a.served->figures;
    const bool is_beaten = std::ranges::any_of(all, [&](const Evaluation& b) {
      if (!b.served) return false;
      const ServingFigures& y = b.served->figures;
      return y.ttft_ns <= x.ttft_ns && y.tokens_per_s_per_device >= x.tokens_per_s_per_device &&
             (y.ttft_ns < x.ttft_ns || y.tokens_per_s_per_device > x.tokens_per_s_per_device);
    });
    if (!is_beaten) expected.push_back(a.configuration.key());
  }
  for (const ServedPoint& point : report.front) found.push_back(point.configuration.key());
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
  EXPECT_GT(found.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(
      report.front, {}, [](const ServedPoint& point) { return point.estimate.figures.ttft_ns; }));
  for (const ServedPoint& point : report.front) {
    ASSERT_EQ(point.provenance.size(), 1u);
    EXPECT_NEAR(point.provenance.at(Provenance::roofline), 1, 1e-12);
    EXPECT_FALSE(point.bottleneck.empty());
  }
}

TEST(ServedSearch, counts_what_misses_a_level_and_keeps_the_twenty_nearest) {
  const Priced p(served_toml("[slo]\ntpot_ms = 0.0001\nttft_ms = 0.001\n", "[\"ttft\", \"tpot\"]"));
  const ServedReport report = p.search();
  std::map<Objective, std::size_t> missed_by;
  std::vector<double> factors;
  for (const Evaluation& e : all_of(p)) {
    if (!e.served) continue;
    const double by_tpot = factor(e.served->figures.tpot_ns, 100);
    const double by_ttft = factor(e.served->figures.ttft_ns, 1000);
    ++missed_by[by_tpot >= by_ttft ? Objective::tpot : Objective::ttft];
    factors.push_back(std::max(by_tpot, by_ttft));
  }
  std::ranges::sort(factors);
  ASSERT_GT(factors.size(), 21u);
  EXPECT_EQ(report.missed, factors.size());
  EXPECT_EQ(report.missed_by, missed_by);
  EXPECT_THAT(report.front, IsEmpty());
  ASSERT_EQ(report.nearest.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    const ServiceViolation& v = report.nearest[i].violations.front();
    EXPECT_DOUBLE_EQ(factor(v.value, v.limit), factors[i]) << i;
  }
}

TEST(ServedSearch, a_level_parts_the_configurations_in_two) {
  const Priced p(served_toml("[slo]\nttft_ms = 4\n", "[\"tpot\", \"memory\"]"));
  const ServedReport report = p.search();
  std::size_t missed = 0, kept = 0;
  for (const Evaluation& e : all_of(p)) {
    if (e.served) (e.served->figures.ttft_ns > 4e6 ? missed : kept) += 1;
  }
  EXPECT_GT(missed, 0u);
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(report.missed, missed);
  EXPECT_EQ(report.nearest.size(), std::min<std::size_t>(missed, 20));
  for (const ServedPoint& point : report.front) {
    EXPECT_LE(point.estimate.figures.ttft_ns, 4e6);
  }
}

TEST(ServedSearch, refusals_are_counted_by_reason_with_their_first_example) {
  Device small = gpu();
  small.memory_bytes = 1'400'000'000;  // weights of 1.2 GB leave room for few sequences
  const Priced p(served_toml("", "[\"ttft\", \"tpot\"]"), gpus(small));
  const ServedReport report = p.search();
  std::map<std::string, std::size_t> refused;
  std::map<std::string, std::string> examples;
  const TuneProblem& problem = p.plan.problems().front();
  const auto all = all_of(p);
  // In the order of the trials.
  const auto grid = make_sampler("grid", problem.space(), p.sweep.seed);
  for (const Point& point : grid->ask(all.size())) {
    const Evaluation& e = *std::ranges::find(all, problem.at(point), &Evaluation::configuration);
    if (e.served) continue;
    if (++refused[e.refusal] == 1) examples[e.refusal] = e.configuration.key() + ": " + e.reason;
  }
  EXPECT_EQ(report.refused, refused);
  EXPECT_EQ(report.examples, examples);
  EXPECT_GT(refused["out_of_memory"], 0u);
}

TEST(ServedSearch, trials_and_a_stop_end_it) {
  const Priced p(served_toml("", "[\"ttft\", \"tpot\"]", "sampler = \"random\"\ntrials = 10\n"));
  EXPECT_EQ(p.search().configurations, 10u);
  const ServedReport stopped = search_served(p.plan, p.chain, {}, [] { return true; }, {});
  EXPECT_EQ(stopped.configurations, 0u);
  EXPECT_GT(stopped.possible, 10u);
}

// A stop is looked for at every 256 trials and inside of asks, progress told after each 4096
// trials.
TEST(ServedSearch, looks_for_a_stop_between_batches_and_tells_of_progress) {
  std::string concurrency, budgets;
  for (int i = 1; i <= 100; ++i) concurrency += (i > 1 ? ", " : "") + std::to_string(i);
  for (int i = 1; i <= 100; ++i) budgets += (i > 1 ? ", " : "") + std::to_string(64 * i);
  const Priced p(
      "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\"]\nshards = [1]\n"
      "objectives = [\"ttft\", \"tpot\"]\nsampler = \"random\"\n"
      "[request]\ninput_tokens = 512\noutput_tokens = 64\nconcurrency = [" +
      concurrency + "]\ntoken_budget = [" + budgets + "]\n");
  int asked = 0;
  const auto stop_soon = [&] { return ++asked >= 5; };
  EXPECT_LE(search_served(p.plan, p.chain, {}, stop_soon, {}).configurations, 4 * 256u);
  std::vector<std::size_t> told;
  search_served(p.plan, p.chain, {}, {}, [&](std::size_t n) { told.push_back(n); });
  EXPECT_EQ(told, (std::vector<std::size_t>{4096, 8192}));
}

TEST(ServedSearch, a_figure_that_nobody_states_is_no_objective_and_no_limit) {
  Device silent = gpu();
  silent.power_w.reset();
  const auto search = [](const std::string& levels, const std::string& objectives,
                         const Target& target, const ServedCosts& costs) {
    const Priced p(served_toml(levels, objectives), target);
    return search_served(p.plan, p.chain, costs, {}, {});
  };
  const std::string energy = "[slo]\nenergy_j_per_token = 1\n";
  const std::string cost = "[slo]\nusd_per_million_tokens = 1\n";
  const std::string plain = "[\"ttft\", \"tpot\"]";
  for (const Error& error :
       {error_of([&] { search("", "[\"ttft\", \"energy\"]", gpus(silent), {}); }),
        error_of([&] { search(energy, plain, gpus(silent), {}); })}) {
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    EXPECT_THAT(error.line(), HasSubstr("states no power for energy"));
  }
  for (const Error& error : {error_of([&] { search("", "[\"ttft\", \"cost\"]", gpus(), {}); }),
                             error_of([&] { search(cost, plain, gpus(), {}); })}) {
    EXPECT_THAT(error.line(), HasSubstr("no price is given"));
  }
  EXPECT_NO_THROW(search(energy, "[\"ttft\", \"energy\"]", gpus(), {}));
  EXPECT_NO_THROW(search(cost, "[\"ttft\", \"cost\"]", gpus(silent), {.usd_per_device_hour = 2.0}));
}

TEST(ServedSearch, the_rate_of_one_user_is_no_objective_of_a_single_token) {
  const auto objectives = "[\"ttft\", \"interactivity\"]";
  std::string toml = served_toml("", objectives);
  const Priced many(toml);
  const ServedReport report = many.search();
  ASSERT_FALSE(report.front.empty());
  const Priced by_tpot(served_toml("", "[\"ttft\", \"tpot\"]"));
  EXPECT_EQ(report.front.size(), by_tpot.search().front.size()) << "1 / TPOT orders as TPOT does";
  toml.replace(toml.find("output_tokens = 64"), 18, "output_tokens = 1");
  const Priced one(toml);
  halmark::test::expect_error([&] { one.search(); }, "none follows", ExitCode::refused);
}

// Shares of the time of one prompt step and one decode step, by hand: decode steps of all requests,
// prompt steps of what the budget lets through.
TEST(ServedEvaluator, says_where_the_times_of_its_steps_are_from) {
  const Priced p(served_toml("", "[\"ttft\", \"tpot\"]"));
  ServedEvaluator evaluator(p.plan.spec(), p.plan.target(), p.chain, p.sweep.served->request, 0,
                            {});
  const Configuration of_64{
      .model = p.plan.spec().id,
      .parallel = {.tp = 2},
      .precision = precision_of("bf16", {}),
      .served =
          ServedLoad{.request = p.sweep.served->request, .concurrency = 64, .token_budget = 512}};
  const auto origin = evaluator.origin(of_64);
  double decode_largest = 0;
  std::string largest;
  Configuration step = of_64;
  step.served.reset();
  step.workload = {Phase::decode, 64, 1, 512 + 64 / 2, 0};
  const OperatorGraph graph = *build_graph(p.plan.spec(), step);
  for (const Operator& op : graph.operators) {
    const double ns =
        static_cast<double>(op.count) * p.chain.latency(op.local, op.local_work).value().ns;
    if (ns <= decode_largest) continue;
    decode_largest = ns;
    largest = op.name;
  }
  EXPECT_EQ(origin.bottleneck, largest);
  EXPECT_NEAR(origin.shares.at(Provenance::roofline), 1, 1e-12);
}

const char* const steps_toml =
    "name = \"s\"\nmodel = \"qwen3-0.6b\"\ndtypes = [\"bf16\"]\nshards = [1, 2, 4]\n"
    "objectives = [\"throughput\", \"latency\", \"memory\"]\n"
    "[[workload]]\nphase = \"decode\"\nbatch = [1, 2, 4, 8]\ncontext = 512\n"
    "[[workload]]\nphase = \"prefill\"\nbatch = [1, 2]\nnew_tokens = 256\n";

TEST(PricedSearch, its_front_is_what_no_step_of_the_phase_beats) {
  const Priced p(steps_toml);
  const RunReport report = search_steps(p.plan, p.chain, {});
  EXPECT_EQ(report.title, "s");
  EXPECT_EQ(report.model, "qwen3-0.6b");
  EXPECT_EQ(report.objectives, (std::vector<std::string>{"throughput", "latency", "memory"}));
  EXPECT_EQ(report.evaluations.size(), p.plan.configurations());
  EXPECT_TRUE(std::ranges::is_sorted(report.evaluations, {}, &Evaluation::configuration));
  std::vector<std::size_t> expected, found;
  for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
    const Evaluation& a = report.evaluations[i];
    const auto beats = [&](const Evaluation& b) {
      if (b.configuration.workload.phase != a.configuration.workload.phase) return false;
      const Estimate &x = a.estimate.value(), &y = b.estimate.value();
      return y.step_ns <= x.step_ns && y.tokens_per_s >= x.tokens_per_s &&
             y.memory_bytes_total <= x.memory_bytes_total &&
             (y.step_ns < x.step_ns || y.tokens_per_s > x.tokens_per_s ||
              y.memory_bytes_total < x.memory_bytes_total);
    };
    if (std::ranges::none_of(report.evaluations, beats)) expected.push_back(i);
  }
  for (const FrontPoint& point : report.front) {
    found.push_back(point.evaluation);
    EXPECT_FALSE(point.is_suspect);
  }
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(expected));
}

TEST(PricedSearch, ends_with_its_trials_with_a_stop_and_without_anything_possible) {
  const Priced p("sampler = \"random\"\ntrials = 5\n" + std::string(steps_toml));
  EXPECT_EQ(search_steps(p.plan, p.chain, {}).evaluations.size(), 5u + 5u) << "of each phase";
  EXPECT_THAT(search_steps(p.plan, p.chain, [] { return true; }).evaluations, IsEmpty());
  Device tiny = gpu();
  tiny.memory_bytes = 1000;
  const Priced none(steps_toml, gpus(tiny));
  const Error error = error_of([&] { search_steps(none.plan, none.chain, {}); });
  EXPECT_EQ(error.exit_code(), ExitCode::gate_failed) << "nothing fits";
  EXPECT_THAT(error.remedy(), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace halmark::tune
