#include "report/served_report.hpp"

namespace halmark {

namespace {

Json parallel_json(const Parallel& p) {
  return {{"dp", p.dp}, {"tp", p.tp}, {"pp", p.pp}, {"ep", p.ep}};
}

Json deployment_json(const ServedDeployment& d) {
  Json out = {{"key", d.key()},
              {"mode", std::string(serving_mode_name(d.mode))},
              {"devices", d.devices()},
              {"concurrency", d.concurrency},
              {"token_budget", d.token_budget},
              {"precision", d.precision},
              {"parallel", parallel_json(d.parallel)}};
  if (d.routing_skew != 0) out["routing_skew"] = d.routing_skew;
  if (d.mode == ServingMode::aggregated) return out;
  out["prefill_parallel"] = parallel_json(d.prefill);
  out["prefill_workers"] = d.prefill_workers;
  out["decode_workers"] = d.decode_workers;
  return out;
}

void set_optional(Json& out, const char* name, std::optional<double> value, const char* reason) {
  out[name] = optional_number(value);
  if (!value) out[std::string(name) + "_reason"] = reason;
}

Json figures_json(const ServingFigures& f) {
  Json out = {{"ttft_ns", f.ttft_ns},
              {"tpot_ns", f.tpot_ns},
              {"request_ns", f.request_ns},
              {"requests_per_s", f.requests_per_s},
              {"tokens_per_s", f.tokens_per_s},
              {"tokens_per_s_per_device", f.tokens_per_s_per_device},
              {"memory_bytes_per_rank", f.memory_bytes_per_rank},
              {"memory_bytes", f.memory_bytes}};
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
  Json out = deployment_json(p.configuration);
  out["figures"] = estimate_json(p.estimate);
  set_optional(out, "slo_probability", probability(r, p), "no [slo] is stated");
  Json from = Json::object();
  for (const auto& [provenance, share] : p.provenance) {
    from[std::string(provenance_name(provenance))] = share;
  }
  out["provenance"] = from;
  out["bottleneck"] = p.bottleneck;
  return out;
}

Json missed_json(const MissedPoint& p) {
  Json out = deployment_json(p.configuration);
  out["figures"] = estimate_json(p.estimate);
  Json missed = Json::array();
  for (const ServiceViolation& v : p.violations) {
    missed.push_back({{"objective", std::string(serving_objective_name(v.objective))},
                      {"value", v.value},
                      {"limit", v.limit},
                      {"amount", v.amount()},
                      {"text", v.text()}});
  }
  out["violations"] = missed;
  return out;
}

}  // namespace

Json served_json(const ServedReport& r) {
  Json out = {
      {"title", r.title},
      {"model", r.model},
      {"command", r.command},
      {"tool", r.tool},
      {"basis", r.basis},
      {"request",
       {{"input_tokens", r.request.input_tokens}, {"output_tokens", r.request.output_tokens}}},
      {"is_measured", false},
      {"configurations", r.configurations},
      {"refused", r.refused},
      {"refused_examples", r.examples},
      {"missed", r.missed},
      {"priced_s", r.priced_s},
      {"slo_probability_basis", probability_basis(r)}};
  Json objectives = Json::array(), levels = Json::array(), front = Json::array();
  Json nearest = Json::array(), missed_by = Json::object();
  for (const ServingObjective o : r.objectives) {
    objectives.push_back(std::string(serving_objective_name(o)));
  }
  for (const ServiceLevel& level : r.levels) {
    levels.push_back({{"objective", std::string(serving_objective_name(level.objective))},
                      {"limit", level.limit},
                      {"is_minimum", is_maximised(level.objective)}});
  }
  for (const auto& [objective, count] : r.missed_by) {
    missed_by[std::string(serving_objective_name(objective))] = count;
  }
  for (const ServedPoint& p : r.front) front.push_back(point_json(r, p));
  for (const MissedPoint& p : r.nearest) nearest.push_back(missed_json(p));
  out["objectives"] = objectives;
  out["slo"] = levels;
  out["missed_by"] = missed_by;
  out["front"] = front;
  out["nearest_missed"] = nearest;
  return out;
}

}  // namespace halmark
