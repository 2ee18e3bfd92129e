// Pricing deployments from known kernel latencies: many different ones in turn, so that no cache
// holds the answer, each checked against the Composer's own sum beforehand.
#include <cmath>
#include <functional>
#include <set>
#include <variant>

#include "child.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "model/pricing/composer.hpp"
#include "rate.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr std::size_t wanted = 2048;
constexpr std::size_t checked_every = 64;

// Any latency does, as long as it is the kernel's own.
Latency latency_of(const KernelCase& kernel_case) {
  const std::size_t hash = std::hash<std::string>{}(kernel_case.key());
  const double ns = 1000 + static_cast<double>(hash % 1'000'000);
  return {.ns = ns,
          .low_ns = 0.9 * ns,
          .high_ns = 1.2 * ns,
          .lower_bound_ns = 0.5 * ns,
          .provenance = Provenance::measured};
}

std::vector<Precision> precisions() {
  constexpr auto bf16 = Dtype::bf16, s8 = Dtype::s8;
  return {{"f32"}, {"bf16", bf16, bf16, bf16, bf16, bf16}, {"int8", s8, s8, bf16, bf16, bf16}};
}

std::vector<Workload> workloads() {
  std::vector<Workload> out;
  for (std::int64_t batch = 1; batch <= 256; batch *= 2) {
    for (const std::int64_t context : {512, 1024, 2048, 4096, 8192}) {
      out.push_back({Phase::decode, batch, 1, context});
      out.push_back({Phase::prefill, batch, context, context});
    }
  }
  return out;
}

struct Compiled {
  std::vector<StepSum> deployments;
  KernelTable table;
  double build_s = 0;  // graph, stacks and compilation of all of them
  std::size_t checks = 0;
};

void require_equal(const Composer& composer, const StepSum& compiled, const KernelTable& table) {
  std::vector<KernelTime> times;
  for (const KernelCase& kernel_case : table.cases()) {
    times.push_back(kernel_time(latency_of(kernel_case)));
  }
  const auto priced = price(compiled, times);
  const Evaluation composed = composer.compose(latency_of);
  if (!priced || !composed.estimate ||
      std::abs(priced->step_ns / composed.estimate->step_ns - 1) > 1e-12 ||
      std::abs(priced->tokens_per_s / composed.estimate->tokens_per_s - 1) > 1e-12) {
    throw Error(ExitCode::incorrect,
                "price and Composer::compose disagree on " + composed.configuration.key());
  }
}

Compiled compile_all(const ModelSpec& spec) {
  Compiled out;
  std::set<std::string> keys;
  for (const Workload& workload : workloads()) {
    for (const Precision& precision : precisions()) {
      for (const Parallel& parallel : std::vector<Parallel>{{},
                                                            {.tp = 2},
                                                            {.tp = 4},
                                                            {.tp = 8},
                                                            {.pp = 2},
                                                            {.pp = 4},
                                                            {.dp = 2},
                                                            {.dp = 4},
                                                            {.dp = 2, .tp = 2},
                                                            {.dp = 2, .tp = 4},
                                                            {.dp = 2, .pp = 2},
                                                            {.dp = 2, .tp = 2, .pp = 2},
                                                            {.tp = 2, .pp = 2},
                                                            {.tp = 4, .pp = 2},
                                                            {.tp = 2, .pp = 4}}) {
        if (out.deployments.size() == wanted) return out;
        const Configuration configuration{spec.id, parallel, precision, workload};
        const double begin_ns = monotonic_ns();
        auto built = build_graph(spec, configuration);
        if (!built) continue;
        if (!keys.insert(configuration.key()).second) continue;
        const Composer composer(*std::move(built), {.backend = "cpu", .ring_bytes = 256 << 20}, {});
        out.deployments.push_back(composer.compile(out.table));
        out.build_s += (monotonic_ns() - begin_ns) * 1e-9;
        if (out.deployments.size() % checked_every != 1) continue;
        require_equal(composer, out.deployments.back(), out.table);
        ++out.checks;
      }
    }
  }
  return out;
}

void measure(Figures& figures) {
  const ModelSpec spec = load_model("qwen3-0.6b", {test::in_source("/configs/models")});
  const Compiled compiled = compile_all(spec);
  std::vector<KernelTime> times;
  for (const KernelCase& kernel_case : compiled.table.cases()) {
    times.push_back(kernel_time(latency_of(kernel_case)));
  }
  double sum = 0;  // used below, so that no pricing can be left out
  const double pass_s = seconds_per_call("price", [&] {
    for (const StepSum& configuration : compiled.deployments) {
      sum += price(configuration, times)->step_ns;
    }
  });
  if (!(sum > 0)) throw Error(ExitCode::incorrect, "deployments were priced at nothing");
  const auto count = static_cast<double>(compiled.deployments.size());
  note("composer: " + std::to_string(compiled.deployments.size()) + " deployments, " +
       std::to_string(times.size()) + " kernels, " + std::to_string(compiled.checks) +
       " checked against Composer::compose");
  figures.at_least("composer_priced", count / pass_s, "configurations/s", 100'000);
  figures.report("composer_built_and_compiled", count / compiled.build_s, "configurations/s");
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
