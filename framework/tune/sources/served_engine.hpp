// Which engine's terms stand around the times of a choice, and what follows from it: one answer for
// every command that serves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "latency/forecast/carried_forecast.hpp"
#include "latency/forecast/forecast_files.hpp"
#include "model/serving/engine_step.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

// Forecast tables of a device, its own first where it was onboarded, else of the nearest one that
// has some. None of a device that was
// measured here: it is no known one, whatever it is called.
struct FoundForecasts {
  std::vector<ForecastFile> files;
  std::optional<NearDevice> near;
};
FoundForecasts found_forecasts(const Device& target, const Folders& devices);

// The engine that was asked for; else, over forecasts, that of what is exported where terms of it
// were fitted, or that of the tables. `source`: that the forecast's own name states; `tables`: "" =
// there are none. No name where no terms count.
NamedEngine counted_engine(const NamedEngine& named, const std::string& source,
                           const std::string& tables);
// The same before the times are there.
NamedEngine counted_engine(const LatencyChoice& choice, const Device& target,
                           const Folders& devices);

// Its terms around the kernels of a model, or of all (null); nothing where none count. Throws Error
// (exit 2) for an engine that was asked for and has none.
std::optional<serving::FittedTerms> engine_terms(const PricedLatencies& latencies,
                                                 const ModelSpec* spec = nullptr);
// The engine around the steps of a served load; its interval where it is of such times.
ServingEngine engine_around(const PricedLatencies& latencies, const serving::FittedTerms& terms);
// Its closed loops request by request, see simulate_closed_loop.
ClosedLoop events_of(const ServingEngine& engine);

// The engine around a single step, where one was asked for; nothing else: kernels alone. Throws
// Error (exit 2) for one without terms, and for a step that no engine executes.
std::optional<StepEngine> step_engine(const PricedLatencies& latencies, const ModelSpec& spec,
                                      Phase phase);

}  // namespace halmark::tune
