// Small spaces that samplers are tested on, and what every test of a sampler asks.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "search/sampler.hpp"

namespace halmark::test {

inline SearchDomain categories(const std::string& name, int count) {
  SearchDomain out{.name = name, .kind = DomainKind::categorical};
  for (int v = 0; v < count; ++v) out.values.push_back(std::to_string(v));
  return out;
}

inline SearchDomain levels(const std::string& name, std::int64_t count) {
  return {
      .name = name, .kind = DomainKind::integer, .low = 0, .high = static_cast<double>(count - 1)};
}

inline SearchDomain continuum(const std::string& name) {
  return {.name = name, .kind = DomainKind::real, .low = 0, .high = 1};
}

inline Told sum_told(const Point& p) { return {.point = p, .objectives = {p[0] + p[1]}}; }

// 7 x 5 without the points whose sum is 6.
inline Space odd_space() {
  return {{categories("a", 7), categories("b", 5)},
          {{"six", {"a", "b"}, [](const Point& p) { return p[0] + p[1] != 6; }}}};
}

// Categories, a condition, constraints: 2 objectives.
inline SpaceDescription mixed() {
  SpaceDescription s;
  s.domains = {
      {.name = "strategy",
       .values = {ParamValue("data"), ParamValue("tensor"), ParamValue("pipeline")}},
      {.name = "stages", .kind = DomainKind::integer, .low = 1, .high = 6},
      {.name = "batch", .kind = DomainKind::integer, .low = 8, .high = 128, .step = 8},
      {.name = "tile",
       .kind = DomainKind::ordinal,
       .values = {std::int64_t{16}, std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}},
      {.name = "threads", .kind = DomainKind::integer, .low = 1, .high = 12}};
  s.domains[1].when = "strategy == 'pipeline'";
  s.constraints = {{"", "batch * tile <= 4096", {}}, {"", "stages * threads <= 24", {}}};
  s.objectives = {{"time", "", false}, {"memory", "", false}};
  return s;
}

inline Told evaluate_mixed(const Point& p) {
  const double stages = p[1] == absent ? 1 : p[1] + 1;
  const double time = (20 - p[2]) * (1 + std::abs(p[3] - 2)) / stages + 0.3 * p[4];
  return {.point = p, .objectives = {time, (p[2] + 1) * (p[3] + 1) * stages - p[4]}};
}

inline std::vector<Point> ask_all(Sampler& sampler, std::size_t batch) {
  std::vector<Point> out;
  while (true) {
    const auto points = sampler.ask(batch);
    if (points.empty()) return out;
    out.insert(out.end(), points.begin(), points.end());
  }
}

// One trial at a time, each told before the next.
template <class Evaluate>
std::vector<Told> search(Sampler& sampler, std::size_t trials, Evaluate evaluate) {
  std::vector<Told> out;
  while (out.size() < trials) {
    const std::vector<Point> next = sampler.ask(1);
    if (next.empty()) break;
    out.push_back(evaluate(next.front()));
    sampler.tell({out.back()});
  }
  return out;
}

// How many of the first proposals are those of the Sobol sequence of this seed; later ones that
// happen to be so are not counted.
template <class Evaluate>
std::size_t sobol_trials(const std::string& name, const Space& space, std::size_t trials,
                         const SamplerOptions& options, Evaluate evaluate) {
  const auto sampler = make_sampler(name, space, options);
  const std::vector<Told> told = search(*sampler, trials, evaluate);
  const std::vector<Point> sobol = make_sampler("sobol", space, options)->ask(trials);
  std::size_t same = 0;
  while (same < told.size() && told[same].point == sobol[same]) ++same;
  return same;
}

inline double best_of(const std::vector<Told>& told, std::size_t first = 0) {
  double out = told.at(first).objectives.at(0);
  for (std::size_t i = first; i < told.size(); ++i) out = std::min(out, told[i].objectives.at(0));
  return out;
}

}  // namespace halmark::test
