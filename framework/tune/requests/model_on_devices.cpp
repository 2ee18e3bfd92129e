#include "tune/requests/model_on_devices.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "plan/device/device_file.hpp"
#include "report/searched_front.hpp"
#include "tune/requests/served_request.hpp"
#include "tune/sources/stated_price.hpp"

namespace halmark::tune {
namespace {

constexpr std::int64_t devices_max = 64;

void set_prices(const DevicesRequest& request, const StepFolders& folders,
                std::vector<Device>& devices) {
  for (const std::string& text : request.prices) {
    const StatedPrice price = parse_price(text);
    const std::string id = known_device(price.owner, folders.devices).id;
    auto* owner = find_or_null(devices, id, &Device::id);
    if (!owner) {
      throw refused("no side is " + printable(price.owner), "--price", "name one of the devices");
    }
    owner->usd_per_hour = price.usd_per_hour;
  }
}

ServedReport searched_on(const DevicesRequest& request, const std::string& name,
                         const StepFolders& folders, bool by_bounds) {
  AskedSweep asked = request.asked;
  asked.device = name;
  const Device device = asked_device(asked, folders.models, folders.devices);
  Sweep sweep = parse_sweep(asked_sweep_text(asked, device), "the command line");
  if (by_bounds) sweep.latency = {"roofline"};
  return served_report_of(sweep, folders);
}

// Nothing usual fits where 4 bits were taken instead.
bool holds(const DevicesRequest& request, const std::string& name, const StepFolders& folders) {
  AskedSweep asked = request.asked;
  asked.device = name;
  if (request.asked.dtypes.empty()) {
    asked_device(asked, folders.models, folders.devices);
    return asked.narrow.empty();
  }
  return !searched_on(request, name, folders, true).fits_nothing();
}

std::int64_t fewest_devices(DevicesRequest request, const StepFolders& folders) {
  std::int64_t& count = request.asked.devices = 1;
  for (const std::string& name : request.names) {
    while (!holds(request, name, folders)) {
      count *= 2;
      if (count <= devices_max) continue;
      throw refused(
          "no number of devices up to " + std::to_string(devices_max) + " holds the model", name);
    }
  }
  return count;
}

ModelOnDevice side_of(const DevicesRequest& request, const std::string& name, const Device& device,
                      const StepFolders& folders, bool by_bounds) {
  const ServedReport report = searched_on(request, name, folders, by_bounds);
  const std::string on = std::to_string(request.asked.devices) + " x " + device.id;
  if (report.fits_nothing()) {
    throw refused("does not fit on " + on, "--devices", "more of them, or a narrower --dtype");
  }
  ModelOnDevice out{.device = device, .front = searched_front(report, {}), .pick = {}};
  out.front.title = on;  // what the refusal of a front without a point names
  out.pick = pick_point(out.front, "");
  if (device.usd_per_hour) {
    out.usd_per_million_tokens =
        *device.usd_per_hour / 3600 * 1e6 / out.estimate().figures.tokens_per_s_per_device;
  }
  return out;
}

TokenRate rate_of(const ModelOnDevice& side) {
  const ServedEstimate& e = side.estimate();
  const double rate = e.figures.tokens_per_s_per_device;
  if (!e.has_interval) return {rate, rate, rate};
  return {rate, e.slow.tokens_per_s_per_device, e.fast.tokens_per_s_per_device};
}

void rank(ModelOnDevices& out) {
  auto order = mapped(indices(out.sides), std::identity());
  std::ranges::stable_sort(order, std::greater{},
                           [&](std::size_t i) { return rate_of(out.sides[i]).per_s; });
  out.first = order[0];
  out.second = order[1];
  const TokenRate a = rate_of(out.sides[out.first]), b = rate_of(out.sides[out.second]);
  out.ratio = {a.per_s / b.per_s, a.low / b.high, a.high / b.low};
}

}  // namespace

ModelOnDevices model_on_devices(const DevicesRequest& asked, const StepFolders& folders) {
  if (asked.names.size() < 2) throw refused("a comparison is of two devices and more");
  DevicesRequest request = asked;
  std::vector<Device> devices;
  for (const std::string& name : request.names) {
    devices.push_back(known_device(name, folders.devices));
  }
  set_prices(request, folders, devices);
  ModelOnDevices out;
  const bool takes_fewest = request.asked.devices == 0;
  request.asked.devices = std::max<std::int64_t>(request.asked.devices, 1);
  out.assumed = take_usual(request.asked);
  if (takes_fewest) request.asked.devices = fewest_devices(request, folders);
  out.request = {.input_tokens = request.asked.input_tokens,
                 .output_tokens = request.asked.output_tokens};
  const auto search = [&] {
    out.sides.clear();
    for (const auto i : indices(devices)) {
      out.sides.push_back(side_of(request, request.names[i], devices[i], folders, out.by_bounds));
    }
  };
  search();
  out.by_bounds = std::ranges::any_of(
      out.sides, [](const ModelOnDevice& side) { return !side.estimate().has_interval; });
  if (out.by_bounds) search();
  rank(out);
  return out;
}

}  // namespace halmark::tune
