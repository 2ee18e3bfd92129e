// halmark model: utilisation of a measured step time.
#include <fmt/format.h>

#include "cli/model_page.hpp"

namespace halmark::cli {
namespace {

// Every operator's FLOPs at the peak of its own precision.
struct Denominator {
  std::optional<double> ideal_ns;  // of the matmul FLOPs on all devices
  std::string reason;
};

Denominator denominator(const ModelPage& page) {
  if (!page.device) return {std::nullopt, "no device named (--device)"};
  double ns = 0;
  for (const Operator& op : page.graph.operators) {
    if (op.matmul_flops <= 0) continue;
    const auto peak = shard_peak(*page.device, op.dtype, page.share);
    if (!peak) {
      return {std::nullopt,
              "no peak for " + std::string(dtype_name(op.dtype)) + " on " + page.device->id};
    }
    ns += op.matmul_flops / *peak * 1e9;
  }
  return {ns / page.graph.deployment.parallel.devices(), {}};
}

Json mfu_json(const ModelPage& page, double measured_ms) {
  const Denominator d = denominator(page);
  const int devices = page.graph.deployment.parallel.devices();
  Json out = {{"measured_ms", measured_ms},  {"peak_source", page.options.peak},
              {"peak_flops_per_s", nullptr}, {"devices", devices},
              {"model_pct", nullptr},        {"executed_pct", nullptr},
              {"hfu_pct", nullptr},          {"roofline_pct", nullptr}};
  if (!d.ideal_ns) {
    out["model_pct_reason"] = d.reason;
    return out;
  }
  const GraphTotals& totals = page.graph.totals;
  const double measured_ns = measured_ms * 1e6;
  const double peak = totals.matmul_flops / devices / *d.ideal_ns * 1e9;
  out["peak_flops_per_s"] = peak;
  out["model_pct"] = 100 * *d.ideal_ns / measured_ns;
  out["executed_pct"] = 100 * totals.matmul_flops_per_rank / peak * 1e9 / measured_ns;
  out["hfu_pct"] = out["model_pct"];
  return out;
}

}  // namespace

ModelSection mfu_section(const ModelPage& page) {
  if (!page.options.measured_ms) return {.data = {{"mfu", nullptr}}};
  const Json mfu = mfu_json(page, *page.options.measured_ms);
  if (mfu["model_pct"].is_null()) {
    return {.data = {{"mfu", mfu}},
            .text = "MFU unknown: " + mfu["model_pct_reason"].get<std::string>() + '\n'};
  }
  return {.data = {{"mfu", mfu}},
          .text = fmt::format("MFU {:.4f} % at {} ms on {} x {} ({} peak; per_matrix, causal, head "
                              "in, embedding out, no recompute)\n",
                              mfu["model_pct"].get<double>(), *page.options.measured_ms,
                              page.graph.deployment.parallel.devices(), page.device->id,
                              page.options.peak)};
}

}  // namespace halmark::cli
