#include "pages/serve/document/serving_document.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "pages/serve/document/figure.hpp"
#include "report/text/quantity.hpp"

namespace halmark::pages {
namespace {

Json percentiles_json(const char* what, const char* term, const serving::Percentiles& p) {
  return {{"what", what},    {"term", term},    {"n", p.n},       {"mean_ns", p.mean},
          {"p50_ns", p.p50}, {"p90_ns", p.p90}, {"p99_ns", p.p99}};
}

// What a measured mean would be in 90 % of cases, by the fit of the engine's terms.
std::string mean_text(const std::optional<serving::MeanRanges>& ranges,
                      serving::MeanRange serving::MeanRanges::*of) {
  if (!ranges) return "no interval: kernels alone; an engine's terms have one";
  const serving::MeanRange range = (*ranges).*of;
  return "measured mean: " + report::duration_range_text(range.low, range.high);
}

Json figures_of(const tune::ServedSimulation& served, const std::vector<TableUse>& tables) {
  const serving::ServerSummary& s = served.summary;
  const bool is_forecast = std::ranges::any_of(tables, &TableUse::is_forecast);
  const Origin from = {
      .word = std::string("simulated, ") + (tables.empty() ? "roofline"
                                            : is_forecast  ? "forecast"
                                                           : "imported"),
      .means =
          "Requests, steps of the engines and their caches event by event, as halmark "
          "simulate serving does; what times rest on is listed below.",
      .is_bound = tables.empty()};
  Json out = Json::array();
  const auto add = [&](const char* key, const char* title, const char* unit, const char* term,
                       std::optional<double> value, const std::string& note = "") {
    out.push_back(figure_json({key,
                               title,
                               unit,
                               term,
                               value,
                               {},
                               {},
                               from,
                               value ? "" : "no request had more than one token",
                               value ? note : ""}));
  };
  const double devices = served.configuration.devices();
  add("ttft_p50_ns", "first token, median", "ns", "ttft", s.ttft.p50,
      mean_text(served.ranges, &serving::MeanRanges::ttft));
  add("tpot_p50_ns", "between tokens, median", "ns", "tpot",
      s.tpot.n > 0 ? std::optional(s.tpot.p50) : std::nullopt,
      mean_text(served.ranges, &serving::MeanRanges::tpot));
  add("tokens_per_s", "throughput", "tokens/s", "throughput", s.tokens_per_s);
  add("requests_per_s", "requests", "1/s", "throughput", s.requests_per_s);
  add("tokens_per_s_per_device", "per device", "tokens/s", "throughput", s.tokens_per_s / devices);
  add("in_system", "requests at once, mean", "", "batch", served.record.in_system);
  add("makespan_ns", "all requests", "ns", "latency", s.makespan_s * 1e9);
  double kept = 0;
  std::int64_t evicted = 0, waited = 0;
  for (const serving::EngineRecord& engine : served.record.engines) {
    if (served.plan.engine.blocks > 0) {
      kept = std::max(kept, as_double(engine.blocks_peak) / as_double(served.plan.engine.blocks));
    }
    evicted += engine.kv.evicted;
    waited += as_int64(engine.put_off);
  }
  add("cache_peak", "cache in use, most", "1", "cache", kept);
  add("evicted", "KV blocks evicted", "", "cache", as_double(evicted));
  add("put_off", "preemptions", "", "cache", as_double(waited));
  return out;
}

}  // namespace

Json serving_json(const PageState& state, const tune::ServedSimulation& served,
                  const std::vector<TableUse>& tables) {
  Json experienced =
      Json::array({percentiles_json("time to the first token", "ttft", served.summary.ttft),
                   percentiles_json("time between tokens", "tpot", served.summary.tpot),
                   percentiles_json("whole request", "latency", served.summary.request)});
  Json engines = json_list(served.record.engines, [&](const serving::EngineRecord& e) -> Json {
    return {{"name", e.name},
            {"steps", e.steps},
            {"busy_s", events::seconds_of(e.busy_ps)},
            {"prompt_tokens", e.prompt_tokens},
            {"generated_tokens", e.generated_tokens},
            {"blocks", served.plan.engine.blocks},
            {"blocks_peak", e.blocks_peak}};
  });
  const PageLoad& load = *state.load;
  Json of = {{"device", state.device},
             {"model", state.model},
             {"fabric", state.fabric},
             {"dtype", state.dtype},
             {"precision", served.configuration.precision.name},
             {"phase", "serving"},
             {"shards", served.configuration.devices()},
             {"strategy", served.configuration.parallel.text()},
             {"is_auto", !state.strategy.has_value()},
             {"clients", load.clients},
             {"rate", load.rate ? Json(*load.rate) : Json(nullptr)},
             {"input", load.input},
             {"output", load.output},
             {"requests", std::ssize(served.record.requests)},
             {"engine", load.engine}};
  Json out = {{"state", std::move(of)},
              {"figures", figures_of(served, tables)},
              {"experienced", std::move(experienced)},
              {"engines", std::move(engines)},
              {"basis", served.basis}};
  out["closed_form"] = nullptr;
  if (served.closed_form) {
    out["closed_form"] = {{"ttft_ns", served.closed_form->ttft_ns},
                          {"tpot_ns", served.closed_form->tpot_ns},
                          {"request_ns", served.closed_form->request_ns}};
  }
  return out;
}

}  // namespace halmark::pages
