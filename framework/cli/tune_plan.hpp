// The resolved plan of a sweep on this machine: complete, hashed, printable, before a device opens.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/console/session.hpp"
#include "core/winner.hpp"
#include "model/pricing/composer.hpp"
#include "plan/sweep.hpp"
#include "search/space/space.hpp"

namespace halmark::cli {

// One batch and precision of one workload; the space's first domain.
struct PlanGroup {
  std::string name;  // "decode batch 4 bf16"
  Workload workload;
  Precision precision;
};

struct TunePlan {
  Sweep sweep;
  ModelSpec spec;
  std::vector<PlanGroup> groups;
  std::unique_ptr<Space> space;  // group x dp x tp x pp, impossible ones never proposed
  std::map<Configuration, Composer> composers;  // of every valid point
  std::vector<KernelCase> kernels;              // unique, of all valid points
  std::vector<std::string> left_out;
  double predicted_s = 0;
  bool has_peaks = false;  // false: predictions rest on priors
  WinnerTable winners;     // of this machine and plugin build; kernels name what they chose

  Configuration configuration(const Point& point) const;
  StackPlacement placement(const LocalMachine& machine, int parts) const;
  std::size_t kernels_with_winner() const;
  std::string text() const;  // canonical; the hash is SHA-256 of it
  std::string hash() const;
};

// `--sampler certify` measures by itself until the front is proved (tune_certify.hpp).
inline constexpr std::string_view certify_sampler = "certify";

// How many shards a configuration may have: the sweep's list, or 1 to all cores.
std::vector<std::int64_t> shard_counts(const Sweep& sweep, int cores);

protocol::SampleRule sample_rule(const MeasureSettings& settings);
// Ring of one of `parts` shards: min(measured plateau, 512 MiB, a quarter of its memory).
std::int64_t ring_bytes(const LocalMachine& machine, int parts);
DeviceFacts device_facts(const LocalMachine& machine, int parts);

// Throws Error (exit 2) for an unknown model or a sweep without a possible configuration.
TunePlan make_plan(const Sweep& sweep, const LocalMachine& machine, WinnerTable winners = {});

std::string plan_report(const TunePlan& plan);
Json plan_json(const TunePlan& plan);

}  // namespace halmark::cli
