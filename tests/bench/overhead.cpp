// Harness overhead: a gemm of about 100 us through plugin, worker and harness over the same oneDNN
// call in a bare loop, and the same with all that gates do between samples over the harness alone.
// All run in the same minute, in turns, on the same CPUs, and the figure is the median of the
// ratios: what the machine does meanwhile meets all.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "bare_gemm.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "host/machine.hpp"
#include "host/worker_client.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

// Its operands are a fraction of an L2 cache: of 512 x 512 they fill one of 2 MiB, and where their
// pages happen to lie moved the ratio by 3 % from process to process, on one core alone.
constexpr std::int64_t n = 256, k = 256;
constexpr std::int64_t calls = 200, warm_up = 50;
constexpr double wanted_ns = 100e3;
constexpr int pairs_of_processes = 12;
constexpr int turns = 5;

// Rows of the gemm that take about wanted_ns on these CPUs.
std::int64_t rows_for(BareGemm& bare) {
  for (std::int64_t m = 8;; m *= 2) {
    const double ns = median(bare.time({m, n, k, warm_up, calls}));
    if (ns < wanted_ns / 2 && m < 1 << 20) continue;
    return std::max<std::int64_t>(1, std::llround(static_cast<double>(m) * wanted_ns / ns));
  }
}

template <class T>
T value_of(Outcome<T> outcome) {
  if (!outcome) throw Error(ExitCode::error, outcome.failure.phase + ": " + outcome.failure.reason);
  return std::move(*outcome);
}

std::unique_ptr<Worker> staged_worker(const CpuSet& cpus, std::int64_t m) {
  WorkerOptions options;
  options.cpus = cpus;
  auto worker = value_of(Worker::start(options));
  value_of(worker->load(test::in_build("/lib/halmark/plugins/hm_cpu.so")));
  value_of(worker->open(0));
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  protocol::Stage stage{.id = 1, .kernel = "gemm_onednn", .mode = CacheMode::hot};
  stage.problem = {
      "gemm",
      {{"m", m}, {"n", n}, {"k", k}, {"src_dtype", f32}, {"wei_dtype", f32}, {"dst_dtype", f32}}};
  value_of(worker->stage(stage));
  return worker;
}

// As a trial of three rounds asks for them.
protocol::OutputChecks gates() { return {.executions = 15, .rows = 4, .redraws = 8}; }

double harness_ns(Worker& worker, std::optional<protocol::OutputChecks> checks = {}) {
  protocol::SampleRequest request{.id = 1};
  request.checks = checks;
  request.rule.stop = protocol::Stop::count;
  request.rule.count = calls;
  request.rule.repeat = 1;
  std::vector<double> ns;
  for (const TimedSample& sample : value_of(worker.sample(request)).samples) {
    ns.push_back(sample.wall_ns);
  }
  return median(ns);
}

void measure(Figures& figures, const std::string& name, const CpuSet& cpus) {
  std::vector<double> ratios, gate_ratios, harness, bare_times;
  std::int64_t m = 0;
  for (int pair = 0; pair < pairs_of_processes; ++pair) {
    BareGemm bare(cpus);
    if (m == 0) m = rows_for(bare);
    const auto worker = staged_worker(cpus, m);
    for (int turn = 0; turn < turns; ++turn) {
      const auto bare_ns = [&] { return median(bare.time({m, n, k, warm_up, calls})); };
      double of_harness = 0, of_bare = 0, of_gates = 0;
      // Who goes first alternates, so that a drift favours nobody.
      if (turn % 2 == 0) {
        of_gates = harness_ns(*worker, gates());
        of_harness = harness_ns(*worker);
        of_bare = bare_ns();
      } else {
        of_bare = bare_ns();
        of_harness = harness_ns(*worker);
        of_gates = harness_ns(*worker, gates());
      }
      harness.push_back(of_harness);
      bare_times.push_back(of_bare);
      ratios.push_back(of_harness / of_bare);
      gate_ratios.push_back(of_gates / of_harness);
    }
    worker->quit();
  }
  const Interval interval = median_interval(ratios).interval;
  note(name + ": m " + std::to_string(m) + ", ratio " + std::to_string(interval.low) + " .. " +
       std::to_string(interval.high));
  figures.report(name + "_bare", median(bare_times) * 1e-3, "us");
  figures.report(name + "_harness", median(harness) * 1e-3, "us");
  figures.at_most(name + "_ratio", median(ratios), "ratio", 1.01);
  figures.at_most(name + "_gates_ratio", median(gate_ratios), "ratio", 1.01);
}

}  // namespace
}  // namespace halmark::bench

int main(int argc, char** argv) {
  using namespace halmark;
  if (argc == 2 && std::string_view(argv[1]) == bench::bare_argument) {
    return bench::serve_bare_gemm();
  }
  return bench::run([](bench::Figures& figures) {
    const int cores = Topology::of_machine().cores();
    bench::measure(figures, "overhead_one_core", cut(cores).front());
    if (cores > 1) bench::measure(figures, "overhead_all_cores", cut(1).front());
  });
}
