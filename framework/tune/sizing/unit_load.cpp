#include "tune/sizing/unit_load.hpp"

#include "core/lists.hpp"
#include "report/choice/pick.hpp"
#include "report/times_from.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {
namespace {

constexpr std::int64_t concurrency_max = 1024;
constexpr std::int64_t token_budgets[] = {512, 2048, 8192};

// Why a load does not count; "" where it does.
std::string refusal_of(const Evaluation& e, std::span<const ServiceLevel> levels,
                       Sureness sureness) {
  if (!e.served) return e.refusal + ": " + e.reason;
  if (const auto missed = violations(e, levels); !missed.empty()) return missed.front().text();
  const bool is_likely = sureness == Sureness::expected ||
                         service_level_probability(*e.served, levels) >= sure_to_keep_levels;
  return is_likely ? "" : "kept with less than 90 % probability";
}

bool is_saturated(const Evaluation& e) { return e.served && e.served->is_saturated; }

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
  target_.memory_bytes = as_int64(as_double(device.memory_bytes) * choice.memory_fraction);
}

UnitLoads UnitPricing::loads(const RequestShape& request, std::int64_t tp, bool saturated) const {
  ServedCosts costs = served_costs(latencies_, terms_);
  costs.usd_per_device_hour = target_.datasheet->usd_per_hour;
  auto evaluator =
      std::make_unique<ServedEvaluator>(spec_, target_, latencies_.chain, request, 0, costs);
  std::vector<Configuration> asked;
  for (std::int64_t power = 1; power <= concurrency_max; power *= 2) {
    for (const std::int64_t concurrency : {power, power * 3 / 2}) {
      if ((power == 1 && concurrency != power) || concurrency > concurrency_max) continue;
      for (const std::int64_t budget : token_budgets) {
        Configuration& c = asked.emplace_back();
        c.model = spec_.id;
        c.precision = precision_;
        c.parallel.tp = as_int(tp);
        c.served =
            ServedLoad{.request = request, .concurrency = concurrency, .token_budget = budget};
      }
    }
  }
  std::vector<Evaluation> loads = evaluator->evaluate(asked);
  if (!saturated) std::erase_if(loads, is_saturated);
  return {std::move(evaluator), std::move(loads)};
}

UnitLoads::UnitLoads(std::unique_ptr<ServedEvaluator> evaluator, std::vector<Evaluation> loads)
    : evaluator_(std::move(evaluator)), loads_(std::move(loads)), is_settled_(loads_.size()) {}

UnitLoad UnitLoads::most(std::span<const ServiceLevel> levels, Most most, Sureness sureness) {
  const auto rates = [&](const Evaluation& e) {
    const ServingFigures& f = sureness == Sureness::sure ? e.served->slow : e.served->figures;
    const double rank =
        most == Most::requests ? f.requests_per_s : as_double(e.configuration.served->concurrency);
    return std::pair(rank, f.requests_per_s);
  };
  while (true) {
    std::string reason;
    std::optional<std::size_t> best;
    for (const auto i : indices(loads_)) {
      std::string why = refusal_of(loads_[i], levels, sureness);
      if (!why.empty()) {
        if (reason.empty()) reason = std::move(why);
      } else if (!best || rates(loads_[i]) > rates(loads_[*best])) {
        best = i;
      }
    }
    if (!best) return {.reason = std::move(reason)};
    Evaluation& e = loads_[*best];
    if (is_settled_[*best]) {
      return {.requests_per_s = rates(e).second,
              .reason = {},
              .concurrency = e.configuration.served->concurrency,
              .token_budget = e.configuration.served->token_budget,
              .estimate = *e.served};
    }
    is_settled_[*best] = true;
    e = evaluator_->by_events(e.configuration);
  }
}

std::vector<std::string> UnitPricing::basis() const {
  std::vector<std::string> out = report::table_lines(latencies_.table_use());
  append_all(out, latencies_.sources);
  if (terms_) out.push_back("engine: " + serving::source_text(*terms_));
  return out;
}

}  // namespace halmark::tune
