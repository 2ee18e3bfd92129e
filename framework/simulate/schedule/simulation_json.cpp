#include "simulate/schedule/simulation_json.hpp"

#include <chrono>

#include "core/json/json.hpp"
#include "core/text/digest.hpp"

namespace halmark::schedule {
namespace {

double us(events::Picoseconds time) { return static_cast<double>(time) / 1e6; }

Json quantile_us(const StepRuns& runs, double q) {
  return runs.ns.empty() ? Json(nullptr) : Json(runs.quantile_ns(q) / 1e3);
}

}  // namespace

Json throughput_json(const StepSimulation& s) {
  Json out = {{"flops", s.work.flops},
              {"tokens", s.work.tokens},
              {"step_us", s.step_ns() / 1e3},
              {"flops_per_s", s.work.flops_per_s},
              {"tokens_per_s", s.work.tokens_per_s},
              {"mfu", optional_number(s.work.mfu)},
              {"hfu", optional_number(s.work.hfu)}};
  if (!s.work.mfu) out["mfu_reason"] = s.work.reason;
  return {{"throughput", std::move(out)}};
}

Json latency_json(const StepSimulation& s) {
  Json phases = json_list(s.one_time, [](const simulate::OneTimePhase& phase) -> Json {
    return {{"phase", events::kind_name(phase.kind)},
            {"us", phase.seconds * 1e6},
            {"source", phase.source}};
  });
  return {{"latency",
           {{"step_us", s.step_ns() / 1e3},
            {"p50_us", quantile_us(s.runs, 0.5)},
            {"p90_us", quantile_us(s.runs, 0.9)},
            {"p99_us", quantile_us(s.runs, 0.99)},
            {"n", s.runs.ns.size()},
            {"has_intervals", s.runs.has_intervals},
            {"provenance", provenance_name(s.provenance)}}},
          {"one_time", std::move(phases)}};
}

Json schedule_json(const StepSimulation& s) {
  return {{"schedule",
           {{"order", order_name(s.order)},
            {"stages", s.pipeline.stages},
            {"virtual_stages", s.pipeline.chunks},
            {"micro_batches", s.pipeline.micro_batches},
            {"devices", s.devices},
            {"events", s.timeline.events.size()},
            {"kernels", s.kernels},
            {"collectives", s.carriage == Carriage::messages ? "messages" : "closed_form"}}}};
}

Json links_json(const StepSimulation& s) {
  Json out = Json::array();
  const double step_s = s.step_ns() / 1e9;
  for (const simulate::TimelineResource& link : s.timeline.resources) {
    if (!link.is_link || link.bytes <= 0) continue;
    out.push_back({{"link", link.name},
                   {"bytes", link.bytes},
                   {"bytes_per_s", link.bytes_per_s},
                   {"busy_us", us(link.busy_ps)},
                   {"utilisation", link.bytes / link.bytes_per_s / step_s}});
  }
  return {{"links", s.has_links ? std::move(out) : Json(nullptr)}};
}

Json timeline_json(const StepSimulation& s) {
  Json out = json_list(fold_by_label(s.timeline), [](const simulate::LabelFold& fold) -> Json {
    return {{"label", fold.label},
            {"kind", events::kind_name(fold.kind)},
            {"events", fold.events},
            {"busy_us", us(fold.busy_ps)},
            {"critical_us", us(fold.critical_ps)},
            {"first_us", us(fold.first_ps)},
            {"last_us", us(fold.last_ps)},
            {"flops", fold.flops},
            {"bytes", fold.bytes}};
  });
  return {{"timeline", std::move(out)}};
}

Json critical_json(const StepSimulation& s) {
  const simulate::CriticalParts path = critical_parts(s.timeline);
  const simulate::DeviceParts parts = device_parts(s.timeline);
  return {{"critical_path",
           {{"makespan_us", us(s.timeline.makespan_ps)},
            {"compute_us", us(path.compute_ps)},
            {"communication_us", us(path.communication_ps)},
            {"other_us", us(path.other_ps)},
            {"gap_us", us(path.gap_ps)}}},
          {"devices",
           {{"devices", parts.devices},
            {"compute", parts.compute},
            {"communication", parts.communication},
            {"hidden_communication", parts.hidden_communication},
            {"bubble", parts.bubble}}}};
}

simulate::TelemetryOrigin telemetry_origin(const PricedStep& step) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.attributes = {{"halmark.model", step.graph.spec.id},
                         {"halmark.configuration", step.graph.configuration.key()},
                         {"halmark.configuration.hash", sha256_of(step.graph.configuration.key())},
                         {"halmark.device", step.device ? step.device->id : std::string()}},
          .begin_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

}  // namespace halmark::schedule
