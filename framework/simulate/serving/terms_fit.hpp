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
  EngineTerms terms;  // prompt_step_ns: of one layer here, see of_model
  double waves = 7;   // requests per client
  // How the scheduler was set, chosen among few.
  std::int64_t token_budget = 8192;
  bool chunks_prompts = false;
  // Inputs of 8-bit linears are quantised by static scales, inside of what computes them: the
  // model's block_quantize takes no time.
  bool fuses_quantize = false;
  std::int64_t requests_short = 0;  // the batch has room for so many fewer than there are clients

  EngineTerms of_model(std::int64_t layers) const;
};

// One measurement: a closed loop of clients.
struct ServedPoint {
  RequestShape request;
  std::int64_t clients = 1, layers = 1;
  EnginePlan plan;  // the cache; its terms and scheduler are those of the series
  StepClock* clock = nullptr;
  double ttft_ns = 0, tpot_ns = 0;
  std::string curve;  // points that differ in their clients alone
};

BenchmarkFigures predicted(const ServedPoint& point, const SeriesTerms& terms);

// Mean over the points of |ln(predicted/measured)|, at most 1, of TTFT and twice that of TPOT, at
// most 0.5 each: some rows were taken of servers in trouble, and shall not decide.
double fit_loss(std::span<const ServedPoint* const> points, const SeriesTerms& terms);

// Subplex (search/minimise) over the continuous ones from `start`; its settings stay.
SeriesTerms fitted_from(const SeriesTerms& start, std::span<const ServedPoint* const> points,
                        int evaluations_max);

}  // namespace halmark::serving
