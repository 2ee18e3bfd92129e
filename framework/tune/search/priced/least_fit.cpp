#include "tune/search/priced/least_fit.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/lists.hpp"
#include "report/text/layout_text.hpp"

namespace halmark::tune {
namespace {

constexpr int devices_max = 1024;

// Of one load in each precision of which nothing that was tried fits, in the order of the sweep.
std::vector<Configuration> least_loads(const ServedReport& report) {
  std::vector<Configuration> out;
  std::set<std::string> fitting;
  for (const Evaluation& e : report.tried) {
    if (!e.configuration.served || e.configuration.served->mode != ServingMode::aggregated)
      continue;
    if (e.served) fitting.insert(e.configuration.precision.name);
    auto* like = find_or_null(out, e.configuration.precision, &Configuration::precision);
    if (!like) {
      out.push_back(e.configuration);
      continue;
    }
    ServedLoad& load = *like->served;
    load.concurrency = std::min(load.concurrency, e.configuration.served->concurrency);
    load.token_budget = std::min(load.token_budget, e.configuration.served->token_budget);
  }
  std::erase_if(out, [&](const Configuration& c) { return fitting.contains(c.precision.name); });
  return out;
}

std::vector<Parallel> layouts(int devices) {
  return {{.tp = devices},
          {.tp = devices, .ep = devices},
          {.dp = devices, .ep = devices},
          {.pp = devices}};
}

// With the layout that holds it.
std::optional<Configuration> least_of(ServedEvaluator& evaluator, const Configuration& load) {
  for (int devices = 1; devices <= devices_max; devices *= 2) {
    for (const Parallel& parallel : layouts(devices)) {
      Configuration c = load;
      c.parallel = parallel;
      c.served->concurrency =
          std::max<std::int64_t>(c.served->concurrency, parallel.dp * parallel.pp);
      if (evaluator.evaluate({&c, 1}).front().served) return c;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string least_that_fits(const TunePlan& plan, ServedEvaluator& evaluator,
                            const ServedReport& report) {
  const std::vector<std::int64_t>& shards = plan.sweep().shards;
  const std::int64_t tried = report.fits_nothing() || shards.empty() ? 0 : std::ranges::max(shards);
  std::vector<Configuration> found;
  for (const Configuration& load : least_loads(report)) {
    const auto c = least_of(evaluator, load);
    if (c && c->devices() > tried) found.push_back(*c);
  }
  std::ranges::stable_sort(found, {}, &Configuration::devices);
  std::string out;
  for (const Configuration& c : found) {
    out += (out.empty() ? "" : ", ") + c.precision.name + (out.empty() ? " fits" : "") + " from " +
           (c.devices() == 1 ? "1 device"
                             : std::to_string(c.devices()) + " devices (" +
                                   report::layout_text(c.parallel, "") + ')');
  }
  return out;
}

}  // namespace halmark::tune
