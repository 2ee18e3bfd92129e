#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "report/csv_rows.hpp"

#include <algorithm>

#include "report/front_view.hpp"
#include "report/report.hpp"
#include "report/times_from.hpp"

namespace halmark {
namespace {

using report::CsvRows;

struct EvaluationRow {
  const Evaluation* evaluation = nullptr;
  const FrontPoint* point = nullptr;
  const Validation* validation = nullptr;  // nullptr: never confronted with a run
};

// Why a run has no figure, or none that counts.
std::string run_reason(const EvaluationRow& r) {
  if (r.validation == nullptr) return "never confronted with a run";
  const std::string status(status_name(r.validation->status));
  return r.validation->reason.empty() ? status : status + ": " + r.validation->reason;
}

void describe_configuration(CsvRows& csv, const Configuration& c) {
  const Workload& work = c.workload;
  csv("model", c.model);
  csv("phase", phase_name(work.phase));
  csv("batch", work.batch);
  csv("new_tokens", work.new_tokens);
  csv("context", work.context);
  csv("routing_skew_pct", work.routing_skew);
  csv("dp", c.parallel.dp);
  csv("tp", c.parallel.tp);
  csv("pp", c.parallel.pp);
  csv("ep", c.parallel.ep);
  csv("cp", c.parallel.cp);
  const Precision& p = c.precision;
  csv("precision", p.name);
  csv("qkv_dtype", dtype_name(p.qkv));
  csv("output_dtype", dtype_name(p.output));
  csv("ffn_dtype", dtype_name(p.ffn));
  csv("experts_dtype", dtype_name(p.experts));
  csv("head_dtype", dtype_name(p.head));
  csv("attention_dtype", dtype_name(p.attention));
  csv("kv_cache_dtype", dtype_name(p.kv_cache));
  csv("activation_dtype", dtype_name(p.activation));
}

// "q_proj=tensor o_proj=tensor ...": the strategy of every operator in one cell.
std::string strategy_text(const Estimate& estimate) {
  std::string out;
  for (const auto& [name, how] : report::strategies(estimate)) {
    append_item(out, " ", name + '=' + how);
  }
  return out;
}

void describe_estimate(CsvRows& csv, const Evaluation& evaluation) {
  static const Estimate none;
  const bool has = evaluation.estimate.has_value();
  const Estimate& e = has ? *evaluation.estimate : none;
  const auto known = [has](auto value) { return has ? std::optional(value) : std::nullopt; };
  const std::string_view reason =
      evaluation.reason.empty() ? status_name(evaluation.status) : evaluation.reason;
  const TimesFrom origin = times_from(e);
  std::optional<double> run_low, run_high, bytes_per_s, flops_per_s;
  if (const auto& run = e.run_interval) {
    run_low = run->ns.low;
    run_high = run->ns.high;
    bytes_per_s = run->state.bytes_per_s;
    flops_per_s = run->state.flops_per_s;
  }
  csv("provenance", has ? provenance_name(e.provenance) : "");
  csv("series", report::series_text(origin));
  csv("quarantined", origin.quarantined);
  csv("quarantined_example", origin.example);
  csv("latency_ns", known(e.step_ns));
  csv("latency_ns_reason", has ? "" : reason);
  csv("low_ns", known(e.low_ns));
  csv("high_ns", known(e.high_ns));
  csv("run_low_ns", run_low);
  csv("run_high_ns", run_high);
  csv("run_interval_bytes_per_s", bytes_per_s);
  csv("run_interval_flops_per_s", flops_per_s);
  csv("lower_bound_ns", known(e.lower_bound_ns));
  csv("tokens_per_s", known(e.tokens_per_s));
  csv("memory_bytes", known(e.memory_bytes_total));
  csv("memory_bytes_per_rank", known(e.memory_bytes_per_rank));
  csv("matmul_flops", known(e.matmul_flops));
  csv("mfu", e.mfu);
  csv("mfu_reason", !has ? reason : e.mfu ? std::string_view() : e.mfu_reason);
  csv("mfu_datasheet", e.mfu_datasheet);
  csv("bottleneck", e.bottleneck);
}

void describe_evaluation(CsvRows& csv, const EvaluationRow& r) {
  const Evaluation& e = *r.evaluation;
  std::string_view front_class;
  std::optional<double> front_probability, prediction_error, composition_error;
  if (e.standing) {
    front_class = front_class_name(e.standing->front_class);
    front_probability = e.standing->probability;
  }
  if (r.validation != nullptr) {
    prediction_error = r.validation->prediction_error();
    composition_error = r.validation->composition_error();
  }
  const bool has_run = r.validation != nullptr && r.validation->has_time();
  describe_configuration(csv, e.configuration);
  csv("strategy", e.estimate ? strategy_text(*e.estimate) : "");
  csv("on_front", r.point != nullptr);
  csv("front_class", front_class);
  csv("front_probability", front_probability);
  csv("status", status_name(e.status));
  csv("reason", e.reason);
  describe_estimate(csv, e);
  csv("measured_ns", e.measured_ns);
  csv("measured_ns_reason", e.measured_ns ? "" : run_reason(r));
  csv("prediction_error", prediction_error);
  csv("composition_error", composition_error);
  csv("composition_error_reason", has_run ? r.validation->composition_reason : run_reason(r));
}

void describe_kernel(CsvRows& csv, const KernelPoint& k) {
  csv("op", k.op);
  csv("problem", k.problem);
  csv("dtype", k.dtype);
  csv("place", k.place);
  csv("mode", k.mode);
  csv("implementation", k.implementation);
  csv("isa", k.isa);
  csv("provenance", k.duration_ns ? "measured" : "");
  csv("status", status_name(k.status));
  csv("reason", k.reason);
  csv("clean_share", k.clean_share);
  csv("rounds", k.rounds);
  csv("duration_ns", k.duration_ns);
  csv("duration_ns_reason", k.duration_ns ? "" : k.reason.empty() ? "no latency" : k.reason);
  csv("ci_low_ns", k.low_ns);
  csv("ci_high_ns", k.high_ns);
  csv("flops", k.matmul_flops);
  csv("bytes", k.bytes);
  csv("lower_bound_ns", k.lower_bound_ns);
  csv("mfu", k.mfu);
  csv("path_fraction", k.path_fraction);
  csv("mfu_datasheet", k.mfu_datasheet);
  csv("mfu_reason", k.mfu ? "" : k.mfu_reason);
  csv("roofline_fraction", k.roofline_fraction);
  csv("algbw_bytes_per_s", k.algbw_bytes_per_s);
  csv("busbw_bytes_per_s", k.busbw_bytes_per_s);
  csv("constant_bytes", k.constant_bytes);
  csv("workspace_bytes", k.workspace_bytes);
  fields(csv, k.one_time);
  csv("bandwidth_share", k.bandwidth_share);
  csv("bandwidth_share_reason", k.bandwidth_share ? "" : k.bandwidth_reason);
  csv("key", k.key);
}

}  // namespace

std::string report_csv(const RunReport& report) {
  std::vector<EvaluationRow> rows;
  for (const auto i : indices(report.evaluations)) {
    const auto* it = find_or_null(report.front, i, &FrontPoint::evaluation);
    const auto run = std::ranges::find(
        report.validations, report.evaluations[i].configuration.key(), &Validation::deployment_key);
    rows.push_back({&report.evaluations[i], it, run == report.validations.end() ? nullptr : &*run});
  }
  static const Evaluation none;
  return report::csv_of(rows, describe_evaluation, {.evaluation = &none});
}

std::string kernels_csv(const RunReport& report) {
  return report::csv_of(report.kernels, describe_kernel);
}

}  // namespace halmark
