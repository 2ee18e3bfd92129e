// One document for `run` and for each validation of a report. An absent figure is null, and its
// reason stands beside it.
#include "core/json/json.hpp"
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
          {"bytes_per_s", optional_number(c.bytes_per_s)},
          {"flops_per_s", optional_number(c.flops_per_s)}};
}

Json role_json(const RoleMemory& role) {
  Json out = role;
  out["unexplained_bytes"] = role.unexplained_bytes();
  return out;
}

Json memory_json(const MeasuredMemory& memory) {
  Json ranks = Json::array();
  for (const MemoryOfRank& rank : memory.ranks) {
    Json out = rank;
    out["allocated_bytes"] = rank.allocated_bytes();
    out["roles"] = json_list(rank.roles, role_json);
    if (rank.set_size) {
      out["set_size"]["difference"] = optional_number(rank.set_size->difference());
      out["set_size"]["verdict"] = set_size_verdict_name(rank.set_size->verdict());
    }
    ranks.push_back(std::move(out));
  }
  return {{"largest_rank", memory.largest().rank}, {"ranks", std::move(ranks)}};
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
  const Json operators = json_list(v.operators, [](const auto& op) -> Json {
    return {{"name", op.name},
            {"composed_ns", optional_number(op.composed_ns)},
            {"measured_ns", op.measured_ns}};
  });
  Json out = {{"key", v.deployment_key},
              {"status", status_name(v.status)},
              {"reason", v.reason},
              {"operators", operators}};
  if (v.bubble_share) out["bubble_share"] = *v.bubble_share;
  if (v.is_oversubscribed) out["oversubscribed"] = true;
  const std::string unrun = status_reason(v);
  const bool has_time = v.shown_ns().has_value();
  set(out, "predicted_ns", v.predicted_ns,
      v.is_oversubscribed ? unrun : "an earlier version did not keep it");
  out["predicted_interval"] = v.predicted_ns ? interval_json(v.predicted_interval_ns) : Json();
  out["predicted_state"] = v.predicted_state ? Json(*v.predicted_state) : Json();
  set(out, "measured_ns", v.shown_ns(), unrun);
  out["measured_interval"] = has_time ? interval_json(v.measured_interval_ns) : Json();
  set(out, "prediction_error", v.prediction_error(), unrun);
  set(out, "composition_error", v.composition_error(), v.has_time() ? v.composition_reason : unrun);
  const auto interval = v.interval_at_run();
  out["interval_at_run"] = interval ? interval_json(interval->ns) : Json();
  if (interval) {
    out["interval_at_run"]["is_scaled"] = interval->is_scaled;
    out["interval_at_run"]["is_inside"] = interval->is_inside;
  }
  out["composition"] = v.composition ? composition_json(*v.composition) : Json();
  if (!v.composition) out["composition_reason"] = v.has_time() ? v.composition_reason : unrun;
  out["memory"] = v.memory ? memory_json(*v.memory) : Json();
  if (!v.memory) {
    out["memory_reason"] =
        v.memory_reason.empty() ? "an earlier version did not measure it" : v.memory_reason;
  }
  return out;
}

}  // namespace halmark
