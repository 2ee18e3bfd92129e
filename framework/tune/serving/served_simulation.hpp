// A server of a model on known devices, simulated event by event over times that the named sources
// give: the one call that `halmark simulate serving` makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "model/serving/engine_terms.hpp"
#include "simulate/serving/cache_room.hpp"
#include "simulate/serving/summary.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

struct ServingQuestion {
  std::string model, dtype = "checkpoint";
  LatencyChoice latency;     // its device and engine are the server's
  std::int64_t devices = 0;  // 0 = those of the layout; else tp takes what the others leave
  int tp = 1, pp = 1, dp = 1, ep = 1;
  std::string mode = "aggregated";  // or disaggregated, shared
  // Disaggregated: workers of a kind, and the layout of one that prefills; 0 = as those that
  // decode.
  int prefill_workers = 1, decode_workers = 1;
  Parallel prefill = {.dp = 0, .tp = 0, .pp = 0, .ep = 0};
  std::optional<double> prefill_share;  // of a shared device's time; half where none is stated
  std::string trace;                    // file of arrivals; "" = by rate or clients
  // requests: 0 = 200, of clients that begin together as many each as benchmarks of the terms have
  serving::LoadQuestion load = {.shape = {1024, 128}, .requests = 0};
  bool has_rate = false;
  // Of a closed loop: all clients begin together, as benchmarks do; or evenly over a request. By
  // default as the terms of an engine were fitted, together; without terms evenly.
  bool begins_at_once = false, begins_spread = false;
  // blocks: 0 = what fits; token_budget: 0 = as the terms were fitted, else 8192
  serving::EnginePlan engine = {.token_budget = 0};
  double memory_fraction = 0.9;  // of a device
  double link_gb_per_s = 0;      // 0 = that of the device
  std::string cold_start;        // "disk:2.5", "network:12.5": GB/s; "" = warm
  double cold_start_other_s = 0;
  bool migrates = false;
  std::string ttft, tpot;       // levels, "1s"
  bool keeps_timeline = false;  // the record has every event
};

struct ServedSimulation {
  ModelSpec spec;
  Configuration configuration;
  std::string layout;  // of all workers: "prefill 2x dp1 tp4 pp1 ep1 decode 3x dp1 tp8 pp1 ep1"
  serving::ServerPlan plan;
  serving::CacheRoom room;
  serving::Levels levels;
  serving::ServerRecord record;
  serving::ServerSummary summary;
  std::optional<serving::Saturation> saturation;  // of an open loop
  std::optional<ClosedLoopFigures> closed_form;   // of a closed loop on aggregated engines
  // That measured means of TTFT and of TPOT keep their levels, by the interval of the engine's
  // terms.
  std::optional<double> keeps_ttft, keeps_tpot;
  std::optional<serving::MeanRanges> ranges;  // by the same interval
  std::vector<std::string> basis;             // where times and terms are from
  std::int64_t memory_bytes = 0;              // that a rank may use
};

// Throws Error (exit 2) for what is unknown, impossible, does not fit, or is beyond the limit of a
// simulation.
ServedSimulation simulate_serving(const ServingQuestion& question, const Folders& models,
                                  const Folders& devices);

}  // namespace halmark::tune
