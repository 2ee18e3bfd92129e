#include "pages/sizing/job_page.hpp"

#include <fmt/format.h>

#include "core/json/json.hpp"
#include "model/spec/coverage.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {
namespace {

constexpr double seconds_per_day = 86400;

Json plan_json(const SizedJob& sized) {
  const SizePlan& plan = sized.plan;
  return {{"devices", plan.devices},
          {"exact_devices", plan.exact_devices},
          {"seconds", plan.seconds},
          {"device_hours", plan.device_hours},
          {"energy_kwh", optional_number(plan.energy_kwh)},
          {"cost", optional_number(plan.cost)},
          {"carbon_kg", optional_number(plan.carbon_kg)},
          {"devices_for_memory", sized.devices_for_memory}};
}

// The job with the FLOPs that it takes.
report::View job_view(const std::string& model, const Job& job, const SizedJob& sized) {
  if (job.tokens) {
    return {
        .data = {{"kind", "training"},
                 {"tokens", *job.tokens},
                 {"sequence", job.sequence},
                 {"flops_per_token", sized.flops_per_token},
                 {"flops", sized.flops}},
        .text = fmt::format("training {} on {:.4g} tokens in sequences of {}: {:.4g} FLOPs "
                            "({:.4g} a token, causal, 3 x forward)",
                            model, *job.tokens, job.sequence, sized.flops, sized.flops_per_token)};
  }
  return {.data = {{"kind", "serving"},
                   {"requests_per_s", *job.requests_per_s},
                   {"input_tokens", job.input_tokens},
                   {"output_tokens", job.output_tokens},
                   {"prefill_flops", sized.request.prefill},
                   {"decode_flops", sized.request.decode},
                   {"flops_per_s", sized.flops_per_s}},
          .text = fmt::format("serving {} requests/s of {} + {} tokens with {}: {:.4g} FLOP/s "
                              "(prefill {:.4g}, decode {:.4g} FLOPs a request)",
                              *job.requests_per_s, job.input_tokens, job.output_tokens, model,
                              sized.flops_per_s, sized.request.prefill, sized.request.decode)};
}

report::View assumptions_view(const std::vector<Assumption>& assumptions) {
  Json list = Json::array();
  report::TextTable table({"assumption", "value", "unit", "from"}, {false, true, false, false});
  for (const Assumption& a : assumptions) {
    list.push_back({{"name", a.name},
                    {"value", optional_number(a.value)},
                    {"unit", a.unit},
                    {"source", a.source}});
    table.add({a.name, a.value ? fmt::format("{:.6g}", *a.value) : "-", a.unit, a.source});
  }
  return {.data = std::move(list), .text = table.text()};
}

}  // namespace

report::View job_page(const ModelSpec& spec, const Device& device, const Job& asked,
                      const SizedJob& sized) {
  const report::View job = job_view(spec.id, asked, sized);
  const report::View assumptions = assumptions_view(sized.assumptions);
  const std::vector<std::string> notes = model_notes(spec);
  std::string note_lines;
  for (const std::string& line : model_lines(spec)) note_lines += line + '\n';
  const SizePlan& plan = sized.plan;
  const auto figure = [](std::optional<double> value, std::string_view unit) {
    return value ? fmt::format("{:.6g} {}", *value, unit) : std::string("unknown");
  };
  return {.data = {{"model", spec.id},
                   {"device", device.id},
                   {"job", job.data},
                   {"plan", plan_json(sized)},
                   {"assumptions", assumptions.data},
                   {"model_notes", notes}},
          .text = fmt::format(
              "{}\n{} x {} for {:.4g} days: {:.6g} device-hours (by FLOPs {:.4g}, by memory {})\n"
              "energy {}, cost {}, carbon {}\n\n{}{}",
              job.text, plan.devices, device.id, plan.seconds / seconds_per_day, plan.device_hours,
              plan.exact_devices, sized.devices_for_memory, figure(plan.energy_kwh, "kWh"),
              figure(plan.cost, "money"), figure(plan.carbon_kg, "kg CO2e"), assumptions.text,
              note_lines)};
}

}  // namespace halmark::pages
