#include "tune/sizing/unit_load.hpp"

#include <array>

#include "core/numeric/cast.hpp"
#include "report/choice/pick.hpp"
#include "report/times_from.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {
namespace {

constexpr std::int64_t concurrency_max = 1024;
constexpr std::array<std::int64_t, 3> token_budgets = {512, 2048, 8192};

// Why a load does not count; "" where it does.
std::string refusal_of(const Evaluation& e, std::span<const ServiceLevel> levels,
                       Sureness sureness) {
  if (!e.served) return e.refusal + ": " + e.reason;
  if (const auto missed = violations(e, levels); !missed.empty()) return missed.front().text();
  const bool is_likely = sureness == Sureness::expected ||
                         service_level_probability(*e.served, levels) >= sure_to_keep_levels;
  return is_likely ? "" : "kept with less than 90 % probability";
}

}  // namespace

UnitPricing::UnitPricing(const UnitChoice& choice, const ModelSpec& spec, const Device& device,
                         const Folders& devices)
    : spec_(spec),
      latencies_(priced_latencies({.sources = choice.latency,
                                   .where = "--latency",
                                   .device = device.id,
                                   .device_where = choice.device_where},
                                  device, devices, std::nullopt)),
      terms_(engine_terms(latencies_, &spec)),
      precision_(precision_of(choice.dtype, served_facts(spec, device, latencies_.engine))) {
  target_.backend = device.id;
  target_.datasheet = device;
  target_.memory_bytes =
      static_cast<std::int64_t>(as_double(device.memory_bytes) * choice.memory_fraction);
}

std::vector<Evaluation> UnitPricing::loads(const RequestShape& request, std::int64_t tp) const {
  ServedCosts costs{.usd_per_device_hour = target_.datasheet->usd_per_hour,
                    .transfer_bytes_per_s = latencies_.transfer_bytes_per_s};
  if (terms_) costs.engine = engine_around(latencies_, *terms_);
  ServedEvaluator evaluator(spec_, target_, latencies_.chain, request, 0, costs);
  std::vector<Configuration> asked;
  for (std::int64_t power = 1; power <= concurrency_max; power *= 2) {
    for (const std::int64_t concurrency : {power, power * 3 / 2}) {
      if ((power == 1 && concurrency != power) || concurrency > concurrency_max) continue;
      for (const std::int64_t budget : token_budgets) {
        Configuration& c = asked.emplace_back();
        c.model = spec_.id;
        c.precision = precision_;
        c.parallel.tp = static_cast<int>(tp);
        c.served =
            ServedLoad{.request = request, .concurrency = concurrency, .token_budget = budget};
      }
    }
  }
  return evaluator.evaluate(asked);
}

UnitLoad UnitPricing::most(std::span<const Evaluation> loads, std::span<const ServiceLevel> levels,
                           Most most, Sureness sureness) {
  UnitLoad out;
  double best = 0;
  for (const Evaluation& e : loads) {
    std::string why = refusal_of(e, levels, sureness);
    if (!why.empty()) {
      if (!out.serves() && out.reason.empty()) out.reason = std::move(why);
      continue;
    }
    const ServedLoad& load = *e.configuration.served;
    const ServingFigures& f = sureness == Sureness::sure ? e.served->slow : e.served->figures;
    const double rank = most == Most::requests ? f.requests_per_s : as_double(load.concurrency);
    if (rank < best || (rank == best && f.requests_per_s <= out.requests_per_s)) continue;
    best = rank;
    out = {.requests_per_s = f.requests_per_s,
           .reason = {},
           .concurrency = load.concurrency,
           .token_budget = load.token_budget,
           .estimate = *e.served};
  }
  return out;
}

std::vector<std::string> UnitPricing::basis() const {
  std::vector<std::string> out = report::table_lines(latencies_.table_use());
  out.insert(out.end(), latencies_.sources.begin(), latencies_.sources.end());
  if (terms_) out.push_back("engine: " + serving::source_text(*terms_));
  return out;
}

}  // namespace halmark::tune
