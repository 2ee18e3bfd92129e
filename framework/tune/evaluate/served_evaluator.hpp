// Served loads: steps priced by the sources, put together into what requests experience.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "latency/chain.hpp"
#include "model/serving/serving_pricer.hpp"
#include "report/times_from.hpp"
#include "tune/evaluate/evaluator.hpp"
#include "tune/plan/target.hpp"
#include "tune/sources/served_engine.hpp"

namespace halmark::tune {

// Facts of the devices beyond their file.
struct ServedCosts {
  std::optional<double> usd_per_device_hour;
  std::optional<double> transfer_bytes_per_s;  // of one device's part of a KV cache to another one
  FabricRate fabric_bytes_per_s = {};          // the same over a fabric, see ServingFacts
  std::optional<ServingEngine> engine = {};    // that the kernels were measured in
  ClosedLoop events = {};                      // of its requests
};

// Of times and the terms around them.
ServedCosts served_costs(const PricedLatencies& latencies,
                         const std::optional<serving::FittedTerms>& terms);

// One thread. All arguments must outlive it.
class ServedEvaluator : public Evaluator {
 public:
  ServedEvaluator(const ModelSpec& spec, const Target& target, const LatencyChain& latencies,
                  const RequestShape& request, std::int64_t routing_skew, const ServedCosts& costs);

  std::vector<Evaluation> evaluate(std::span<const Configuration> configurations) override;
  std::vector<TrialTime> times() const override { return times_; }
  // By the events of its requests, where costs.events are there; else by the formula, as evaluate.
  Evaluation by_events(const Configuration& configuration);
  // From now on evaluate does so.
  void simulate_all() { simulates_all_ = true; }

  // Where the times of a prompt step and a decode step of a configuration are from: shares of both
  // together by provenance, of each by table, and the operator with the largest share of a decode
  // step.
  struct Origin {
    std::map<Provenance, double> shares;
    TimesFrom ttft, tpot;
    std::string bottleneck;
  };
  Origin origin(const Configuration& configuration) const;

 private:
  const ModelSpec& spec_;
  const LatencyChain& latencies_;
  StepPricer steps_;
  ServingPricer pricer_, events_;
  bool simulates_all_ = false;
  std::vector<TrialTime> times_;
};

}  // namespace halmark::tune
