// Composing and pricing on one thread: unique deployments per second from nothing but the model's
// configuration, and a whole search over served deployments of a large mixture of experts. Both
// begin cold: every sum that is shared is made within the time. It is the thread's own time: there
// is one, it waits for nothing, and on a shared machine the wall clock would count the neighbours.
#include <time.h>

#include <cmath>
#include <set>
#include <variant>

#include "core/error.hpp"
#include "figures.hpp"
#include "model/serving/serving_pricer.hpp"
#include "model/serving/serving_space.hpp"
#include "plan/device_file.hpp"
#include "roofline/estimate.hpp"
#include "search/pareto/pareto.hpp"

namespace halmark::bench {
namespace {

constexpr const char* model = "qwen3-235b-a22b";

double thread_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Device device() { return read_device(HALMARK_SOURCE_DIR "/configs/devices/h200.toml"); }
ModelSpec spec() { return load_model(model, {HALMARK_SOURCE_DIR "/configs/models"}); }

StepPricer::TimeOf roofline_of(const RooflineRates& roofline) {
  return [&roofline](const Operator& op) -> KernelTime {
    const auto ns = roofline.ns(op.local_work, op.local.params.value_or("ranks", 1));
    if (!ns) return {};
    return {*ns, *ns, *ns, *ns, true};
  };
}

Precision bf16() { return Precision::uniform("bf16", Dtype::bf16); }
Precision fp8() {
  Precision out = Precision::uniform("fp8", Dtype::bf16);
  out.set_linears(Dtype::f8_e4m3fn);
  return out;
}

ServingSpace space() {
  ServingSpace out{.request = {4096, 512},
                   .concurrency = {},
                   .token_budgets = {1024, 1536, 2048, 3072, 4096, 5120, 6144, 7168, 8192, 10240,
                                     12288, 14336, 16384},
                   .modes = {ServingMode::aggregated},
                   .precisions = {bf16(), fp8()},
                   .devices = {32}};
  for (std::int64_t c = 32; c <= 4096; c += c < 512 ? 32 : 128) out.concurrency.push_back(c);
  return out;
}

// Every layout of 1 to 32 devices x precision x batch x context of a decode step.
void price_steps(Figures& figures) {
  const double begin = thread_s();
  const ModelSpec of = spec();
  const Device h200 = device();
  const RooflineRates roofline(h200, {}, 5e10);
  StepPricer pricer(of, roofline_of(roofline), &h200, 0);
  ServingSpace all = space();
  std::set<std::pair<Parallel, std::string>> layouts;
  std::size_t priced = 0;
  double sum = 0;
  for (std::int64_t devices = 1; devices <= 32; devices *= 2) {
    for (const Parallel& parallel : serving_layouts(of, all, devices)) {
      for (const Precision& precision : all.precisions) {
        if (!layouts.emplace(parallel, precision.name).second) {
          throw Error(ExitCode::incorrect, "a layout came twice: " + parallel.text());
        }
        const auto layout = pricer.layout(parallel, precision);
        if (pricer.refusal(layout)) continue;
        for (std::int64_t micro = 1; micro <= 64; ++micro) {
          const std::int64_t batch = micro * parallel.dp * parallel.pp;
          for (std::int64_t context = 512; context <= 32768; context += 512) {
            const auto price = pricer.price(layout, Phase::decode, batch, 1, context);
            if (!price) continue;
            sum += price->step_ns;
            ++priced;
          }
        }
      }
    }
  }
  const double took_s = thread_s() - begin;
  if (!(sum > 0)) throw Error(ExitCode::incorrect, "deployments were priced at nothing");
  note("pricing: " + std::to_string(priced) + " unique deployments of " + model + " in " +
       std::to_string(took_s) + " s, " + std::to_string(pricer.graphs_built()) + " graphs built");
  figures.at_least("pricing_rate", static_cast<double>(priced) / took_s, "configurations/s",
                   500'000);
}

// As halmark tune --latency roofline does: from the files to the front.
void search(Figures& figures) {
  const double begin = thread_s();
  const ModelSpec of = spec();
  const Device h200 = device();
  const RooflineRates roofline(h200, {}, 5e10);
  StepPricer steps(of, roofline_of(roofline), &h200, 0);
  ServingPricer pricer(of, steps, space().request,
                       {.memory_bytes = h200.memory_bytes / 10 * 9,
                        .power_w = h200.power_w,
                        .usd_per_device_hour = {},
                        .transfer_bytes_per_s = 5e10,
                        .peaks = &h200});
  const std::vector<Configuration> all = served_configurations(of, space());
  constexpr std::size_t wanted = 100'000;
  std::vector<Objectives> points;
  for (const Configuration& one : all) {
    const auto answer = pricer.estimate(one);
    if (const auto* e = std::get_if<ServedEstimate>(&answer)) {
      points.push_back(
          {e->figures.ttft_ns, e->figures.tpot_ns, -e->figures.tokens_per_s_per_device});
    }
  }
  const auto front = non_dominated(points);
  const double took_s = thread_s() - begin;
  note("pricing: " + std::to_string(all.size()) + " served deployments of " + model +
       " on 32 h200, " + std::to_string(points.size()) + " fit, " + std::to_string(front.size()) +
       " on the front, " + std::to_string(steps.graphs_built()) + " graphs built");
  if (all.size() < wanted) throw Error(ExitCode::incorrect, "fewer than 100000 configurations");
  figures.at_most("search_235b_100k_s", took_s, "s", 1);
}

void measure(Figures& figures) {
  price_steps(figures);
  search(figures);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
