// The search over served loads: a space too large to list, planned and searched; and how near the
// front of a space that is known in full a search comes that asks for a twentieth of it.
#include <chrono>

#include <algorithm>

#include "core/text/error.hpp"
#include "figures.hpp"
#include "latency/chain.hpp"
#include "latency/roofline_source.hpp"
#include "plan/device/device_file.hpp"
#include "search/pareto/pareto.hpp"
#include "tests/checkout.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/plan/plan.hpp"
#include "tune/search/loop.hpp"

namespace halmark::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string numbers(std::int64_t first, std::int64_t step, std::int64_t count) {
  std::string out;
  for (std::int64_t i = 0; i < count; ++i) {
    out += (i > 0 ? ", " : "") + std::to_string(first + i * step);
  }
  return out;
}

std::string sweep_text(const std::string& shards, const std::string& concurrency,
                       const std::string& budgets, const std::string& modes) {
  return "name = \"bench\"\nmodel = \"qwen3-235b-a22b\"\nshards = [" + shards +
         "]\ndtypes = [\"bf16\", \"fp8\"]\nobjectives = [\"ttft\", \"tpot\", "
         "\"tokens_per_s_per_device\"]\n[request]\ninput_tokens = 4096\noutput_tokens = 512\n"
         "concurrency = [" +
         concurrency + "]\ntoken_budget = [" + budgets + "]\nmodes = [" + modes + "]\n";
}

// What a search needs beside its plan.
struct World {
  Device device = read_device(test::in_source("/configs/devices/h200.toml"));
  LatencyChain chain;
  World() { chain.add(SourceKind::roofline, std::make_unique<RooflineSource>(device, 5e10)); }

  tune::Target target() const {
    tune::Target out;
    out.backend = device.id;
    out.datasheet = device;
    out.memory_bytes = device.memory_bytes / 10 * 9;
    return out;
  }

  std::unique_ptr<tune::TunePlan> plan(const std::string& text) const {
    const Sweep sweep = parse_sweep(text, "bench.toml");
    return std::make_unique<tune::TunePlan>(
        sweep, load_model(sweep.model, {test::in_source("/configs/models")}), target(),
        sweep.shards, PrecisionFacts{}, false);
  }

  // Objectives of the trials that have figures.
  std::vector<Objectives> search(const tune::TunePlan& plan, const std::string& sampler,
                                 std::size_t trials, std::uint64_t seed) const {
    const tune::TuneProblem& problem = plan.problems().front();
    tune::ServedEvaluator evaluator(plan.spec(), plan.target(), chain, plan.sweep().served->request,
                                    0, {.transfer_bytes_per_s = 5e10});
    const auto proposer = make_sampler(
        sampler, problem.space(),
        SamplerOptions{.seed = seed, .trials = trials, .objectives = problem.objectives().size()});
    std::vector<Objectives> out;
    tune::run(problem, *proposer, evaluator,
              {.budget = {.trials = trials, .batch = trials == 0 ? 0u : 64u}},
              [&](const Point&, const Evaluation& e, const tune::TrialTime&) {
                if (const auto values = minimised(e, problem.objectives())) out.push_back(*values);
              });
    return out;
  }
};

void large_space(const World& world, Figures& figures) {
  const std::string text = sweep_text("8, 16, 32, 64", numbers(8, 8, 512), numbers(32, 32, 1024),
                                      "\"aggregated\", \"disaggregated\"");
  const auto begin = Clock::now();
  const auto plan = world.plan(text);
  figures.at_most("plan_billion_s", seconds_since(begin), "s", 1);
  figures.at_least("plan_billion_configurations", static_cast<double>(plan->configurations()), "1",
                   1e9);
  const auto start = Clock::now();
  const auto found = world.search(*plan, "auto", 20'000, 1);
  figures.at_most("search_billion_20000_s", seconds_since(start), "s", 60);
  note("served_search: " + std::to_string(found.size()) + " of 20000 trials have figures, " +
       std::to_string(non_dominated(found).size()) + " on the front");
}

// The worst of the true front in every objective, a little beyond.
Objectives reference_of(const std::vector<Objectives>& points) {
  Objectives out = points.front();
  for (const std::size_t k : non_dominated(points)) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] = std::max(out[j], points[k][j]);
  }
  for (double& value : out) value += 0.01 * std::abs(value);
  return out;
}

std::vector<Objectives> front_of(const std::vector<Objectives>& points) {
  std::vector<Objectives> out;
  for (const std::size_t k : non_dominated(points)) out.push_back(points[k]);
  return out;
}

void known_space(const World& world, Figures& figures) {
  std::string concurrency = numbers(32, 32, 16);
  concurrency += ", " + numbers(640, 128, 28);
  const std::string budgets =
      "1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 10240, 12288, 14336, 16384";
  const auto plan = world.plan(sweep_text("32", concurrency, budgets, "\"aggregated\""));
  const auto truth = world.search(*plan, "grid", 0, 1);
  const Objectives reference = reference_of(truth);
  const double whole = hypervolume(front_of(truth), reference);
  const std::size_t trials = plan->configurations() / 20;
  std::vector<double> shares;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto found = world.search(*plan, "auto", trials, seed);
    shares.push_back(hypervolume(front_of(found), reference) / whole);
  }
  std::string each;
  for (const double s : shares) each += " " + std::to_string(s);
  note("served_search: share of the hypervolume by seed:" + each);
  std::ranges::sort(shares);
  note("served_search: " + std::to_string(plan->configurations()) + " configurations, " +
       std::to_string(truth.size()) + " with figures, " + std::to_string(trials) + " trials");
  figures.at_least("search_twentieth_hypervolume_median", (shares[4] + shares[5]) / 2, "1", 0.99);
  figures.at_least("search_twentieth_hypervolume_least", shares.front(), "1", 0.97);
}

void measure(Figures& figures) {
  const World world;
  large_space(world, figures);
  known_space(world, figures);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
