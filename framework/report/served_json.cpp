// The document of a served search. Figures that are absent say which fact is missing.
#include "core/json/json.hpp"
#include "core/json/table_use_json.hpp"
#include "report/rival_view.hpp"
#include "report/served_report.hpp"

namespace halmark {

namespace {

Json configuration_json(const Configuration& configuration) {
  const ServedLoad& load = *configuration.served;
  Json out = {{"key", configuration.key()},         {"mode", serving_mode_name(load.mode)},
              {"devices", configuration.devices()}, {"concurrency", load.concurrency},
              {"token_budget", load.token_budget},  {"precision", configuration.precision},
              {"parallel", configuration.parallel}};
  if (configuration.workload.routing_skew != Workload::even_routing) {
    out["routing_skew"] = configuration.workload.routing_skew;
  }
  if (load.mode == ServingMode::aggregated) return out;
  out["prefill_parallel"] = load.prefill;
  out["prefill_workers"] = load.prefill_workers;
  out["decode_workers"] = load.decode_workers;
  return out;
}

void set_optional(Json& out, const char* name, std::optional<double> value, const char* reason) {
  out[name] = optional_number(value);
  if (!value) out[std::string(name) + "_reason"] = reason;
}

// With the fact whose absence leaves a figure out.
Json figures_json(const ServingFigures& f) {
  Json out = f;
  set_optional(out, "energy_j_per_token", f.energy_j_per_token, "the device states no power");
  set_optional(out, "usd_per_million_tokens", f.usd_per_million_tokens,
               "no usd_per_device_hour is given");
  set_optional(out, "mfu", f.mfu, "the device has no peak for a type that is computed in");
  return out;
}

Json estimate_json(const ServedEstimate& e) {
  Json out = figures_json(e.figures);
  out["is_saturated"] = e.is_saturated;
  out["interval"] = nullptr;
  if (e.has_interval) {
    out["interval"] = {{"fast", figures_json(e.fast)}, {"slow", figures_json(e.slow)}};
  } else {
    out["interval_reason"] = "no source of these times states a spread";
  }
  return out;
}

Json point_json(const ServedReport& r, const ServedPoint& p) {
  Json out = configuration_json(p.configuration);
  out["point"] = &p - r.front.data() + 1;
  out["figures"] = estimate_json(p.estimate);
  set_optional(
      out, "slo_probability", probability(r, p.estimate),
      r.levels.empty() ? "no [slo] is stated" : "no source of these times states a spread");
  Json from = Json::object();
  for (const auto& [provenance, share] : p.provenance) {
    from[std::string(provenance_name(provenance))] = share;
  }
  out["provenance"] = from;
  out["ttft_from"] = report::times_json(p.ttft);
  out["tpot_from"] = report::times_json(p.tpot);
  out["bottleneck"] = p.bottleneck;
  return out;
}

Json missed_json(const MissedPoint& p) {
  Json out = configuration_json(p.configuration);
  out["figures"] = estimate_json(p.estimate);
  const Json missed = json_list(p.violations, [](const ServiceViolation& v) -> Json {
    return {{"objective", objective_name(v.objective)},
            {"value", v.value},
            {"limit", v.limit},
            {"amount", v.amount()},
            {"text", v.text()}};
  });
  out["violations"] = missed;
  return out;
}

}  // namespace

Json report_json(const ServedReport& r) {
  Json out = {
      {"title", r.title},
      {"model", r.model},
      {"command", r.command},
      {"tool", r.tool},
      {"basis", r.basis},
      {"tables", r.tables},
      {"quarantined", r.quarantined},
      {"request",
       {{"input_tokens", r.request.input_tokens}, {"output_tokens", r.request.output_tokens}}},
      {"is_measured", false},
      {"configurations", r.configurations},
      {"possible", r.possible},
      {"refused", r.refused},
      {"refused_examples", r.examples},
      {"missed", r.missed},
      {"priced_s", r.priced_s},
      {"slo_probability_basis", probability_basis(r)}};
  Json missed_by = Json::object();
  const Json objectives = json_list(r.objectives, objective_name);
  const Json levels = json_list(r.levels, [](const ServiceLevel& level) -> Json {
    return {{"objective", objective_name(level.objective)},
            {"limit", level.limit},
            {"is_minimum", is_maximised(level.objective)}};
  });
  for (const auto& [objective, count] : r.missed_by) {
    missed_by[std::string(objective_name(objective))] = count;
  }
  const Json front = json_list(r.front, [&](const ServedPoint& p) { return point_json(r, p); });
  const Json nearest = json_list(r.nearest, missed_json);
  out["objectives"] = objectives;
  out["slo"] = levels;
  out["missed_by"] = missed_by;
  out["front"] = front;
  out["nearest_missed"] = nearest;
  if (!r.least.empty()) out["least_that_fits"] = r.least;
  if (!r.assumed.empty()) out["assumed"] = r.assumed;
  if (!r.next.empty()) out["next"] = r.next;
  if (r.rival) out["rival"] = report::rival_json(*r.rival, served_label);
  return out;
}

}  // namespace halmark
