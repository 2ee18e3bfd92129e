#include "simulate/serving/terms_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "search/surrogate/minimise.hpp"

namespace halmark::serving {
namespace {

// One row per parameter: where it stands and its bounds; those of a model first.
struct Parameter {
  double& (*of)(SeriesTerms&);
  double low, high;
};
constexpr std::array<Parameter, 5> parameters = {{
    {[](SeriesTerms& t) -> double& { return t.terms.device_scale; }, 0.6, 1.3},
    {[](SeriesTerms& t) -> double& { return t.terms.arrival_ns; }, 0, 4e8},
    {[](SeriesTerms& t) -> double& { return t.terms.step_ns; }, 0, 4e6},
    {[](SeriesTerms& t) -> double& { return t.terms.sequence_ns; }, 0, 8e4},
    {[](SeriesTerms& t) -> double& { return t.terms.token_ns; }, 0, 2e4},
}};
constexpr std::size_t of_model = 2;

// All parameters on 0..1: the search's first steps are as wide for each.
std::vector<double> unit_of(SeriesTerms terms, FitOf of) {
  std::vector<double> out;
  for (const Parameter& p : parameters) {
    out.push_back(std::clamp((p.of(terms) - p.low) / (p.high - p.low), 0.0, 1.0));
  }
  if (of == FitOf::model) out.resize(of_model);
  return out;
}

SeriesTerms terms_of(SeriesTerms terms, std::span<const double> unit) {
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const Parameter& p = parameters[i];
    p.of(terms) = p.low + unit[i] * (p.high - p.low);
  }
  return terms;
}

}  // namespace

BenchmarkFigures predicted(const ServedPoint& point, const SeriesTerms& series) {
  EnginePlan plan = point.plan;
  plan.terms = series.terms;
  plan.token_budget = series.token_budget;
  plan.chunks_prompts = series.chunks_prompts;
  return simulate_benchmark(plan, point.request, point.clients, series.waves, *point.clock);
}

double fit_loss(std::span<const ServedPoint* const> points, const SeriesTerms& terms) {
  double sum = 0;
  for (const ServedPoint* point : points) {
    const BenchmarkFigures f = predicted(*point, terms);
    sum += std::min(1.0, std::abs(std::log(f.ttft_ns / point->ttft_ns))) +
           2 * std::min(0.5, std::abs(std::log(f.tpot_ns / point->tpot_ns)));
  }
  return sum / static_cast<double>(points.size());
}

SeriesTerms fitted_from(const SeriesTerms& start, std::span<const ServedPoint* const> points,
                        int evaluations_max, FitOf of) {
  const std::vector<double> begin = unit_of(start, of);
  const std::vector<double> low(begin.size(), 0), high(begin.size(), 1);
  const Minimum best = minimise(
      [&](std::span<const double> unit) { return fit_loss(points, terms_of(start, unit)); }, low,
      high, begin, {.evaluations_max = evaluations_max, .relative_tolerance = 1e-3});
  return terms_of(start, best.at);
}

}  // namespace halmark::serving
