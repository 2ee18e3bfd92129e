#include "tune/requests/model_on_devices.hpp"

#include <algorithm>

#include "core/text/error.hpp"
#include "model/step/step_room.hpp"
#include "plan/device/device_file.hpp"
#include "tune/evaluate/step/step_expected.hpp"
#include "tune/sources/stated_price.hpp"

namespace halmark::tune {
namespace {

// That hold the step on every device.
std::int64_t fewest_devices(const DevicesRequest& request, const StepFolders& folders) {
  std::int64_t out = 1;
  for (const std::string& name : request.names) {
    StepRequest alone = request.step;
    alone.device = name;
    const auto least = least_layout(priced_step(alone, folders));
    if (!least) throw refused("no number of devices up to 1024 holds the model", name);
    out = std::max<std::int64_t>(out, Configuration{.parallel = *least}.devices());
  }
  return out;
}

void set_prices(const DevicesRequest& request, const StepFolders& folders,
                std::vector<Device>& devices) {
  for (const std::string& text : request.prices) {
    const StatedPrice price = parse_price(text);
    const std::string id = known_device(price.owner, folders.devices).id;
    const auto owner = std::ranges::find(devices, id, &Device::id);
    if (owner == devices.end()) {
      throw refused("no side is " + printable(price.owner), "--price", "name one of the devices");
    }
    owner->usd_per_hour = price.usd_per_hour;
  }
}

ModelOnDevice side_of(StepRequest step, const Device& device, const StepFolders& folders) {
  PricedStep priced = priced_step(step, folders);
  if (const auto fit = fit_of(priced); fit && fit->short_by_bytes() > 0) {
    throw refused("does not fit on " + std::to_string(*step.devices) + " x " + device.id,
                  "--devices", "more of them, or a narrower --dtype");
  }
  expect_times(priced, {step.latency, step.fabric}, folders.devices, folders.fabrics);
  ModelOnDevice out{.step = std::move(priced), .answer = {}};
  out.answer = answer_of(out.step);
  if (!out.answer.rate) throw refused("no time: " + out.answer.reason, device.id);
  const double device_s_per_token = static_cast<double>(*step.devices) / out.answer.rate->per_s;
  if (device.power_w) out.joule_per_token = *device.power_w * device_s_per_token;
  if (device.usd_per_hour) {
    out.usd_per_million_tokens = *device.usd_per_hour / 3600 * 1e6 * device_s_per_token;
  }
  return out;
}

}  // namespace

ModelOnDevices model_on_devices(const DevicesRequest& request, const StepFolders& folders) {
  if (request.names.size() < 2) throw refused("a comparison is of two devices and more");
  std::vector<Device> devices;
  for (const std::string& name : request.names) {
    devices.push_back(known_device(name, folders.devices));
  }
  set_prices(request, folders, devices);
  ModelOnDevices out;
  StepRequest step = request.step;
  step.takes_fastest_layout = true;
  step.devices = request.count ? *request.count : fewest_devices(request, folders);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    step.device = request.names[i];
    out.sides.push_back(side_of(step, devices[i], folders));
    out.by_bounds = out.by_bounds || !out.sides.back().answer.expected_rate;
  }
  const auto rate = [&](std::size_t side) {
    const StepAnswer& a = out.sides[side].answer;
    return out.by_bounds ? TokenRate{*a.best_rate, *a.best_rate, *a.best_rate} : *a.expected_rate;
  };
  std::vector<std::size_t> order(out.sides.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return rate(i).per_s; });
  out.first = order[0];
  out.second = order[1];
  const TokenRate a = rate(out.first), b = rate(out.second);
  out.ratio = {a.per_s / b.per_s, a.low / b.high, a.high / b.low};
  return out;
}

}  // namespace halmark::tune
