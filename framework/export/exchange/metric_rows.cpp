#include "export/exchange/metric_rows.hpp"

#include "core/text/units.hpp"
#include "core/version.hpp"

namespace halmark::exports {
namespace {

MetricRow row_of(const KernelPoint& k) {
  MetricRow out{.name = k.key,
                .op = k.op,
                .device = k.place,
                .status = std::string(status_name(k.status)),
                .provenance = "measured",
                .processes = k.rounds};
  const double ns = *k.duration_ns;
  out.metrics.push_back({.name = "duration_ns", .value = ns, .low = k.low_ns, .high = k.high_ns});
  const auto rate = [&](const char* name, double amount) {
    if (amount > 0) {
      out.metrics.push_back(
          {.name = name, .value = amount / ns * ns_per_s, .is_bigger_better = true});
    }
  };
  rate("flops_per_s", k.matmul_flops);
  rate("bytes_per_s", k.bytes);
  if (k.mfu)
    out.metrics.push_back({.name = "mfu_ratio", .value = *k.mfu, .is_bigger_better = true});
  return out;
}

}  // namespace

std::string metric_name(const ObjectiveRow& row) {
  const std::string name(row.name);
  if (row.unit == "ns" || row.unit == "bytes") return name + '_' + std::string(row.unit);
  if (row.objective == Objective::mfu) return "mfu_ratio";
  if (row.objective == Objective::throughput) return "tokens_per_s";
  if (row.objective == Objective::energy) return "energy_j_per_token";
  if (row.objective == Objective::cost) return "usd_per_million_tokens";
  if (row.objective == Objective::interactivity) return "interactivity_tokens_per_s";
  return name;
}

MetricTable kernel_rows(const RunReport& report, std::span<const Measurement> rows) {
  MetricTable out{.title = report.title,
                  .origin = report.command,
                  .started_utc = report.started_utc,
                  .fingerprint = report.fingerprint,
                  .tool = report.tool,
                  .is_of_kernels = true,
                  .timeline = {measuring_timeline(rows), kernel_timeline(report)}};
  for (const KernelPoint& k : report.kernels) {
    if (has_latency(k.status) && k.duration_ns && *k.duration_ns > 0) {
      out.rows.push_back(row_of(k));
    } else {
      ++out.left[std::string(status_name(k.status))];
    }
  }
  return out;
}

MetricTable front_rows(const SearchedFront& front) {
  MetricTable out{.title = front.title,
                  .origin = front.origin,
                  .started_utc = front.started_utc,
                  .tool = "halmark " + std::string(tool_version),
                  .timeline = front_timeline(front)};
  for (const Evaluation& e : front.points) {
    MetricRow row{
        .name = e.configuration.key(),
        .op = e.configuration.served ? "requests"
                                     : std::string(phase_name(e.configuration.workload.phase)),
        .device = front.device,
        .status = std::string(status_name(e.status)),
        .provenance = e.estimate ? std::string(provenance_name(e.estimate->provenance)) : "priced"};
    for (const ObjectiveRow& objective : objective_rows()) {
      const auto value = objective_value(e, objective.objective);
      if (!value) continue;
      Metric metric{.name = metric_name(objective),
                    .value = *value,
                    .is_bigger_better = objective.is_maximised};
      const bool is_step = e.estimate && objective.objective == Objective::latency;
      if (is_step) metric.low = e.estimate->low_ns, metric.high = e.estimate->high_ns;
      row.metrics.push_back(metric);
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace halmark::exports
