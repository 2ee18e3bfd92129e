#include "tune/sizing/plan_size.hpp"

#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sizing/device_floor_view.hpp"
#include "tune/sizing/job_view.hpp"
#include "tune/sizing/served_size.hpp"

namespace halmark::tune {
namespace {

bool is_forecast(const Job& job) { return !job.tokens && !job.states_mfu(); }

void check(const PlanSizeQuestion& q) {
  if (q.model.empty()) throw refused("no model is named", {}, "name an id or a config.json");
  for (const std::int64_t tp : q.tp) {
    if (tp >= 1 && tp <= 1024) continue;
    throw refused(std::to_string(tp) + " devices are no unit", "--tp", "1 to 1024");
  }
  if (q.requires_device && q.tp.size() > 1) {
    throw refused("the least device is of one number of devices", "--tp", "name one");
  }
  if (q.requires_device) return;
  if (q.device.empty()) {
    throw refused("no device is named", {}, "--device ID; halmark devices --known lists them");
  }
  require_answerable(q.job);
  if (is_forecast(q.job)) return;
  for (const auto& [name, is_given] : {std::pair{"--slo", !q.slo.empty()},
                                       {"--tp", !q.tp.empty()},
                                       {"--latency", !q.latency.empty()}}) {
    if (!is_given) continue;
    throw refused(std::string(name) + " is of a served load that is forecast", {},
                  "a training run and a stated MFU know no latency");
  }
}

report::View floor_view(const PlanSizeQuestion& q, const ModelSpec& spec,
                        const std::optional<Device>& device, const Precision& precision) {
  FloorQuestion floor = q.floor;
  if (!q.tp.empty()) floor.tp = q.tp.front();
  floor.request = {.input_tokens = q.job.input_tokens, .output_tokens = q.job.output_tokens};
  floor.levels = parse_service_levels(q.slo, "--slo");
  return device_floor_view(device_floor(spec, precision, floor), device);
}

ReplicaChoice choice_of(const PlanSizeQuestion& q) {
  ReplicaChoice out;
  out.unit.dtype = q.dtype;
  out.unit.latency = sources_or_default(q.latency, false);
  out.tp = q.tp;
  out.levels = parse_service_levels(q.slo, "--slo");
  return out;
}

}  // namespace

report::View plan_size_view(const PlanSizeQuestion& q, const Folders& models,
                            const Folders& devices) {
  check(q);
  const ModelSpec spec = load_model(q.model, models);
  std::optional<Device> device;
  if (!q.device.empty()) device = known_device(q.device, devices);
  const Precision precision =
      precision_of(q.dtype, device ? precision_facts(spec, *device) : precision_facts(spec, true));
  if (q.requires_device) return floor_view(q, spec, device, precision);
  std::optional<Replica> replica;
  if (is_forecast(q.job)) {
    const ReplicaChoice choice = choice_of(q);
    replica = replica_for(q.job, spec, *device, choice, devices);
  }
  const Replica* of = replica ? &*replica : nullptr;
  return job_view(spec, *device, q.job, size_job(spec, precision, *device, q.job, of), of);
}

}  // namespace halmark::tune
