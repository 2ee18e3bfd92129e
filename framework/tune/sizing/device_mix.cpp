#include "tune/sizing/device_mix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/spec/coverage.hpp"
#include "plan/device/device_file.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/stated_price.hpp"

namespace halmark::tune {
namespace {

std::vector<Device> priced_devices(const MixChoice& choice, const Folders& folders) {
  std::vector<Device> out;
  for (const std::string& id : choice.devices) {
    Device device = known_device(id, folders);
    if (contains(out, device.id, &Device::id)) {
      throw refused("'" + device.id + "' is named twice", "--devices");
    }
    if (device.memory_bytes <= 0) throw refused(device.id + " states no memory", "--devices");
    out.push_back(std::move(device));
  }
  auto ids = mapped(out, &Device::id);
  for (const std::string& text : choice.prices) {
    const StatedPrice price = parse_price(text);
    const auto of = std::ranges::find_if(
        out, [&](const Device& device) { return device.is_called(price.owner); });
    if (of == out.end()) {
      throw refused("no device is called '" + price.owner + "'", "--price",
                    suggestion(price.owner, ids));
    }
    of->usd_per_hour = price.usd_per_hour;
  }
  for (const Device& device : out) {
    if (!device.usd_per_hour) {
      throw refused("no price of " + device.id + " is known", {},
                    "--price " + device.id + "=USD an hour, or usd_per_hour in its device file");
    }
  }
  return out;
}

void check_levels(const RequestLoad& load, const std::vector<Device>& devices) {
  for (const ServiceLevel& level : load.levels) {
    if (row_of(level.objective).of_requests == nullptr) {
      throw refused(
          "'" + std::string(objective_name(level.objective)) + "' is no figure of requests",
          level.where);
    }
    for (const Device& device : devices) {
      if (level.objective != Objective::energy || device.power_w) continue;
      throw refused("device " + device.id + " states no power for energy", level.where);
    }
    for (const LoadBucket& bucket : load.buckets) {
      if (level.objective != Objective::interactivity || bucket.request.output_tokens > 1) continue;
      throw refused("interactivity is the rate of tokens after the first, and none follows",
                    level.where, "ask for output_tokens of 2 or more");
    }
  }
}

FleetQuestion question_of(const DeviceMix& mix, const std::string& only) {
  FleetQuestion out{.usd_per_hour = {}, .rates = {}, .capacity = {}, .slices = mix.slices};
  for (const MixUnit& unit : mix.units) out.usd_per_hour.push_back(unit.usd_per_hour);
  for (const auto b : indices(mix.load.buckets)) {
    out.rates.push_back(mix.load.buckets[b].requests_per_s);
    auto& capacity = out.capacity.emplace_back();
    for (const auto u : indices(mix.units)) {
      const bool counts = only.empty() || mix.units[u].device.id == only;
      capacity.push_back(counts ? mix.loads[b][u].requests_per_s : 0);
    }
  }
  return out;
}

void require_served(const DeviceMix& mix) {
  for (const auto b : indices(mix.loads)) {
    if (std::ranges::any_of(mix.loads[b], [](const UnitLoad& l) { return l.serves(); })) {
      continue;
    }
    const MixUnit& unit = mix.units.back();
    throw refused(
        "requests of " + mix.load.buckets[b].text() + " are served by none of the devices", {},
        fmt::format("{} x {}: {}", unit.tp, unit.device.id, mix.loads[b].back().reason));
  }
}

}  // namespace

RequestLoad asked_load(const std::string& file, const LoadBucket& bucket) {
  const bool has_bucket = bucket.requests_per_s != 0;
  if (file.empty() != has_bucket) {
    throw refused("name one load", {}, "--load FILE.toml, or --rate R with --input and --output");
  }
  if (!file.empty() && bucket.request != usual_request) {
    throw refused("the file of a load has its own requests", "--load",
                  "leave out --input and --output");
  }
  if (!file.empty()) return read_load(file);
  constexpr std::int64_t tokens_max = 1 << 22;
  const auto& [input, output] = bucket.request;
  if (!(bucket.requests_per_s > 0 && bucket.requests_per_s <= 1e9) || input < 1 || output < 1 ||
      input > tokens_max || output > tokens_max) {
    throw refused("no load has these numbers", {},
                  "--rate above 0, --input and --output of at least 1");
  }
  return {.buckets = {bucket}, .levels = {}};
}

DeviceMix mix_devices(const MixChoice& choice, RequestLoad load, const Folders& models,
                      const Folders& devices) {
  for (const std::int64_t tp : choice.tp) {
    if (tp < 1 || tp > 1024) {
      throw refused(std::to_string(tp) + " devices are no unit", "--tp", "1 to 1024");
    }
  }
  const ModelSpec spec = load_model(choice.model, models);
  const std::vector<Device> known = priced_devices(choice, devices);
  check_levels(load, known);
  DeviceMix out{.model = spec.id, .load = std::move(load), .slices = choice.slices};
  out.loads.resize(out.load.buckets.size());
  for (const Device& device : known) {
    const UnitPricing pricing(choice.unit, spec, device, devices);
    out.devices.push_back(device.id);
    for (const std::string& line : pricing.basis()) out.basis.push_back(line);
    for (const std::int64_t tp : choice.tp) {
      out.units.push_back({device, tp, *device.usd_per_hour * as_double(tp)});
      for (const auto b : indices(out.load.buckets)) {
        out.loads[b].push_back(pricing.loads(out.load.buckets[b].request, tp)
                                   .most(out.load.levels, Most::requests, Sureness::expected));
      }
    }
  }
  require_served(out);
  out.fleet = *cheapest_fleet(question_of(out, {}));
  for (const std::string& device : out.devices) {
    const auto single = cheapest_fleet(question_of(out, device));
    out.single_usd_per_hour.push_back(single ? std::optional(single->usd_per_hour) : std::nullopt);
  }
  std::ranges::move(model_lines(spec), std::back_inserter(out.basis));
  return out;
}

}  // namespace halmark::tune
