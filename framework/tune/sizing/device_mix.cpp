#include "tune/sizing/device_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/spec/coverage.hpp"
#include "plan/device/device_file.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/stated_price.hpp"

namespace halmark::tune {
namespace {

constexpr std::int64_t concurrency_max = 1024;
constexpr std::array<std::int64_t, 3> token_budgets = {512, 2048, 8192};

// The figures of one device type for one model; keeps what prices it.
class Pricing {
 public:
  Pricing(const MixChoice& choice, const ModelSpec& spec, const Device& device,
          const Folders& devices)
      : spec_(spec),
        latencies_(priced_latencies({.sources = choice.latency,
                                     .where = "--latency",
                                     .device = device.id,
                                     .device_where = "--devices"},
                                    device, devices, std::nullopt)),
        precision_(precision_of(choice.dtype, precision_facts(spec, computes_bf16(device)))) {
    target_.backend = device.id;
    target_.datasheet = device;
    target_.memory_bytes = static_cast<std::int64_t>(static_cast<double>(device.memory_bytes) *
                                                     choice.memory_fraction);
  }

  // The largest rate over concurrencies and token budgets; the reason of the first load where none
  // keeps the levels.
  UnitLoad most(const RequestShape& request, std::int64_t tp,
                const std::vector<ServiceLevel>& levels) const {
    ServedEvaluator evaluator(spec_, target_, latencies_.chain, request, 0,
                              {.usd_per_device_hour = target_.datasheet->usd_per_hour,
                               .transfer_bytes_per_s = latencies_.transfer_bytes_per_s});
    std::vector<Configuration> asked;
    for (std::int64_t concurrency = 1; concurrency <= concurrency_max; concurrency *= 2) {
      for (const std::int64_t budget : token_budgets) {
        Configuration& c = asked.emplace_back();
        c.model = spec_.id;
        c.precision = precision_;
        c.parallel.tp = static_cast<int>(tp);
        c.served =
            ServedLoad{.request = request, .concurrency = concurrency, .token_budget = budget};
      }
    }
    UnitLoad out;
    for (const Evaluation& e : evaluator.evaluate(asked)) take(e, levels, out);
    return out;
  }

  const std::vector<std::string>& sources() const { return latencies_.sources; }

 private:
  static void take(const Evaluation& e, const std::vector<ServiceLevel>& levels, UnitLoad& out) {
    const bool wants_reason = out.requests_per_s <= 0 && out.reason.empty();
    if (!e.served) {
      if (wants_reason) out.reason = e.refusal + ": " + e.reason;
      return;
    }
    if (const auto missed = violations(e, levels); !missed.empty()) {
      if (wants_reason) out.reason = missed.front().text();
      return;
    }
    const ServingFigures& f = e.served->figures;
    if (f.requests_per_s <= out.requests_per_s) return;
    out = {.requests_per_s = f.requests_per_s,
           .reason = {},
           .concurrency = e.configuration.served->concurrency,
           .token_budget = e.configuration.served->token_budget,
           .ttft_ns = f.ttft_ns,
           .tpot_ns = f.tpot_ns};
  }

  const ModelSpec& spec_;
  PricedLatencies latencies_;
  Precision precision_;
  Target target_;
};

std::vector<Device> priced_devices(const MixChoice& choice, const Folders& folders) {
  std::vector<Device> out;
  for (const std::string& id : choice.devices) {
    Device device = known_device(id, folders);
    if (std::ranges::find(out, device.id, &Device::id) != out.end()) {
      throw refused("'" + device.id + "' is named twice", "--devices");
    }
    if (device.memory_bytes <= 0) throw refused(device.id + " states no memory", "--devices");
    out.push_back(std::move(device));
  }
  std::vector<std::string> ids;
  for (const Device& device : out) ids.push_back(device.id);
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
  for (std::size_t b = 0; b < mix.load.buckets.size(); ++b) {
    out.rates.push_back(mix.load.buckets[b].requests_per_s);
    auto& capacity = out.capacity.emplace_back();
    for (std::size_t u = 0; u < mix.units.size(); ++u) {
      const bool counts = only.empty() || mix.units[u].device.id == only;
      capacity.push_back(counts ? mix.loads[b][u].requests_per_s : 0);
    }
  }
  return out;
}

void require_served(const DeviceMix& mix) {
  for (std::size_t b = 0; b < mix.loads.size(); ++b) {
    if (std::ranges::any_of(mix.loads[b], [](const UnitLoad& l) { return l.requests_per_s > 0; })) {
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
    throw refused("name one load", {},
                  "--load FILE.toml, or --input-tokens N --output-tokens N --rate R");
  }
  if (!file.empty()) return read_load(file);
  constexpr std::int64_t tokens_max = 1 << 22;
  const auto& [input, output] = bucket.request;
  if (!(bucket.requests_per_s > 0 && bucket.requests_per_s <= 1e9) || input < 1 || output < 1 ||
      input > tokens_max || output > tokens_max) {
    throw refused("no load has these numbers", {},
                  "--rate above 0, --input-tokens and --output-tokens of at least 1");
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
    const Pricing pricing(choice, spec, device, devices);
    out.devices.push_back(device.id);
    for (const std::string& line : pricing.sources()) out.basis.push_back(line);
    for (const std::int64_t tp : choice.tp) {
      out.units.push_back({device, tp, *device.usd_per_hour * static_cast<double>(tp)});
      for (std::size_t b = 0; b < out.load.buckets.size(); ++b) {
        out.loads[b].push_back(pricing.most(out.load.buckets[b].request, tp, out.load.levels));
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
