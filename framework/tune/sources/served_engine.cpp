#include "tune/sources/served_engine.hpp"

#include <algorithm>

#include "core/input/places.hpp"
#include "core/text/error.hpp"
#include "latency/source_choice.hpp"
#include "simulate/serving/benchmark.hpp"

namespace halmark::tune {
namespace {

bool is_fitted(const std::string& engine) {
  const std::vector<std::string> known = serving::fitted_engines();
  return std::ranges::find(known, engine) != known.end();
}

}  // namespace

FoundForecasts found_forecasts(const Device& target, const Folders& devices) {
  FoundForecasts out;
  if (target.is_measured) return out;
  Folders folders = config_dirs("forecasts");
  if (!target.folder.empty()) folders.insert(folders.begin(), target.folder);
  out.files = forecast_files(folders, target.id);
  if (!out.files.empty()) return out;
  out.near = nearest_with_tables(target, folders, devices);
  if (out.near) out.files = forecast_files(folders, out.near->device.id);
  return out;
}

NamedEngine counted_engine(const NamedEngine& named, const std::string& source,
                           const std::string& tables) {
  if (named.name == no_engine) return {};
  if (named.is_asked) return named;
  if (tables.empty()) return {};
  if (source.empty() && is_fitted(named.name)) return named;
  return is_fitted(tables) ? NamedEngine{.name = tables} : NamedEngine{};
}

NamedEngine counted_engine(const LatencyChoice& choice, const Device& target,
                           const Folders& devices) {
  std::string source, tables;
  bool has_forecast = false;
  for (const std::string& text : choice.sources) {
    const SourceChoice one = parse_source(text, choice.where);
    if (one.kind != SourceKind::forecast) continue;
    has_forecast = true;
    if (!one.file.empty()) source = one.file;
  }
  if (has_forecast && !choice.engine.is_asked) {
    const FoundForecasts found = found_forecasts(target, devices);
    const ForecastFile* file =
        forecast_of(found.files, source.empty() ? choice.engine.name : source);
    if (file != nullptr) tables = file->engine;
  }
  return counted_engine(choice.engine, source, tables);
}

std::optional<serving::FittedTerms> engine_terms(const PricedLatencies& latencies,
                                                 const ModelSpec* spec) {
  const NamedEngine& engine = latencies.engine;
  if (engine.name.empty()) return std::nullopt;
  return spec == nullptr
             ? serving::fitted_terms(engine.name, "", latencies.device)
             : serving::fitted_terms(engine.name, *spec, latencies.device, engine.release);
}

ServingEngine engine_around(const PricedLatencies& latencies, const serving::FittedTerms& terms) {
  ServingEngine out = serving::engine_of(terms);
  out.has_ratios = latencies.has_tables();
  return out;
}

ClosedLoop events_of(const ServingEngine& engine) {
  return [engine](StepPricer& steps, StepPricer::Layout layout, const RequestShape& request,
                  std::int64_t clients, std::int64_t token_budget) {
    return serving::simulate_closed_loop(steps, layout, request, clients, token_budget, engine);
  };
}

std::optional<StepEngine> step_engine(const PricedLatencies& latencies, const ModelSpec& spec,
                                      Phase phase) {
  if (!latencies.engine.is_asked) return std::nullopt;
  if (phase == Phase::training || !spec.is_causal || spec.encoder) {
    throw refused("an engine serves prompts, and this is " +
                      (phase == Phase::training ? "a step of training" : "a step of " + spec.id),
                  "--engine", "leave it out");
  }
  const auto terms = engine_terms(latencies, &spec);
  StepEngine out{.name = terms->engine,
                 .release = terms->release,
                 .source = serving::source_text(*terms),
                 .terms = terms->series.terms,
                 .decode = {}};
  if (latencies.has_tables()) out.decode = terms->tpot;
  return out;
}

}  // namespace halmark::tune
