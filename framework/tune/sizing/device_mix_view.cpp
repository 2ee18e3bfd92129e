#include "tune/sizing/device_mix_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::tune {
namespace {

using report::significant_text;

std::string unit_text(const MixUnit& unit) {
  return unit.tp == 1 ? unit.device.id : fmt::format("{} tp{}", unit.device.id, unit.tp);
}

double utilisation(const DeviceMix& mix, std::size_t unit) {
  return mix.fleet.load[unit] / as_double(mix.fleet.units[unit]);
}

double share(const DeviceMix& mix, std::size_t bucket, std::size_t unit) {
  return as_double(mix.fleet.slices[bucket][unit]) / as_double(mix.slices);
}

Json units_json(const DeviceMix& mix) {
  Json out = Json::array();
  for (std::size_t u = 0; u < mix.units.size(); ++u) {
    const MixUnit& unit = mix.units[u];
    const std::int64_t count = mix.fleet.units[u];
    out.push_back({{"device", unit.device.id},
                   {"tp", unit.tp},
                   {"usd_per_hour", unit.usd_per_hour},
                   {"count", count},
                   {"devices", count * unit.tp},
                   {"utilisation", count > 0 ? Json(utilisation(mix, u)) : Json(nullptr)}});
  }
  return out;
}

Json buckets_json(const DeviceMix& mix) {
  Json out = Json::array();
  for (std::size_t b = 0; b < mix.load.buckets.size(); ++b) {
    const LoadBucket& bucket = mix.load.buckets[b];
    Json served = Json::array();
    for (std::size_t u = 0; u < mix.units.size(); ++u) {
      const UnitLoad& load = mix.loads[b][u];
      const bool can = load.serves();
      served.push_back(
          {{"unit", u},
           {"share", share(mix, b, u)},
           {"requests_per_s_of_a_unit", can ? Json(load.requests_per_s) : Json(nullptr)},
           {"reason", load.reason},
           {"concurrency", can ? Json(load.concurrency) : Json(nullptr)},
           {"token_budget", can ? Json(load.token_budget) : Json(nullptr)},
           {"ttft_ns", can ? Json(load.estimate.figures.ttft_ns) : Json(nullptr)},
           {"tpot_ns", can ? Json(load.estimate.figures.tpot_ns) : Json(nullptr)}});
    }
    out.push_back({{"input_tokens", bucket.request.input_tokens},
                   {"output_tokens", bucket.request.output_tokens},
                   {"requests_per_s", bucket.requests_per_s},
                   {"served_by", std::move(served)}});
  }
  return out;
}

Json singles_json(const DeviceMix& mix) {
  Json out = Json::array();
  for (const auto d : indices(mix.devices)) {
    const auto& single = mix.single_usd_per_hour[d];
    out.push_back(
        {{"device", mix.devices[d]},
         {"usd_per_hour", optional_number(single)},
         {"savings", single ? Json(1 - mix.fleet.usd_per_hour / *single) : Json(nullptr)}});
  }
  return out;
}

Json mix_json(const DeviceMix& mix) {
  Json levels = json_list(mix.load.levels, [](const ServiceLevel& level) -> Json {
    return {{"objective", objective_name(level.objective)}, {"limit", level.limit}};
  });
  return {{"model", mix.model},
          {"levels", std::move(levels)},
          {"usd_per_hour", mix.fleet.usd_per_hour},
          {"slices", mix.slices},
          {"units", units_json(mix)},
          {"buckets", buckets_json(mix)},
          {"single_types", singles_json(mix)},
          {"solver", mix.fleet.solver},
          {"basis", mix.basis}};
}

std::string fleet_text(const DeviceMix& mix, int width) {
  report::TextTable out({"unit", ">count", ">USD/h", ">utilisation"});
  for (std::size_t u = 0; u < mix.units.size(); ++u) {
    if (mix.fleet.units[u] == 0) continue;
    const double usd = mix.units[u].usd_per_hour * as_double(mix.fleet.units[u]);
    out.add({unit_text(mix.units[u]), std::to_string(mix.fleet.units[u]), significant_text(usd),
             report::percent_text(utilisation(mix, u))});
  }
  return out.text(width);
}

std::string assignment_text(const DeviceMix& mix, int width) {
  report::TextTable out({"requests", ">per s", "unit", ">share", ">a unit keeps up", ">TTFT",
                         ">TPOT", ">concurrency"});
  for (std::size_t b = 0; b < mix.load.buckets.size(); ++b) {
    for (std::size_t u = 0; u < mix.units.size(); ++u) {
      if (mix.fleet.slices[b][u] == 0) continue;
      const UnitLoad& load = mix.loads[b][u];
      out.add({mix.load.buckets[b].text(), significant_text(mix.load.buckets[b].requests_per_s),
               unit_text(mix.units[u]), report::percent_text(share(mix, b, u)),
               significant_text(load.requests_per_s) + "/s",
               report::duration_text(load.estimate.figures.ttft_ns),
               report::duration_text(load.estimate.figures.tpot_ns),
               std::to_string(load.concurrency)});
    }
  }
  return out.text(width);
}

std::string singles_text(const DeviceMix& mix) {
  std::string out;
  for (const auto d : indices(mix.devices)) {
    const auto& single = mix.single_usd_per_hour[d];
    out += mix.devices[d] + " alone: " +
           (single ? fmt::format("{} USD/h, the mix saves {}", significant_text(*single),
                                 report::percent_text(1 - mix.fleet.usd_per_hour / *single))
                   : std::string("cannot serve every kind of request within the levels")) +
           '\n';
  }
  return out;
}

}  // namespace

report::View device_mix_view(const DeviceMix& mix, int width) {
  std::string text = fmt::format("{}: the cheapest mix costs {} USD/h\n", printable(mix.model),
                                 significant_text(mix.fleet.usd_per_hour)) +
                     fleet_text(mix, width) + '\n' + assignment_text(mix, width) + '\n' +
                     singles_text(mix) + '\n';
  for (const std::string& line : mix.basis) {
    text += report::wrapped("times: " + printable(line), width);
  }
  text += report::wrapped(
      fmt::format("integer program by {}, exact for {} slices of each kind of request; what a unit "
                  "does of several kinds shares its time",
                  mix.fleet.solver, mix.slices),
      width);
  return {.data = mix_json(mix), .text = std::move(text)};
}

}  // namespace halmark::tune
