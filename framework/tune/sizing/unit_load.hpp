// What one replica of a device keeps up of requests of one size, priced as in served sweeps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/objective.hpp"
#include "core/device.hpp"
#include "model/spec/model_spec.hpp"
#include "simulate/serving/fitted_terms.hpp"
#include "tune/evaluate/served_evaluator.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

struct UnitChoice {
  std::string dtype = "checkpoint";
  std::vector<std::string> latency = {"roofline"};
  const char* device_where = "--devices";
  // Of a device's memory that weights, cache and activations may take.
  double memory_fraction = 0.9;
};

// The load of most requests/s, or of most requests at a time, that keeps all levels.
struct UnitLoad {
  double requests_per_s = 0;  // 0 = it cannot serve the requests
  std::string reason;         // why not
  std::int64_t concurrency = 0, token_budget = 0;
  ServedEstimate estimate;
  bool serves() const { return requests_per_s > 0; }
};

// How sure levels have to be kept: as expected, or with 90 % probability, at the low end of the
// rate.
enum class Sureness { expected, sure };
enum class Most { requests, users };

// What one unit may serve at a time. A formula orders them; what is chosen has the figures of its
// events, where an engine's are known.
class UnitLoads {
 public:
  UnitLoads(std::unique_ptr<ServedEvaluator> evaluator, std::vector<Evaluation> loads);
  // The best of them; the reason of the first one where none keeps the levels.
  UnitLoad most(std::span<const ServiceLevel> levels, Most most, Sureness sureness);

 private:
  std::unique_ptr<ServedEvaluator> evaluator_;
  std::vector<Evaluation> loads_;
  std::vector<bool> is_settled_;
};

// The figures of one device type for one model; keeps what prices it.
class UnitPricing {
 public:
  // All arguments must outlive it. Throws Error (exit 2) for sources or a precision that the device
  // does not have.
  UnitPricing(const UnitChoice& choice, const ModelSpec& spec, const Device& device,
              const Folders& devices);

  // Of `tp` devices, over concurrencies and token budgets; without `saturated` those whose wait for
  // the first token has an end. It must outlive them.
  UnitLoads loads(const RequestShape& request, std::int64_t tp, bool saturated = true) const;

  std::vector<std::string> basis() const;

 private:
  const ModelSpec& spec_;
  PricedLatencies latencies_;
  std::optional<serving::FittedTerms> terms_;
  Precision precision_;
  Target target_;
};

}  // namespace halmark::tune
