// One document for `run` and for each validation of a report. An absent figure is null, and its
// reason stands beside it.
#include "report/report.hpp"

namespace halmark {
namespace {

Json interval_json(const Interval& interval) {
  return {{"low_ns", interval.low}, {"high_ns", interval.high}};
}

Json composition_json(const Composition& c) {
  return {{"composed_ns", c.composed_ns},
          {"error_interval", {c.error_interval.low, c.error_interval.high}},
          {"pairs", c.pairs},
          {"pairs_apart", c.apart},
          {"in_one_state", c.in_one_state},
          {"paired_share", c.paired_share},
          {"bytes_per_s", optional_number(c.bytes_per_s)}};
}

std::string status_reason(const Validation& v) {
  return v.reason.empty() ? std::string(status_name(v.status)) : v.reason;
}

void set(Json& out, const std::string& name, std::optional<double> value, const std::string& why) {
  out[name] = optional_number(value);
  if (!value) out[name + "_reason"] = why;
}

}  // namespace

Json validation_json(const Validation& v) {
  Json operators = Json::array();
  for (const auto& op : v.operators) {
    operators.push_back({{"name", op.name},
                         {"composed_ns", optional_number(op.composed_ns)},
                         {"measured_ns", op.measured_ns}});
  }
  Json out = {{"key", v.deployment_key},
              {"status", std::string(status_name(v.status))},
              {"reason", v.reason},
              {"operators", operators}};
  const std::string unrun = status_reason(v);
  const bool has_time = v.measured_ns > 0;
  set(out, "predicted_ns", v.predicted_ns, "an earlier version did not keep it");
  out["predicted_interval"] = v.predicted_ns ? interval_json(v.predicted_interval_ns) : Json();
  out["predicted_state"] = v.predicted_state ? Json(*v.predicted_state) : Json();
  set(out, "measured_ns", has_time ? std::optional(v.measured_ns) : std::nullopt, unrun);
  out["measured_interval"] = has_time ? interval_json(v.measured_interval_ns) : Json();
  set(out, "prediction_error", v.prediction_error(), unrun);
  set(out, "composition_error", v.composition_error(), v.was_run() ? v.composition_reason : unrun);
  const auto interval = v.interval_at_run();
  out["interval_at_run"] = interval ? interval_json(interval->ns) : Json();
  if (interval) {
    out["interval_at_run"]["is_scaled"] = interval->is_scaled;
    out["interval_at_run"]["is_inside"] = interval->is_inside;
  }
  out["composition"] = v.composition ? composition_json(*v.composition) : Json();
  if (!v.composition) out["composition_reason"] = v.was_run() ? v.composition_reason : unrun;
  return out;
}

}  // namespace halmark
