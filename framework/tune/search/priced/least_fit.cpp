#include "tune/search/priced/least_fit.hpp"

#include <algorithm>
#include <vector>

namespace halmark::tune {
namespace {

constexpr int devices_max = 1024;

// Of one load in each precision that was tried.
std::vector<Configuration> least_loads(const ServedReport& report) {
  std::vector<Configuration> out;
  for (const Evaluation& e : report.tried) {
    if (!e.configuration.served || e.configuration.served->mode != ServingMode::aggregated)
      continue;
    const auto like = std::ranges::find(out, e.configuration.precision, &Configuration::precision);
    if (like == out.end()) {
      out.push_back(e.configuration);
      continue;
    }
    ServedLoad& load = *like->served;
    load.concurrency = std::min(load.concurrency, e.configuration.served->concurrency);
    load.token_budget = std::min(load.token_budget, e.configuration.served->token_budget);
  }
  return out;
}

int reach(const TunePlan& plan) {
  if (plan.target().fabric || plan.sweep().serving_devices.network_bytes_per_s) return devices_max;
  std::int64_t out = 1;
  for (const Link& link : plan.target().datasheet->links) {
    out = std::max(out, link.domain_devices.value_or(1));
  }
  return static_cast<int>(std::min<std::int64_t>(out, devices_max));
}

std::vector<Parallel> layouts(int devices) {
  return {{.tp = devices},
          {.tp = devices, .ep = devices},
          {.dp = devices, .ep = devices},
          {.pp = devices}};
}

}  // namespace

std::string least_that_fits(const TunePlan& plan, ServedEvaluator& evaluator,
                            const ServedReport& report) {
  const std::vector<Configuration> loads = least_loads(report);
  for (int devices = 1; devices <= reach(plan); devices *= 2) {
    for (Configuration c : loads) {
      for (const Parallel& parallel : layouts(devices)) {
        c.parallel = parallel;
        c.served->concurrency =
            std::max<std::int64_t>(c.served->concurrency, parallel.dp * parallel.pp);
        if (!evaluator.evaluate({&c, 1}).front().served) continue;
        return std::to_string(devices) + (devices == 1 ? " device: " : " devices: ") +
               served_label(c);
      }
    }
  }
  return {};
}

}  // namespace halmark::tune
