// Terms of an engine from figures that its users measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "simulate/serving/benchmark.hpp"

namespace halmark::serving {

// What a series of measurements has in common and does not state. Fitted together.
struct SeriesTerms {
  EngineTerms terms;
  double waves = 7;  // requests per client
  // How the scheduler was set, chosen among few.
  std::int64_t token_budget = 8192;
  bool chunks_prompts = false;
};

// One measurement: a closed loop of clients.
struct ServedPoint {
  RequestShape request;
  std::int64_t clients = 1;
  EnginePlan plan;  // the cache; its terms and scheduler are those of the series
  StepClock* clock = nullptr;
  double ttft_ns = 0, tpot_ns = 0;
  std::string curve;  // points that differ in their clients alone
};

BenchmarkFigures predicted(const ServedPoint& point, const SeriesTerms& terms);

// Mean over the points of |ln(predicted/measured)|, at most 1, of TTFT and twice that of TPOT, at
// most 0.5 each: some rows were taken of servers in trouble, and shall not decide.
double fit_loss(std::span<const ServedPoint* const> points, const SeriesTerms& terms);

// Of a model, what its kernels and its requests' way take; an engine has all terms.
enum class FitOf { engine, model };
// Subplex (search/minimise) over the continuous ones from `start`; its settings stay.
SeriesTerms fitted_from(const SeriesTerms& start, std::span<const ServedPoint* const> points,
                        int evaluations_max, FitOf of = FitOf::engine);

}  // namespace halmark::serving
