// Where a run has no time, its figures are null and its status says why.
#include "report/views/validation_view.hpp"

#include <fmt/format.h>

#include "report/quantity.hpp"
#include "report/table.hpp"

namespace halmark::report {
namespace {

Json validation_json(const Validation& v) {
  Json operators = Json::array();
  for (const auto& op : v.operators) {
    operators.push_back(
        {{"name", op.name}, {"predicted_ns", op.predicted_ns}, {"measured_ns", op.measured_ns}});
  }
  const bool has = has_latency(v.status) && v.measured_ns > 0;
  return {{"predicted_ns", v.predicted_ns},
          {"predicted_interval_ns", v.predicted_interval_ns},
          {"measured_ns", has ? Json(v.measured_ns) : Json(nullptr)},
          {"measured_interval_ns", has ? Json(v.measured_interval_ns) : Json(nullptr)},
          {"relative_error", has ? Json(v.relative_error()) : Json(nullptr)},
          {"status", std::string(status_name(v.status))},
          {"reason", v.reason},
          {"operators", operators}};
}

std::string error_text(double predicted, double measured) {
  return measured > 0 ? fmt::format("{:+.1f} %", 100 * (predicted / measured - 1)) : "-";
}

std::string validation_text(const Validation& v) {
  TextTable table({"operator", "predicted", "measured", "error", "of the step"},
                  {false, true, true, true, true});
  for (const auto& op : v.operators) {
    table.add({op.name, duration_text(op.predicted_ns), duration_text(op.measured_ns),
               error_text(op.predicted_ns, op.measured_ns),
               v.measured_ns > 0 ? rounded_percent_text(op.measured_ns / v.measured_ns) : "-"});
  }
  std::string out = v.deployment_key + '\n' + '\n' + table.text();
  if (!has_latency(v.status)) {
    return out + "\nno measured step: " + std::string(status_name(v.status)) + ": " + v.reason +
           '\n';
  }
  return out +
         fmt::format("\nstep: predicted {} ({} .. {}), measured {} ({} .. {}), error {}  [{}{}]\n",
                     duration_text(v.predicted_ns), duration_text(v.predicted_interval_ns.low),
                     duration_text(v.predicted_interval_ns.high), duration_text(v.measured_ns),
                     duration_text(v.measured_interval_ns.low),
                     duration_text(v.measured_interval_ns.high),
                     error_text(v.predicted_ns, v.measured_ns), status_name(v.status),
                     v.reason.empty() ? "" : ": " + v.reason);
}

}  // namespace

View validation_view(const Validation& validation) {
  return {.data = validation_json(validation), .text = validation_text(validation)};
}

}  // namespace halmark::report
