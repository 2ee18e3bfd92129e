#include "tune/sizing/job_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "model/spec/coverage.hpp"
#include "report/served_table.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::tune {
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

std::string load_text(const Job& job, const SizedJob& sized) {
  const std::string of = fmt::format(" of {} + {} tokens", job.input_tokens, job.output_tokens);
  if (!job.users) return fmt::format("{:.6g} requests/s{}", sized.requests_per_s, of);
  return fmt::format("{} users at a time ({:.4g} requests/s{})", *job.users, sized.requests_per_s,
                     of);
}

// The job with the FLOPs that it takes.
report::View asked_view(const std::string& model, const Job& job, const SizedJob& sized) {
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
                   {"requests_per_s", sized.requests_per_s},
                   {"users", job.users ? Json(*job.users) : Json(nullptr)},
                   {"input_tokens", job.input_tokens},
                   {"output_tokens", job.output_tokens},
                   {"prefill_flops", sized.request.prefill},
                   {"decode_flops", sized.request.decode},
                   {"flops_per_s", sized.flops_per_s}},
          .text = fmt::format("serving {} with {}: {:.4g} FLOP/s "
                              "(prefill {:.4g}, decode {:.4g} FLOPs a request)",
                              load_text(job, sized), model, sized.flops_per_s,
                              sized.request.prefill, sized.request.decode)};
}

double utilisation(const Replica& r, const SizedJob& sized) {
  return sized.requests_per_s / (r.requests_per_s * as_double(sized.plan.devices / r.devices));
}

Json replica_json(const Replica& r, const SizedJob& sized) {
  return {{"devices", r.devices},
          {"count", sized.plan.devices / r.devices},
          {"sure_devices", r.sure_devices ? Json(*r.sure_devices) : Json(nullptr)},
          {"utilisation", utilisation(r, sized)},
          {"concurrency", r.concurrency},
          {"token_budget", r.token_budget},
          {"estimate", r.estimate},
          {"levels", r.levels},
          {"basis", r.basis}};
}

// How many of them, and what a user of one sees.
std::string replicas_text(const Device& device, const ModelSpec& spec, const Job& job,
                          const SizedJob& sized, const Replica& r) {
  const std::int64_t count = sized.plan.devices / r.devices;
  const ServedEstimate& e = r.estimate;
  const ServingFigures& f = e.figures;
  const std::string margin =
      r.sure_devices   ? fmt::format("; {} keep it with 90 % probability", *r.sure_devices)
      : e.has_interval ? std::string("; no number keeps it with 90 % probability")
                       : std::string(" at best: bounds, no forecast");
  return fmt::format("{} x {} serve {} with {}: {} {} of tp{}, {} busy{}\n", sized.plan.devices,
                     device.id, load_text(job, sized), spec.id, count,
                     count == 1 ? "replica" : "replicas", r.devices,
                     report::percent_text(utilisation(r, sized)), margin) +
         fmt::format("each: {} requests/s, TTFT {}{} at {} requests at a time{}{}\n",
                     ranged_rate(f.requests_per_s, e.slow.requests_per_s, e.fast.requests_per_s),
                     ranged_time(f.ttft_ns, e.fast.ttft_ns, e.slow.ttft_ns),
                     job.output_tokens > 1
                         ? ", TPOT " + ranged_time(f.tpot_ns, e.fast.tpot_ns, e.slow.tpot_ns)
                         : "",
                     r.concurrency,
                     job.users ? " (all begin at once, and each asks again as it is answered)" : "",
                     r.levels.empty() ? "" : "; " + r.levels);
}

// What an assumed MFU is worth: of the runs that papers report, most lie between 30 and
// 50 %.
std::string margin_text(const SizedJob& sized) {
  auto* mfu = find_or_null(sized.assumptions, "mfu", &Assumption::name);
  if (!mfu || !mfu->value || !mfu->source.starts_with("assumed")) {
    return {};
  }
  const auto devices_at = [&](double other) {
    const double devices = std::ceil(sized.plan.exact_devices * *mfu->value / other);
    return std::max(as_int64(devices), sized.devices_for_memory);
  };
  if (devices_at(0.3) == devices_at(0.5)) return {};  // memory decides
  return fmt::format("; at {:.0f} % MFU, which is assumed: {} at 30 %, {} at 50 %",
                     100 * *mfu->value, devices_at(0.3), devices_at(0.5));
}

report::View assumptions_view(const std::vector<Assumption>& assumptions) {
  Json list = Json::array();
  report::TextTable table({"assumption", ">value", "unit", "from"});
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

report::View job_view(const ModelSpec& spec, const Device& device, const Job& asked,
                      const SizedJob& sized, const Replica* replica) {
  const report::View job = asked_view(spec.id, asked, sized);
  const report::View assumptions = assumptions_view(sized.assumptions);
  std::string notes;
  if (replica != nullptr) {
    for (const std::string& line : replica->basis) notes += "times: " + line + '\n';
  }
  for (const std::string& line : model_lines(spec)) notes += line + '\n';
  const SizePlan& plan = sized.plan;
  const auto figure = [](std::optional<double> value, std::string_view unit) {
    return value ? fmt::format("{:.6g} {}", *value, unit) : std::string("unknown");
  };
  const std::string hours =
      fmt::format("{:.4g} {}: {:.6g} device-hours", plan.seconds / seconds_per_day,
                  plan.seconds == seconds_per_day ? "day" : "days", plan.device_hours);
  const std::string answer =
      replica != nullptr
          ? replicas_text(device, spec, asked, sized, *replica) + hours
          : fmt::format("{} x {} for {} (by FLOPs {:.4g}, by memory {}){}\n{}\n", plan.devices,
                        device.id, hours, plan.exact_devices, sized.devices_for_memory,
                        asked.tokens && asked.devices == 0 ? margin_text(sized) : "", job.text);
  Json data = {{"model", spec.id},
               {"device", device.id},
               {"job", job.data},
               {"plan", plan_json(sized)},
               {"assumptions", assumptions.data},
               {"model_notes", model_notes(spec)}};
  if (replica != nullptr) data["replica"] = replica_json(*replica, sized);
  return {.data = std::move(data),
          .text = fmt::format("{}{}energy {}, cost {}, carbon {}\n\n{}{}", answer,
                              replica != nullptr ? ", " : "", figure(plan.energy_kwh, "kWh"),
                              figure(plan.cost, "USD"), figure(plan.carbon_kg, "kg CO2e"),
                              assumptions.text, notes)};
}

}  // namespace halmark::tune
