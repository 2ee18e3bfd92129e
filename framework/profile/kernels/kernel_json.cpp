// Times are in microseconds as profilers write them; an absent figure is null and has a reason.
#include "profile/kernels/kernel_json.hpp"

#include <utility>

#include "core/json/json.hpp"
#include "core/json/table_use_json.hpp"
#include "core/numeric/cast.hpp"

namespace halmark {
namespace {

double us(std::int64_t ps) { return as_double(ps) / ps_per_us; }

Json percent(std::optional<double> fraction) {
  return fraction ? Json(*fraction * 100) : Json(nullptr);
}

Json named_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json row_json(const AccountedKernel& row) {
  Json out = {{"name", row.time.name},
              {"category", row.time.category},
              {"layer_type", row.layer_type},
              {"count", row.time.count},
              {"dur_us", us(row.time.duration_ps)},
              {"status", binding_status_name(row.status)},
              {"bucket", kernel_bucket_name(row.bucket)},
              {"operators", row.operators},
              {"candidates", row.candidates},
              {"binding", row.how},
              {"dtype", row.dtype ? Json(std::string(dtype_name(*row.dtype))) : Json(nullptr)},
              {"flops", optional_number(row.flops)},
              {"bytes", optional_number(row.bytes)},
              {"peak_flops_per_s", optional_number(row.peak_flops_per_s)},
              {"lower_bound_us", row.floor_ns ? Json(*row.floor_ns / 1e3) : Json(nullptr)},
              {"bound", named_or_null(row.bound)},
              {"mfu_pct", percent(row.mfu)},
              {"roofline_pct", percent(roofline_fraction(row))}};
  if (!row.mfu) out["mfu_pct_reason"] = row.reason;
  out["is_quarantined"] = row.is_quarantined;
  return out;
}

}  // namespace

std::optional<double> roofline_fraction(const AccountedKernel& row) {
  if (!row.floor_ns || row.time.duration_ps == 0 || row.is_quarantined) return std::nullopt;
  return *row.floor_ns * 1e3 / as_double(row.time.duration_ps);
}

Json kernels_json(const KernelAccount& account) {
  const Json rows = json_list(account.rows, row_json);
  Json out = {{"rows", rows},
              {"assigned_us", us(account.assigned_ps)},
              {"overhead_us", us(account.overhead_ps)},
              {"unknown_us", us(account.unknown_ps)},
              {"total_us", us(account.total_ps)},
              {"between_kernels_us", us(account.between_kernels_ps)},
              {"mfu_pct", percent(account.mfu)},
              {"mfu_is_lower_bound", account.is_lower_bound},
              {"launch_floor_us", launch_floor_ns / 1e3},
              {"quarantined", account.quarantined},
              {"unmeasured", account.unmeasured}};
  if (!account.mfu) out["mfu_pct_reason"] = account.reason;
  return out;
}

Json layers_json(const std::vector<LayerUse>& uses) {
  Json out = Json::array();
  for (const LayerUse& use : uses) {
    Json layer = {{"layer_type", use.time.layer_type},
                  {"layers", use.layers},
                  {"measured_ms", use.time.ns / 1e6},
                  {"matmul_flops", use.matmul_flops},
                  {"matmul_flops_per_rank", use.matmul_flops_per_rank},
                  {"model_pct", percent(use.mfu)},
                  {"executed_pct", percent(use.executed)},
                  {"is_quarantined", use.is_quarantined}};
    if (!use.mfu) layer["model_pct_reason"] = use.reason;
    out.push_back(std::move(layer));
  }
  return out;
}

}  // namespace halmark
