// halmark model: utilisation of a measured step time, and in which convention it is stated.
#include <fmt/format.h>

#include "cli/model/model_page.hpp"
#include "model/utilisation/utilisation.hpp"

namespace halmark::cli {
namespace {

Json percent(std::optional<double> fraction) {
  return optional_number(fraction ? std::optional(100 * *fraction) : std::nullopt);
}

Json mfu_json(const ModelPage& page, const StepUtilisation& u) {
  Json out = {{"measured_ms", *page.options.measured_ms},
              {"peak_source", page.options.peak},
              {"peak_flops_per_s", optional_number(u.peak_flops_per_s)},
              {"devices", page.graph.configuration.devices()},
              {"model_pct", percent(u.model)},
              {"executed_pct", percent(u.executed)},
              {"hfu_pct", percent(u.hfu)},
              {"roofline_pct", percent(u.roofline)},
              {"convention", page.convention.line()}};
  for (const char* figure : {"peak_flops_per_s", "model_pct", "executed_pct", "hfu_pct"}) {
    if (out[figure].is_null()) out[std::string(figure) + "_reason"] = u.reason;
  }
  if (!u.roofline) out["roofline_pct_reason"] = u.roofline_reason;
  if (u.roofline && *u.roofline > 1) out["status"] = "quarantined: faster_than_roofline";
  return out;
}

std::string figures(const ModelPage& page, const StepUtilisation& u) {
  std::string out = fmt::format(
      "MFU {:.4f} % (executed {:.4f} %, HFU {:.4f} %, roofline {})", 100 * *u.model,
      100 * *u.executed, 100 * *u.hfu,
      u.roofline ? fmt::format("{:.4f} %", 100 * *u.roofline) : "unknown: " + u.roofline_reason);
  out += fmt::format(" at {} ms on {} x {}, {} peak {:.4g} FLOP/s\n", *page.options.measured_ms,
                     page.graph.configuration.devices(), page.device->id, page.options.peak,
                     *u.peak_flops_per_s);
  if (u.roofline && *u.roofline > 1) {
    out += "quarantined: faster_than_roofline, the step cannot have taken so little\n";
  }
  return out;
}

}  // namespace

ModelSection mfu_section(const ModelPage& page) {
  const std::string convention = "convention: " + page.convention.line() + '\n';
  if (!page.options.measured_ms) return {.data = {{"mfu", nullptr}}, .text = convention};
  const StepUtilisation u = utilisation(page.graph, {.ns = *page.options.measured_ms * 1e6,
                                                     .device = page.device,
                                                     .share = page.share,
                                                     .convention = page.convention,
                                                     .training = page.training});
  return {.data = {{"mfu", mfu_json(page, u)}},
          .text = (u.model ? figures(page, u) : "MFU unknown: " + u.reason + '\n') + convention};
}

}  // namespace halmark::cli
