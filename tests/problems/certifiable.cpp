#include "certifiable.hpp"

#include <cmath>

namespace halmark::problems {
namespace {

// In the order in which boxes are cut: the bound does not know the tile, so that comes last.
enum Mix6Domain { dtype, strategy, shards, batch, stages, tile };
constexpr double rates[] = {1, 4, 8, 16}, widths[] = {4, 4, 2, 1}, powers[] = {1, 0.8, 0.65, 0.55};

CertifyDomain numbers(const char* name, int low, int high, int step) {
  CertifyDomain out{.name = name};
  for (int v = low; v <= high; v += step) out.values.push_back(std::to_string(v));
  return out;
}

// A table over domains from a function of their levels.
template <typename T, typename F>
LevelTable<T> table(const CertifiableProblem& problem, const char* name,
                    std::vector<std::int32_t> over, F value) {
  LevelTable<T> out{.name = name, .over = over};
  std::vector<int> levels(6, 0);
  for (;;) {
    out.values.push_back(static_cast<T>(value(levels)));
    std::size_t i = over.size();
    while (i-- > 0) {
      const auto d = static_cast<std::size_t>(over[i]);
      if (++levels[d] < static_cast<int>(problem.domains[d].values.size())) break;
      levels[d] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return out;
  }
}

double batch_of(int level) { return 8 + 8 * level; }

double communication(const std::vector<int>& l) {
  const double by = widths[l[dtype]], q = l[shards], p = std::ldexp(1.0, l[shards]);
  const double b = batch_of(l[batch]);
  switch (l[strategy]) {
    case 0:
      return 0.01 * q * by;
    case 1:
      return 0.0012 * b * q * by;
    case 2:
      return 0.004 * (p - 1) * by;
    default:
      return 0.012 * std::sqrt(b) * q * by;
  }
}

double parallel(const std::vector<int>& l) {
  const double p = std::ldexp(1.0, l[shards]), m = 4 + (1 + l[stages]);
  if (l[strategy] == 0) return 1;
  return l[strategy] == 2 ? p * m / (m + p - 1) : p;
}

void add_facts(CertifiableProblem& out) {
  const auto add = [&out](const char* name, std::vector<std::int32_t> over, auto value) {
    out.facts.push_back(table<double>(out, name, std::move(over), value));
  };
  using Levels = std::vector<int>;
  add("work", {dtype, batch},
      [](const Levels& l) { return 0.25 * batch_of(l[batch]) / rates[l[dtype]]; });
  add("memory", {dtype, batch}, [](const Levels& l) {
    return 0.02 * widths[l[dtype]] + 0.0005 * batch_of(l[batch]) * widths[l[dtype]];
  });
  add("parallel", {strategy, shards, stages}, parallel);
  add("communication", {dtype, strategy, shards, batch}, communication);
  add("launch", {stages}, [](const Levels& l) { return 0.01 * (1 + 0.2 * (1 + l[stages])); });
  add("sequences", {strategy, shards, batch}, [](const Levels& l) {
    return l[strategy] == 0 ? batch_of(l[batch]) * std::ldexp(1.0, l[shards]) : batch_of(l[batch]);
  });
  add("devices", {shards}, [](const Levels& l) { return std::ldexp(1.0, l[shards]); });
  add("power", {dtype}, [](const Levels& l) { return powers[l[dtype]]; });
}

// latency = max(work/par, mem/par) + comm + launch; throughput = n / latency;
// energy = p (0.3 latency + P min(latency, work/par)) / n.
std::vector<Formula> mix6_formulas() {
  using namespace formula;
  enum Fact { work, memory, par, comm, launch, n, p, power };
  const Formula busy = divided(scaled(fact(work), slot(0)), fact(par));
  const Formula latency =
      sum({largest({busy, divided(fact(memory), fact(par))}), fact(comm), fact(launch)});
  const Formula joule =
      sum({scaled(constant(0.3), latency), scaled(fact(power), smallest({latency, busy}))});
  return {latency, rate(fact(n), latency), divided(scaled(fact(p), joule), fact(n))};
}

double efficiency(double by, double t, double k) {
  const double out = (1 - 0.35 * std::exp(-k / 2)) / (1 + ((t - 128) / 96) * ((t - 128) / 96));
  return t * k * by > 2048 ? out / 2 : out;
}

// Of (width, stages, tile): 3 x 6 x 16.
int shared_kernel(const std::vector<int>& l) {
  const int width = l[dtype] < 2 ? 0 : l[dtype] - 1;
  return (width * 6 + l[stages]) * 16 + l[tile];
}

}  // namespace

CertifiableProblem certifiable_mix6(Mix6Kernels kernels, double safety, double peak) {
  CertifiableProblem out;
  out.domains = {{"dtype", {"fp32", "tf32", "bf16", "fp8"}},
                 {"strategy", {"data", "tensor", "pipeline", "sequence"}},
                 numbers("shards_log2", 0, 5, 1),
                 numbers("batch", 8, 256, 8),
                 numbers("stages", 1, 6, 1),
                 numbers("tile", 16, 256, 16)};
  out.objectives = {{"latency", "", false}, {"throughput", "", true}, {"energy", "", false}};
  out.peaks = {
      {.id = "efficiency", .value = peak, .unit = "", .source = "by definition", .safety = safety}};
  add_facts(out);
  out.formulas = mix6_formulas();
  const bool is_shared = kernels == Mix6Kernels::shared;
  const std::vector<std::int32_t> all = {dtype, strategy, shards, batch, stages, tile};
  std::int32_t next = 0;
  out.slots.push_back(table<std::int32_t>(
      out, "kernel", is_shared ? std::vector<std::int32_t>{dtype, stages, tile} : all,
      [&](const std::vector<int>& l) { return is_shared ? shared_kernel(l) : next++; }));
  const std::size_t count = is_shared ? 288 : static_cast<std::size_t>(next);
  for (std::size_t k = 0; k < count; ++k) {
    out.kernels.push_back({.key = "kernel " + std::to_string(k),
                           .operations = 1,
                           .terms = {{.peak = 0, .amount = 1}}});
  }
  return out;
}

std::vector<double> mix6_times(const CertifiableProblem& problem, Mix6Kernels kernels) {
  std::vector<double> out(problem.kernels.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const bool is_shared = kernels == Mix6Kernels::shared;
    const int t = 16 + 16 * static_cast<int>(k % 16), stage = 1 + static_cast<int>(k / 16 % 6);
    const double by = is_shared ? widths[1 + k / 96] : widths[k / 73'728];
    out[k] = 1 / efficiency(by, t, stage);
  }
  return out;
}

CertifiableProblem certifiable_replay(const Problem& problem, const Space& space, double operations,
                                      double peak_per_s, std::vector<double>& times) {
  CertifiableProblem out;
  CertifyDomain configurations{.name = "configuration"};
  out.objectives = {{"time", "ms", false}};
  out.peaks = {{.id = "stated peak",
                .value = peak_per_s,
                .unit = "FLOP/s",
                .source = "datasheet",
                .safety = 1}};
  out.time_units_per_s = 1e3;
  LevelTable<std::int32_t> slot{.name = "kernel", .over = {0}};
  times.clear();
  for (std::uint64_t i = 0; i < space.size(); ++i) {
    configurations.values.push_back(std::to_string(i));
    slot.values.push_back(static_cast<std::int32_t>(i));
    out.kernels.push_back({.key = std::to_string(i),
                           .operations = operations,
                           .terms = {{.peak = 0, .amount = operations}}});
    const Told told = problem.evaluate(space, space.point(i));
    times.push_back(told.outcome == TrialOutcome::complete ? told.objectives[0] : 0);
  }
  out.domains.push_back(std::move(configurations));
  out.slots.push_back(std::move(slot));
  out.formulas = {formula::slot(0)};
  return out;
}

void certify_all(Certifier& certifier, const std::vector<double>& times, std::size_t kernels_max) {
  while (kernels_max == 0 || certifier.kernels_measured() < kernels_max) {
    const std::vector<std::int32_t> kernels = certifier.ask(1);
    if (kernels.empty()) return;
    for (const std::int32_t k : kernels) {
      const double time = times[static_cast<std::size_t>(k)];
      if (time > 0) {
        certifier.tell(k, time, time);
      } else {
        certifier.tell_failed(k, "did not run");
      }
    }
  }
}

}  // namespace halmark::problems
