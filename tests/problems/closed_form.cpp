// ZDT1 (Zitzler, Deb, Thiele 2000), DTLZ2 (Deb et al. 2002), and mix6: a deployment of six mixed
// parameters whose front was computed elsewhere.
#include <algorithm>
#include <cmath>

#include "problem.hpp"

namespace halmark::problems {
namespace {

SearchDomain unit_interval(int number) {
  return {.name = "x" + std::to_string(number), .kind = DomainKind::real, .low = 0, .high = 1};
}

SearchDomain integers(const char* name, double low, double high, double step) {
  return {.name = name, .kind = DomainKind::integer, .low = low, .high = high, .step = step};
}

}  // namespace

Problem zdt1() {
  Problem out{.name = "zdt1", .reference = {1.1, 11}};
  for (int i = 1; i <= 30; ++i) out.description.domains.push_back(unit_interval(i));
  out.description.objectives = {{"f1", "", false}, {"f2", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    double sum = 0;
    for (std::size_t i = 1; i < x.size(); ++i) sum += x[i];
    const double g = 1 + 9 * sum / 29;
    return {.point = x, .objectives = {x[0], g * (1 - std::sqrt(x[0] / g))}};
  };
  return out;
}

Problem dtlz2() {
  Problem out{.name = "dtlz2", .reference = {2.5, 2.5, 2.5}};
  for (int i = 1; i <= 12; ++i) out.description.domains.push_back(unit_interval(i));
  out.description.objectives = {{"f1", "", false}, {"f2", "", false}, {"f3", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    constexpr double pi = 3.141592653589793;
    double g = 0;
    for (std::size_t i = 2; i < x.size(); ++i) g += (x[i] - 0.5) * (x[i] - 0.5);
    const double a = x[0] * pi / 2, b = x[1] * pi / 2;
    return {.point = x,
            .objectives = {(1 + g) * std::cos(a) * std::cos(b), (1 + g) * std::cos(a) * std::sin(b),
                           (1 + g) * std::sin(a)}};
  };
  return out;
}

Objectives mix6_objectives(int dtype, int strategy, int shards_log2, int batch, int tile,
                           int stages) {
  constexpr double rates[] = {1, 4, 8, 16}, widths[] = {4, 4, 2, 1},
                   powers[] = {1, 0.8, 0.65, 0.55};
  const double rate = rates[dtype], by = widths[dtype], power = powers[dtype];
  const double q = shards_log2, p = std::ldexp(1.0, shards_log2);
  const double b = batch, t = tile, k = stages;
  double eff = (1 - 0.35 * std::exp(-k / 2)) / (1 + ((t - 128) / 96) * ((t - 128) / 96));
  if (t * k * by > 2048) eff /= 2;
  const double work = 0.25 * b / (rate * eff), mem = 0.02 * by + 0.0005 * b * by, m = 4 + k;
  double par = p, comm = 0;
  switch (strategy) {
    case 0:  // data
      par = 1;
      comm = 0.01 * q * by;
      break;
    case 1:  // tensor
      comm = 0.0012 * b * q * by;
      break;
    case 2:  // pipeline
      par = p * m / (m + p - 1);
      comm = 0.004 * (p - 1) * by;
      break;
    default:  // sequence
      comm = 0.012 * std::sqrt(b) * q * by;
  }
  const double latency = std::max(work / par, mem / par) + comm + 0.01 * (1 + 0.2 * k);
  const double n = strategy == 0 ? b * p : b;
  const double busy = std::min(1.0, (work / par) / latency);
  return {latency, -n / latency, p * (0.3 + power * busy) * latency / n};
}

Problem mix6() {
  Problem out{.name = "mix6"};
  out.description.domains = {
      {.name = "dtype",
       .values = {ParamValue("fp32"), ParamValue("tf32"), ParamValue("bf16"), ParamValue("fp8")}},
      {.name = "strategy",
       .values = {ParamValue("data"), ParamValue("tensor"), ParamValue("pipeline"),
                  ParamValue("sequence")}},
      integers("shards_log2", 0, 5, 1),
      integers("batch", 8, 256, 8),
      integers("tile", 16, 256, 16),
      integers("stages", 1, 6, 1)};
  out.description.objectives = {
      {"latency", "", false}, {"throughput", "", true}, {"energy", "", false}};
  out.evaluate = [](const Space&, const Point& x) -> Told {
    const auto level = [&](std::size_t d) { return static_cast<int>(x[d]); };
    return {.point = x,
            .objectives = mix6_objectives(level(0), level(1), level(2), 8 + 8 * level(3),
                                          16 + 16 * level(4), 1 + level(5))};
  };
  std::vector<Objectives> all;
  for (int d = 0; d < 4; ++d)
    for (int s = 0; s < 4; ++s)
      for (int q = 0; q < 6; ++q)
        for (int b = 8; b <= 256; b += 8)
          for (int t = 16; t <= 256; t += 16)
            for (int k = 1; k <= 6; ++k) all.push_back(mix6_objectives(d, s, q, b, t, k));
  for (const std::size_t i : non_dominated(all)) out.front.push_back(all[i]);
  std::ranges::sort(out.front);
  out.front.erase(std::ranges::unique(out.front).begin(), out.front.end());
  // Published beside the definition; a test compares the front above with them.
  out.ideal = {0.060317936371674985, -1977.3407064583798, 0.013542567659173572};
  out.nadir = {4.142938024409922, -53.61326130125762, 0.047100491831847474};
  out.exact_hypervolume = 1.2399160823936026;
  return out;
}

}  // namespace halmark::problems
