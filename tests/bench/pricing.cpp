// Composing and pricing on one thread: unique deployments per second from nothing but the model's
// configuration, and a whole search over served deployments of a large mixture of experts. Both
// begin cold: every sum that is shared is made within the time. It is the thread's own time: there
// is one, it waits for nothing, and on a shared machine the wall clock would count the neighbours.
#include <time.h>

#include <cmath>
#include <set>
#include <variant>

#include "core/text/error.hpp"
#include "figures.hpp"
#include "model/graph/expert_layout.hpp"
#include "model/serving/serving_pricer.hpp"
#include "plan/device/device_file.hpp"
#include "roofline/estimate.hpp"
#include "search/pareto/pareto.hpp"
#include "tests/checkout.hpp"
#include "tune/problem/problem.hpp"

namespace halmark::bench {
namespace {

constexpr const char* model = "qwen3-235b-a22b";

double thread_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Device device() { return read_device(test::in_source("/configs/devices/h200.toml")); }
ModelSpec spec() { return load_model(model, {test::in_source("/configs/models")}); }

StepPricer::TimeOf roofline_of(const RooflineRates& roofline) {
  return [&roofline](const Operator& op) -> KernelTime {
    const auto ns = roofline.ns(op.local_work, op.local.params.value_or("ranks", 1));
    if (!ns) return {};
    return {*ns, *ns, *ns, *ns, true};
  };
}

constexpr RequestShape request = {4096, 512};

// Every load of a large batch: concurrency x token budget, on `shards` devices.
Sweep served_sweep(const std::string& shards) {
  std::string concurrency;
  for (std::int64_t c = 32; c <= 4096; c += c < 512 ? 32 : 128) {
    concurrency += (concurrency.empty() ? "" : ", ") + std::to_string(c);
  }
  return parse_sweep("name = 'bench'\nmodel = '" + std::string(model) + "'\nshards = [" + shards +
                         "]\ndtypes = ['bf16', 'fp8']\n[request]\ninput_tokens = 4096\n"
                         "output_tokens = 512\nconcurrency = [" +
                         concurrency +
                         "]\ntoken_budget = [1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, "
                         "10240, 12288, 14336, 16384]\n",
                     "bench.toml");
}

std::vector<Configuration> configurations(const ModelSpec& of, const std::string& shards) {
  const Sweep sweep = served_sweep(shards);
  const tune::TuneProblem problem = tune::problems_of(sweep, of, sweep.shards, {}).front();
  std::vector<Configuration> out;
  for (std::uint64_t i = 0; i < problem.space().size(); ++i) {
    out.push_back(problem.at(problem.space().point(i)));
  }
  return out;
}

// The layouts and precisions of 1 to 32 devices.
std::set<std::pair<Parallel, Precision>> all_layouts(const ModelSpec& of) {
  std::set<std::pair<Parallel, Precision>> out;
  for (const Configuration& c : configurations(of, "1, 2, 4, 8, 16, 32")) {
    out.emplace(c.parallel, c.precision);
  }
  return out;
}

struct Layout {
  StepPricer::Layout id = 0;
  Parallel parallel;
};

// Prices a decode step of every batch x context of the layouts, and returns how many.
std::size_t price_all(StepPricer& pricer, const std::vector<Layout>& layouts) {
  std::size_t priced = 0;
  double sum = 0;
  for (const auto& [id, parallel] : layouts) {
    for (std::int64_t micro = 1; micro <= 64; ++micro) {
      const std::int64_t batch = micro * parallel.dp * parallel.pp;
      for (std::int64_t context = 512; context <= 32768; context += 512) {
        const auto price = pricer.price(id, Phase::decode, batch, 1, context);
        if (!price) continue;
        sum += price->step_ns;
        ++priced;
      }
    }
  }
  if (!(sum > 0)) throw Error(ExitCode::incorrect, "deployments were priced at nothing");
  return priced;
}

// Every layout of 1 to 32 devices x precision x batch x context of a decode step. Layouts repeat
// where ranks execute alike; those whose rank class comes for the first time are also priced alone,
// by a pricer of their own: each of their micro-batches is then new.
void price_steps(Figures& figures) {
  const ModelSpec of = spec();
  const Device h200 = device();
  const RooflineRates roofline(h200, {}, 5e10);
  const auto all = all_layouts(of);
  const auto layouts_of = [&](StepPricer& pricer, bool only_fresh) {
    std::vector<Layout> out;
    std::set<std::pair<Parallel, Precision>> known;
    for (const auto& [parallel, precision] : all) {
      const Parallel rank{
          .dp = expert_layout(parallel).across_replicas, .tp = parallel.tp, .ep = parallel.ep};
      if (only_fresh && !known.emplace(rank, precision).second) continue;
      const auto id = pricer.layout(parallel, precision);
      if (!pricer.refusal(id)) out.push_back({id, parallel});
    }
    return out;
  };
  for (const bool only_fresh : {false, true}) {
    const double begin = thread_s();
    StepPricer pricer(of, roofline_of(roofline), &h200, 0);
    const std::size_t priced = price_all(pricer, layouts_of(pricer, only_fresh));
    const double took_s = thread_s() - begin;
    const double rate = static_cast<double>(priced) / took_s;
    note("pricing: " + std::to_string(priced) + " unique deployments of " + model + " in " +
         std::to_string(took_s) + " s, " + std::to_string(pricer.graphs_built()) + " graphs built");
    if (only_fresh) {
      figures.report("pricing_rate_fresh_layouts", rate, "configurations/s");
    } else {
      figures.at_least("pricing_rate", rate, "configurations/s", 3'000'000);
    }
  }
}

// As halmark tune --latency roofline does: from the files to the front.
void search(Figures& figures) {
  const double begin = thread_s();
  const ModelSpec of = spec();
  const Device h200 = device();
  const RooflineRates roofline(h200, {}, 5e10);
  StepPricer steps(of, roofline_of(roofline), &h200, 0);
  ServingPricer pricer(of, steps, request,
                       {.memory_bytes = h200.memory_bytes / 10 * 9,
                        .power_w = h200.power_w,
                        .usd_per_device_hour = {},
                        .transfer_bytes_per_s = 5e10,
                        .peaks = &h200});
  const std::vector<Configuration> all = configurations(of, "32");
  constexpr std::size_t wanted = 100'000;
  std::vector<Objectives> points;
  const double listed = thread_s();
  for (const Configuration& one : all) {
    const auto answer = pricer.estimate(one);
    if (const auto* e = answer.get()) {
      points.push_back(
          {e->figures.ttft_ns, e->figures.tpot_ns, -e->figures.tokens_per_s_per_device});
    }
  }
  const double priced_s = thread_s() - listed;
  for (const Configuration& one : all) pricer.estimate(one);
  const double again_s = thread_s() - listed - priced_s;
  const auto front = non_dominated(points);
  const double took_s = thread_s() - begin;
  note("pricing: " + std::to_string(all.size()) + " served deployments of " + model +
       " on 32 h200, " + std::to_string(points.size()) + " fit, " + std::to_string(front.size()) +
       " on the front, " + std::to_string(steps.graphs_built()) + " graphs built");
  if (all.size() < wanted) throw Error(ExitCode::incorrect, "fewer than 100000 configurations");
  figures.at_least("served_rate", static_cast<double>(all.size()) / priced_s, "configurations/s",
                   500'000);
  figures.report("served_rate_known_steps", static_cast<double>(all.size()) / again_s,
                 "configurations/s");
  figures.at_most("search_235b_100k_s", took_s - again_s, "s", 1);
}

void measure(Figures& figures) {
  price_steps(figures);
  search(figures);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
