// What `halmark bench` is asked for, and whether that can be answered at all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "plan/kernel_sweep.hpp"
#include "report/report.hpp"
#include "tune/plan/asked_nodes.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/search/kernels/variants.hpp"

namespace halmark::tune {

struct BenchRequest {
  CaseRequest asked;
  CaseSampling search;
  std::string sweep, shards_on;
  std::vector<std::string> variants;
  std::string baseline;  // as parse_baseline reads it; "" = none
  AskedNodes nodes;
  std::optional<int> rounds;  // absent: as many as this machine needs
  double seconds = 0.2;
  bool keeps_winners = false;
  bool keeps_nothing = false;
};

inline constexpr int rounds_of_winner_min = 3;

// Throws Error (exit 2) for words that contradict one another or leave out what is needed.
void check_request(const BenchRequest& request);
// Several backends, comma-separated, are a sweep of kernels over them; nothing for one. Throws
// Error (exit 2) for what such a sweep does not have: one kernel, one device, parts and shards,
// winners.
std::optional<KernelSweep> sweep_of_backends(const BenchRequest& request);

// Rounds shuffle the cases; what is printed reads in the order in which it was asked for.
std::vector<KernelPoint> in_order_of(std::span<const KernelCase> cases,
                                     std::vector<KernelPoint> points);
// 6 where a result is wrong, 4 where a kernel failed.
ExitCode exit_code_of(std::span<const KernelPoint> points);

}  // namespace halmark::tune
