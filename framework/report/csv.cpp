#include <algorithm>
#include <cmath>
#include <span>

#include "report/front_view.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/times_from.hpp"

namespace halmark {
namespace {

// One row per column: the name, and the cell already escaped.
template <class Row>
struct CsvColumn {
  const char* name;
  std::string (*cell)(const Row& row);
};

std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? report::exact_text(*value) : std::string();
}

std::string text(std::string_view value) { return report::csv_text(value); }

template <class Row>
std::string csv(std::span<const CsvColumn<Row>> columns, const std::vector<Row>& rows) {
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    out += (c > 0 ? "," : "") + std::string(columns[c].name);
  }
  out += "\r\n";
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) out += ',';
      out += columns[c].cell(row);
    }
    out += "\r\n";
  }
  return out;
}

struct EvaluationRow {
  const Evaluation* evaluation = nullptr;
  const FrontPoint* point = nullptr;
  const Validation* validation = nullptr;  // nullptr: never confronted with a run
};

const Configuration& configuration(const EvaluationRow& r) { return r.evaluation->configuration; }

std::optional<double> of_estimate(const EvaluationRow& r, double Estimate::*field) {
  if (!r.evaluation->estimate) return std::nullopt;
  return (*r.evaluation->estimate).*field;
}

TimesFrom origin(const EvaluationRow& r) {
  return r.evaluation->estimate ? times_from(*r.evaluation->estimate) : TimesFrom{};
}

template <class Field>
std::string of_run_interval(const EvaluationRow& r, Field field) {
  const auto& estimate = r.evaluation->estimate;
  return estimate && estimate->run_interval ? number(field(*estimate->run_interval))
                                            : std::string();
}

std::string bytes_cell(const EvaluationRow& r, std::int64_t Estimate::*field) {
  return r.evaluation->estimate ? std::to_string((*r.evaluation->estimate).*field) : std::string();
}

std::string dtype_cell(const EvaluationRow& r, Dtype Precision::*field) {
  return std::string(dtype_name(configuration(r).precision.*field));
}

std::string no_estimate_reason(const EvaluationRow& r) {
  if (r.evaluation->estimate) return {};
  return text(r.evaluation->reason.empty() ? status_name(r.evaluation->status)
                                           : std::string_view(r.evaluation->reason));
}

std::string mfu_reason(const EvaluationRow& r) {
  if (!r.evaluation->estimate) return no_estimate_reason(r);
  return r.evaluation->estimate->mfu ? std::string() : text(r.evaluation->estimate->mfu_reason);
}

// Why a run has no figure, or none that counts.
std::string run_reason(const EvaluationRow& r) {
  if (r.validation == nullptr) return "never confronted with a run";
  const std::string status(status_name(r.validation->status));
  return text(r.validation->reason.empty() ? status : status + ": " + r.validation->reason);
}

// "q_proj=tensor o_proj=tensor ...": the strategy of every operator in one cell.
std::string strategy_cell(const EvaluationRow& r) {
  std::string out;
  if (!r.evaluation->estimate) return out;
  for (const auto& [name, how] : report::strategies(*r.evaluation->estimate)) {
    out += (out.empty() ? "" : " ") + name + '=' + how;
  }
  return text(out);
}

constexpr CsvColumn<EvaluationRow> evaluation_columns[] = {
    {"model", [](const EvaluationRow& r) { return text(configuration(r).model); }},
    {"phase",
     [](const EvaluationRow& r) {
       return std::string(phase_name(configuration(r).workload.phase));
     }},
    {"batch",
     [](const EvaluationRow& r) { return std::to_string(configuration(r).workload.batch); }},
    {"new_tokens",
     [](const EvaluationRow& r) { return std::to_string(configuration(r).workload.new_tokens); }},
    {"context",
     [](const EvaluationRow& r) { return std::to_string(configuration(r).workload.context); }},
    {"routing_skew_pct",
     [](const EvaluationRow& r) { return std::to_string(configuration(r).workload.routing_skew); }},
    {"dp", [](const EvaluationRow& r) { return std::to_string(configuration(r).parallel.dp); }},
    {"tp", [](const EvaluationRow& r) { return std::to_string(configuration(r).parallel.tp); }},
    {"pp", [](const EvaluationRow& r) { return std::to_string(configuration(r).parallel.pp); }},
    {"ep", [](const EvaluationRow& r) { return std::to_string(configuration(r).parallel.ep); }},
    {"cp", [](const EvaluationRow& r) { return std::to_string(configuration(r).parallel.cp); }},
    {"precision", [](const EvaluationRow& r) { return text(configuration(r).precision.name); }},
    {"qkv_dtype", [](const EvaluationRow& r) { return dtype_cell(r, &Precision::qkv); }},
    {"output_dtype", [](const EvaluationRow& r) { return dtype_cell(r, &Precision::output); }},
    {"ffn_dtype", [](const EvaluationRow& r) { return dtype_cell(r, &Precision::ffn); }},
    {"experts_dtype", [](const EvaluationRow& r) { return dtype_cell(r, &Precision::experts); }},
    {"head_dtype", [](const EvaluationRow& r) { return dtype_cell(r, &Precision::head); }},
    {"attention_dtype",
     [](const EvaluationRow& r) { return dtype_cell(r, &Precision::attention); }},
    {"kv_cache_dtype", [](const EvaluationRow& r) { return dtype_cell(r, &Precision::kv_cache); }},
    {"activation_dtype",
     [](const EvaluationRow& r) { return dtype_cell(r, &Precision::activation); }},
    {"strategy", strategy_cell},
    {"on_front", [](const EvaluationRow& r) { return std::string(r.point ? "1" : "0"); }},
    {"front_class",
     [](const EvaluationRow& r) {
       const auto& standing = r.evaluation->standing;
       return standing ? std::string(front_class_name(standing->front_class)) : std::string();
     }},
    {"front_probability",
     [](const EvaluationRow& r) {
       const auto& standing = r.evaluation->standing;
       return standing ? number(standing->probability) : std::string();
     }},
    {"status",
     [](const EvaluationRow& r) { return std::string(status_name(r.evaluation->status)); }},
    {"reason", [](const EvaluationRow& r) { return text(r.evaluation->reason); }},
    {"provenance",
     [](const EvaluationRow& r) {
       return r.evaluation->estimate
                  ? std::string(provenance_name(r.evaluation->estimate->provenance))
                  : std::string();
     }},
    {"series", [](const EvaluationRow& r) { return text(report::series_text(origin(r))); }},
    {"quarantined", [](const EvaluationRow& r) { return std::to_string(origin(r).quarantined); }},
    {"quarantined_example", [](const EvaluationRow& r) { return text(origin(r).example); }},
    {"latency_ns",
     [](const EvaluationRow& r) { return number(of_estimate(r, &Estimate::step_ns)); }},
    {"latency_ns_reason", no_estimate_reason},
    {"low_ns", [](const EvaluationRow& r) { return number(of_estimate(r, &Estimate::low_ns)); }},
    {"high_ns", [](const EvaluationRow& r) { return number(of_estimate(r, &Estimate::high_ns)); }},
    {"run_low_ns",
     [](const EvaluationRow& r) {
       return of_run_interval(r, [](const auto& i) { return i.ns.low; });
     }},
    {"run_high_ns",
     [](const EvaluationRow& r) {
       return of_run_interval(r, [](const auto& i) { return i.ns.high; });
     }},
    {"run_interval_bytes_per_s",
     [](const EvaluationRow& r) {
       return of_run_interval(r, [](const auto& i) { return i.state.bytes_per_s; });
     }},
    {"run_interval_flops_per_s",
     [](const EvaluationRow& r) {
       return of_run_interval(r, [](const auto& i) { return i.state.flops_per_s; });
     }},
    {"lower_bound_ns",
     [](const EvaluationRow& r) { return number(of_estimate(r, &Estimate::lower_bound_ns)); }},
    {"tokens_per_s",
     [](const EvaluationRow& r) { return number(of_estimate(r, &Estimate::tokens_per_s)); }},
    {"memory_bytes",
     [](const EvaluationRow& r) { return bytes_cell(r, &Estimate::memory_bytes_total); }},
    {"memory_bytes_per_rank",
     [](const EvaluationRow& r) { return bytes_cell(r, &Estimate::memory_bytes_per_rank); }},
    {"matmul_flops",
     [](const EvaluationRow& r) { return number(of_estimate(r, &Estimate::matmul_flops)); }},
    {"mfu",
     [](const EvaluationRow& r) {
       return number(r.evaluation->estimate ? r.evaluation->estimate->mfu : std::nullopt);
     }},
    {"mfu_reason", mfu_reason},
    {"mfu_datasheet",
     [](const EvaluationRow& r) {
       return number(r.evaluation->estimate ? r.evaluation->estimate->mfu_datasheet : std::nullopt);
     }},
    {"bottleneck",
     [](const EvaluationRow& r) {
       return r.evaluation->estimate ? text(r.evaluation->estimate->bottleneck) : std::string();
     }},
    {"measured_ns", [](const EvaluationRow& r) { return number(r.evaluation->measured_ns); }},
    {"measured_ns_reason",
     [](const EvaluationRow& r) {
       return r.evaluation->measured_ns ? std::string() : run_reason(r);
     }},
    {"prediction_error",
     [](const EvaluationRow& r) {
       return number(r.validation ? r.validation->prediction_error() : std::nullopt);
     }},
    {"composition_error",
     [](const EvaluationRow& r) {
       return number(r.validation ? r.validation->composition_error() : std::nullopt);
     }},
    {"composition_error_reason",
     [](const EvaluationRow& r) {
       if (r.validation == nullptr || !r.validation->has_time()) return run_reason(r);
       return text(r.validation->composition_reason);
     }},
};

constexpr CsvColumn<KernelPoint> kernel_columns[] = {
    {"op", [](const KernelPoint& k) { return text(k.op); }},
    {"problem", [](const KernelPoint& k) { return text(k.problem); }},
    {"dtype", [](const KernelPoint& k) { return text(k.dtype); }},
    {"place", [](const KernelPoint& k) { return text(k.place); }},
    {"mode", [](const KernelPoint& k) { return text(k.mode); }},
    {"implementation", [](const KernelPoint& k) { return text(k.implementation); }},
    {"isa", [](const KernelPoint& k) { return text(k.isa); }},
    {"provenance",
     [](const KernelPoint& k) { return std::string(k.duration_ns ? "measured" : ""); }},
    {"status", [](const KernelPoint& k) { return std::string(status_name(k.status)); }},
    {"reason", [](const KernelPoint& k) { return text(k.reason); }},
    {"clean_share", [](const KernelPoint& k) { return number(k.clean_share); }},
    {"rounds", [](const KernelPoint& k) { return std::to_string(k.rounds); }},
    {"duration_ns", [](const KernelPoint& k) { return number(k.duration_ns); }},
    {"duration_ns_reason",
     [](const KernelPoint& k) {
       return k.duration_ns ? std::string() : text(k.reason.empty() ? "no latency" : k.reason);
     }},
    {"ci_low_ns", [](const KernelPoint& k) { return number(k.low_ns); }},
    {"ci_high_ns", [](const KernelPoint& k) { return number(k.high_ns); }},
    {"flops", [](const KernelPoint& k) { return number(k.matmul_flops); }},
    {"bytes", [](const KernelPoint& k) { return number(k.bytes); }},
    {"lower_bound_ns", [](const KernelPoint& k) { return number(k.lower_bound_ns); }},
    {"mfu", [](const KernelPoint& k) { return number(k.mfu); }},
    {"path_fraction", [](const KernelPoint& k) { return number(k.path_fraction); }},
    {"mfu_datasheet", [](const KernelPoint& k) { return number(k.mfu_datasheet); }},
    {"mfu_reason", [](const KernelPoint& k) { return k.mfu ? std::string() : text(k.mfu_reason); }},
    {"roofline_fraction", [](const KernelPoint& k) { return number(k.roofline_fraction); }},
    {"algbw_bytes_per_s", [](const KernelPoint& k) { return number(k.algbw_bytes_per_s); }},
    {"busbw_bytes_per_s", [](const KernelPoint& k) { return number(k.busbw_bytes_per_s); }},
    {"constant_bytes", [](const KernelPoint& k) { return std::to_string(k.constant_bytes); }},
    {"workspace_bytes", [](const KernelPoint& k) { return std::to_string(k.workspace_bytes); }},
    {"create_ns", [](const KernelPoint& k) { return number(k.one_time.create_ns); }},
    {"pack_ns", [](const KernelPoint& k) { return number(k.one_time.pack_ns); }},
    {"first_ns", [](const KernelPoint& k) { return number(k.one_time.first_ns); }},
    {"bandwidth_share", [](const KernelPoint& k) { return number(k.bandwidth_share); }},
    {"bandwidth_share_reason",
     [](const KernelPoint& k) {
       return k.bandwidth_share ? std::string() : text(k.bandwidth_reason);
     }},
    {"key", [](const KernelPoint& k) { return text(k.key); }},
};

}  // namespace

std::string report_csv(const RunReport& report) {
  std::vector<EvaluationRow> rows;
  for (std::size_t i = 0; i < report.evaluations.size(); ++i) {
    const auto it = std::ranges::find(report.front, i, &FrontPoint::evaluation);
    const auto run = std::ranges::find(
        report.validations, report.evaluations[i].configuration.key(), &Validation::deployment_key);
    rows.push_back({&report.evaluations[i], it == report.front.end() ? nullptr : &*it,
                    run == report.validations.end() ? nullptr : &*run});
  }
  return csv<EvaluationRow>(evaluation_columns, rows);
}

std::string kernels_csv(const RunReport& report) {
  return csv<KernelPoint>(kernel_columns, report.kernels);
}

}  // namespace halmark
