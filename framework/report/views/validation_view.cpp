// One document for `run` and for each validation of a report. An absent figure is null, and its
// reason stands beside it.
#include "report/views/validation_view.hpp"

#include <fmt/format.h>

#include "report/quantity.hpp"
#include "report/table.hpp"

namespace halmark::report {
namespace {

Json interval_json(const Interval& interval) {
  return {{"low_ns", interval.low}, {"high_ns", interval.high}};
}

Json composition_json(const Composition& c) {
  return {{"composed_ns", c.composed_ns},
          {"error_interval", {c.error_interval.low, c.error_interval.high}},
          {"pairs", c.pairs},
          {"pairs_apart", c.apart},
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

Json validation_json(const Validation& v) {
  Json operators = Json::array();
  for (const auto& op : v.operators) {
    operators.push_back(
        {{"name", op.name}, {"composed_ns", op.composed_ns}, {"measured_ns", op.measured_ns}});
  }
  Json out = {{"key", v.deployment_key},
              {"status", std::string(status_name(v.status))},
              {"reason", v.reason},
              {"operators", operators}};
  const std::string unrun = status_reason(v);
  const bool has_time = v.measured_ns > 0;
  set(out, "predicted_ns", v.predicted_ns, "an earlier version did not keep it");
  out["predicted_interval"] = v.predicted_ns ? interval_json(v.predicted_interval_ns) : Json();
  set(out, "measured_ns", has_time ? std::optional(v.measured_ns) : std::nullopt, unrun);
  out["measured_interval"] = has_time ? interval_json(v.measured_interval_ns) : Json();
  set(out, "prediction_error", v.prediction_error(), unrun);
  set(out, "composition_error", v.composition_error(), v.was_run() ? v.composition_reason : unrun);
  out["composition"] = v.composition ? composition_json(*v.composition) : Json();
  if (!v.composition) out["composition_reason"] = v.was_run() ? v.composition_reason : unrun;
  return out;
}

std::string error_text(double said, double measured) {
  return measured > 0 ? fmt::format("{:+.1f} %", 100 * (said / measured - 1)) : "-";
}

std::string signed_text(std::optional<double> error) {
  return error ? fmt::format("{:+.1f} %", 100 * *error) : "-";
}

std::string operators_text(const Validation& v) {
  TextTable table({"operator", "beside the run", "in the run", "error", "of the step"},
                  {false, true, true, true, true});
  for (const auto& op : v.operators) {
    table.add({op.name, duration_text(op.composed_ns), duration_text(op.measured_ns),
               error_text(op.composed_ns, op.measured_ns),
               v.measured_ns > 0 ? rounded_percent_text(op.measured_ns / v.measured_ns) : "-"});
  }
  return table.text();
}

std::string composition_line(const Validation& v) {
  if (!v.composition) return "composition error: none: " + v.composition_reason + '\n';
  const Composition& c = *v.composition;
  std::string out = fmt::format(
      "composition error {} ({} .. {}): its kernels took {}, in {} pairs with the run within "
      "seconds ({} of the step; the rest from their rows)\n",
      signed_text(c.error), signed_text(c.error_interval.low), signed_text(c.error_interval.high),
      duration_text(c.composed_ns), c.pairs, rounded_percent_text(c.paired_share));
  if (c.apart > 0) {
    out += fmt::format("{} pairs left out: the memory's speed moved by more than 10 %\n", c.apart);
  }
  return out;
}

std::string prediction_line(const Validation& v) {
  if (!v.predicted_ns) return {};
  return fmt::format(
      "prediction error {}: {} ({} .. {}) was said before, from kernels measured "
      "in processes of their own\n",
      signed_text(v.prediction_error()), duration_text(*v.predicted_ns),
      duration_text(v.predicted_interval_ns.low), duration_text(v.predicted_interval_ns.high));
}

std::string validation_text(const Validation& v) {
  std::string out = v.deployment_key + '\n' + '\n' + operators_text(v);
  if (!(v.measured_ns > 0)) {
    return out + "\nno measured step: " + std::string(status_name(v.status)) + ": " + v.reason +
           '\n';
  }
  out += fmt::format("\nstep {} ({} .. {})  [{}{}]\n", duration_text(v.measured_ns),
                     duration_text(v.measured_interval_ns.low),
                     duration_text(v.measured_interval_ns.high), status_name(v.status),
                     v.reason.empty() ? "" : ": " + v.reason);
  return out + composition_line(v) + prediction_line(v);
}

}  // namespace

View validation_view(const Validation& validation) {
  return {.data = validation_json(validation), .text = validation_text(validation)};
}

}  // namespace halmark::report
