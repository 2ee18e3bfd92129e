#include <cmath>
#include <map>

#include "core/chosen/untried.hpp"
#include "core/json/json.hpp"
#include "core/json/table_use_json.hpp"
#include "core/lists.hpp"
#include "report/front_view.hpp"
#include "report/kernel_rates.hpp"
#include "report/report.hpp"
#include "report/rival_view.hpp"
#include "report/sentences.hpp"
#include "report/times_from.hpp"

namespace halmark {
namespace {

using report::FrontRow;
using report::PhaseView;

// An absent figure is null with its reason beside it.
void set_number(Json& out, const std::string& name, std::optional<double> value,
                const std::string& reason) {
  out[name] = optional_number(value);
  if (out[name].is_null()) out[name + "_reason"] = reason.empty() ? "not known" : reason;
}

// Values that arrived not finite become null with a reason: the writer would refuse the document.
Json finite(Json value) {
  if (value.is_array()) {
    for (Json& item : value) item = finite(std::move(item));
  } else if (value.is_object()) {
    Json out = Json::object();
    for (auto& [name, item] : value.items()) {
      const bool is_bad = item.is_number_float() && !std::isfinite(item.get<double>());
      out[name] = finite(item);
      if (is_bad) out[name + "_reason"] = "not a finite number";
    }
    return out;
  } else if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    return nullptr;
  }
  return value;
}

Json config_json(const FrontRow& row) {
  const Configuration& d = row.evaluation->configuration;
  Json strategy = Json::object();
  for (const auto& [name, how] : report::strategies(*row.estimate)) strategy[name] = how;
  Json out = {{"model", d.model},
              {"phase", phase_name(d.workload.phase)},
              {"batch", d.workload.batch},
              {"new_tokens", d.workload.new_tokens},
              {"context", d.workload.context},
              {"dp", d.parallel.dp},
              {"tp", d.parallel.tp},
              {"pp", d.parallel.pp},
              {"ep", d.parallel.ep},
              {"precision", d.precision},
              {"strategy", strategy}};
  if (d.parallel.cp != 1) out["cp"] = d.parallel.cp;
  if (!d.parallel.stages.empty()) out["stages"] = d.parallel.stages;
  if (d.workload.routing_skew != 0) out["routing_skew"] = d.workload.routing_skew;
  return out;
}

Json front_json(const FrontRow& row) {
  const Estimate& e = *row.estimate;
  Json out = {{"key", row.evaluation->configuration.key()},
              {"label", row.label},
              {"config", config_json(row)},
              {"objectives",
               {{"latency_ns", e.step_ns},
                {"tokens_per_s", e.tokens_per_s},
                {"memory_bytes", e.memory_bytes_total}}},
              {"interval", {{"low_ns", e.low_ns}, {"high_ns", e.high_ns}}},
              {"run_interval", e.run_interval ? Json(*e.run_interval) : Json()},
              {"provenance", provenance_name(e.provenance)},
              {"bottleneck", e.bottleneck},
              {"predicted_ns", e.step_ns}};
  set_number(out, "measured_ns", row.measured_ns(), row.measured_reason());
  set_number(out, "prediction_error", row.prediction_error(), row.measured_reason());
  set_number(out, "composition_error", row.composition_error(), row.composition_reason());
  set_number(out, "mfu", e.mfu, e.mfu_reason);
  set_number(out, "mfu_datasheet", e.mfu_datasheet,
             "no datasheet peak for this device, or one below what was measured");
  out["memory_bytes_per_rank"] = e.memory_bytes_per_rank;
  out["lower_bound_ns"] = e.lower_bound_ns;
  out["status"] = status_name(row.evaluation->status);
  out["reason"] = row.evaluation->reason;
  out["is_suspect"] = row.point->is_suspect || row.evaluation->status == Status::suspect;
  out["ties"] = row.point->ties;
  out["membership"] = nullptr;
  if (const auto& standing = row.evaluation->standing) {
    out["membership"] = {{"class", front_class_name(standing->front_class)},
                         {"probability", standing->probability}};
  }
  out["operators"] = e.operators;
  return out;
}

Json untried_json(const Untried& untried, const RunReport& report) {
  Json out = untried;
  for (const auto i : indices(untried.could_enter)) {
    const Configuration& c = untried.could_enter[i].configuration;
    out["could_enter"][i]["key"] = c.key();
    out["could_enter"][i]["label"] = report::deployment_label(c, report);
  }
  return out;
}

Json kernel_json(const KernelPoint& k, const RunReport& report) {
  Json out = {{"key", k.key},
              {"op", k.op},
              {"problem", k.problem},
              {"dtype", k.dtype},
              {"place", k.place},
              {"mode", k.mode},
              {"implementation", k.implementation},
              {"isa", k.isa},
              {"status", status_name(k.status)},
              {"reason", k.reason},
              {"rounds", k.rounds}};
  const std::string none = k.reason.empty() ? "no latency" : k.reason;
  set_number(out, "duration_ns", k.duration_ns, none);
  set_number(out, "ci_low_ns", k.low_ns, none);
  set_number(out, "ci_high_ns", k.high_ns, none);
  out["flops"] = k.matmul_flops;
  out["bytes"] = k.bytes;
  out["lower_bound_ns"] = k.lower_bound_ns;
  set_number(out, "mfu", k.mfu, k.mfu_reason);
  set_number(out, "path_fraction", k.path_fraction, k.mfu_reason);
  set_number(out, "mfu_datasheet", k.mfu_datasheet, k.mfu_reason);
  set_number(out, "roofline_fraction", k.roofline_fraction, none);
  if (k.busbw_bytes_per_s) {
    out["algbw_bytes_per_s"] = *k.algbw_bytes_per_s;
    out["busbw_bytes_per_s"] = *k.busbw_bytes_per_s;
  }
  out["constant_bytes"] = k.constant_bytes;
  out["workspace_bytes"] = k.workspace_bytes;
  out["one_time"] = k.one_time;
  set_number(out, "bandwidth_share", k.bandwidth_share, k.bandwidth_reason);
  set_number(out, "clean_share", k.clean_share, "its samples have no labels");
  out["contradiction"] = report::contradiction(k, report);
  return out;
}

Json errors_json(const ErrorOverPoints& error) {
  Json out = {{"points", error.points}, {"left_out", error.left_out}};
  const std::string few = "fewer than 3 points passed the validity gate";
  set_number(out, "median", error.median, few);
  set_number(out, "worst", error.worst, few);
  return out;
}

Json runs_json(const IntervalCoverage::Runs& runs) {
  return {{"runs", runs.runs},
          {"inside", runs.inside},
          {"half_width", optional_number(runs.half_width)}};
}

Json coverage_json(const IntervalCoverage& coverage) {
  return {{"named_state", runs_json(coverage.named)},
          {"scaled", runs_json(coverage.scaled)},
          {"states", coverage.states}};
}

template <class Rows>
Json status_counts(const Rows& rows) {
  std::map<Status, std::int64_t> counts;
  for (const auto& row : rows) ++counts[row.status];
  Json out = Json::object();
  for (const auto& [status, count] : counts) out[std::string(status_name(status))] = count;
  return out;
}

Json run_json(const RunReport& report) {
  Json out = {{"title", report.title},
              {"model", report.model},
              {"command", report.command},
              {"started_utc", report.started_utc},
              {"tool", report.tool},
              {"plan_hash", report.plan_hash},
              {"chain_head", report.chain_head},
              {"fingerprint", report.fingerprint},
              {"machine", report.machine},
              {"objectives", report.objectives}};
  out["measuring_s"] = report.measuring_s;
  if (report.quarantined) {
    out["tables"] = report.tables;
    out["quarantined"] = *report.quarantined;
  }
  return out;
}

}  // namespace

Json report_json(const RunReport& report) {
  Json out = run_json(report);
  out["validity"] = report::validity(report);
  out["bandwidth_share"] = nullptr;
  if (const auto span = report::bandwidth_span(report)) {
    out["bandwidth_share"] = {{"low", span->low},
                              {"median", span->median},
                              {"high", span->high},
                              {"kernels", span->kernels}};
  } else {
    out["bandwidth_share_reason"] = "no kernel was measured beside reads of the memory";
  }
  const ErrorOverPoints composition = composition_errors(report.validations);
  out["composition_error"] = errors_json(composition);
  out["composition_error"]["verdict"] = report::composition_verdict(composition);
  out["prediction_error"] = errors_json(prediction_errors(report.validations));
  out["interval_coverage"] = coverage_json(interval_coverage(report.validations));
  out["front"] = Json::array();
  for (const PhaseView& view : report::phase_views(report)) {
    for (const FrontRow& row : view.front) {
      out["front"].push_back(front_json(row));
      if (!report.quarantined) continue;
      out["front"].back()["times_from"] = report::times_json(times_from(*row.estimate));
    }
  }
  out["untried"] =
      json_list(report.untried, [&](const Untried& u) { return untried_json(u, report); });
  out["rivals"] = json_list(report.rivals, [&](const Rival& r) {
    return report::rival_json(
        r, [&](const Configuration& c) { return report::deployment_label(c, report); });
  });
  out["status_counts"] = {{"evaluations", status_counts(report.evaluations)},
                          {"kernels", status_counts(report.kernels)},
                          {"validations", status_counts(report.validations)}};
  out["evaluations"] = report.evaluations;
  out["kernels"] = json_list(
      report.kernels, [&](const KernelPoint& kernel) { return kernel_json(kernel, report); });
  out["validations"] = json_list(report.validations, validation_json);
  out["device"] = report.device ? Json(*report.device) : Json(nullptr);
  if (!report.device) out["device_reason"] = "no measured device file";
  out["left_out"] = report.left_out;
  out["notes"] = report.notes;
  out["warnings"] = report.warnings;
  return finite(std::move(out));
}

}  // namespace halmark
