#include "simulate/schedule/step_power.hpp"

#include <algorithm>
#include <set>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "roofline/estimate.hpp"

namespace halmark::schedule {
namespace {

double peak_of(const Device& device, Dtype dtype) {
  const auto peak = device.peak(dtype, 0);
  return peak ? peak->flops_per_s : 0;
}

double bandwidth_of(const Device& device) {
  const auto memory = device.bandwidth("memory", 0);
  return memory ? memory->bytes_per_s : 0;
}

// Whose peak shares are of: that of the products that do most of the step's work.
Dtype main_dtype(const PricedStep& step) {
  const auto most = std::ranges::max_element(step.graph.operators, {}, &Operator::matmul_flops);
  return peak_dtype_of(step, *most);
}

// Actors that compute: switches and hosts execute no kernel.
std::set<std::uint32_t> devices_of(const simulate::Timeline& timeline) {
  std::set<std::uint32_t> out;
  for (const simulate::TimelineEvent& e : timeline.events) {
    if (e.kind == events::EventKind::kernel) out.insert(e.actor);
  }
  return out;
}

}  // namespace

std::optional<double> PowerOptions::cap_of_device_w(std::size_t devices) const {
  if (!budget_w) return cap_w;
  const double part = *budget_w / as_double(std::max<std::size_t>(devices, 1));
  return cap_w ? std::min(*cap_w, part) : part;
}

std::optional<power::PowerModel> power_model_of(const PricedStep& step) {
  if (!step.device) return std::nullopt;
  return power::power_model_of(*step.device, main_dtype(step));
}

std::optional<Latency> under_caps(std::optional<Latency> latency, const Operator& op,
                                  const PricedStep& step, const PowerOptions& options) {
  const auto devices = as_size(step.graph.configuration.devices());
  const std::optional<double> cap_w = options.cap_of_device_w(devices);
  if (!latency || !cap_w || op.kind == OperatorKind::collective) return latency;
  const auto model = power_model_of(step);
  if (!model) {
    throw refused("a cap of power, and the power of the device is unknown",
                  step.device ? step.device->id : std::string(),
                  "name a device file with power_w, or leave the cap out");
  }
  const Work& work = op.rank_work;
  const power::Activity activity = power::activity_of(
      work.flops(), work.bytes(), latency->ns * 1e-9,
      peak_of(*step.device, peak_dtype_of(step, op)), bandwidth_of(*step.device));
  const power::Capped capped = power::capped(*model, activity, *cap_w);
  if (!capped.is_kept) {
    throw refused("a cap of " + number_text(*cap_w, 4) + " W is no more than the " +
                      number_text(capped.power_w, 4) + " W that the device draws while it idles",
                  step.device->id, "raise the cap, or take fewer devices");
  }
  latency->ns *= capped.stretch;
  latency->low_ns *= capped.stretch;
  latency->high_ns *= capped.stretch;
  return latency;
}

std::optional<StepPower> step_power(const PricedStep& step, const StepSimulation& simulation,
                                    const PowerOptions& options) {
  const auto model = power_model_of(step);
  if (!model) return std::nullopt;
  const std::set<std::uint32_t> devices = devices_of(simulation.timeline);
  StepPower out{.model = *model, .cap_w = options.cap_of_device_w(devices.size())};
  power::PoweredDevice device = {*model, peak_of(*step.device, main_dtype(step)),
                                 bandwidth_of(*step.device)};
  // Its kernels were slowed until none of them draws more.
  if (out.cap_w) device.model.limit_w = std::min(model->limit_w, *out.cap_w);
  out.use = power::power_use(simulation.timeline, [&](std::uint32_t actor) {
    return devices.contains(actor) ? &device : nullptr;
  });
  if (options.budget_w) {
    out.budget =
        power::budget_use(out.use, *options.budget_w, model->limit_w * as_double(devices.size()));
  }
  out.tokens = simulation.work.tokens;
  out.carbon = power::carbon_of(out.use.energy_j(), out.use.seconds * as_double(devices.size()),
                                options.carbon);
  return out;
}

Json power_json(const std::optional<StepPower>& power) {
  if (!power) return {{"power", nullptr}};
  Json out = {{"origin", power->model.origin},
              {"kind", "modelled"},
              {"devices", power->use.devices},
              {"mean_w", power->use.mean_w},
              {"peak_w", power->use.peak_w},
              {"idle_j", power->use.idle_j},
              {"busy_j", power->use.busy_j},
              {"energy_j_per_step", power->use.energy_j()},
              {"energy_j_per_token", power->j_per_token()},
              {"cap_w", optional_number(power->cap_w)},
              {"operational_carbon_g", power->carbon.operational_g},
              {"embodied_carbon_g", power->carbon.embodied_g},
              {"budget", nullptr}};
  if (power->budget) {
    out["budget"] = {{"budget_w", power->budget->budget_w},
                     {"oversubscription", power->budget->oversubscription},
                     {"time_share_above", power->budget->time_share_above}};
  }
  return {{"power", std::move(out)}};
}

}  // namespace halmark::schedule
