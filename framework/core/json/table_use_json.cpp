#include "core/json/table_use_json.hpp"

#include "core/json/json.hpp"

namespace halmark {

void to_json(Json& out, const SeriesUse& value) {
  out = Json{{"name", value.name},
             {"points", value.points},
             {"kernels", value.exact},
             {"kernels_interpolated", value.interpolated},
             {"passed_over", value.passed_over}};
  if (value.passed_over > 0) out["passed_over_reason"] = value.reason;
}

void to_json(Json& out, const TableUse& value) {
  out = Json{{"name", value.name},       {"file", value.file},
             {"device", value.device},   {"rows", value.rows},
             {"skipped", value.skipped}, {"is_passed_over", !value.passed_over.empty()},
             {"series", value.series}};
  if (!value.passed_over.empty()) out["passed_over_reason"] = value.passed_over;
}

void to_json(Json& out, const QuarantinedTimes& value) {
  out = Json{{"kernels", value.kernels}, {"of", value.asked}, {"example", nullptr}};
  if (value.kernels == 0) return;
  out["example"] = {{"problem", value.problem},
                    {"time_ns", value.ns},
                    {"lower_bound_ns", value.lower_bound_ns},
                    {"source", value.source},
                    {"reason", value.reason}};
}

}  // namespace halmark
