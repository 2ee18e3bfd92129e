// Duets of two builds, with those that moved measured again: what chose a kernel among many is no
// evidence for it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "journal/store.hpp"
#include "measure/campaign/duet/duet_campaign.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {

// Pairs of processes of a duet; as many again where it wants more, so that what moved is confirmed
// by processes that did not choose it, and what is open is decided where pairs can decide it.
std::vector<Duet> measure_duets(std::span<const KernelCase> cases, const DuetOptions& options,
                                double floor);

// What `halmark compare --live` measures, and a pair of `halmark bisect`.
struct LiveComparison {
  DuetSide old_side, new_side;
  KernelMeasuring measuring;  // its rounds are the pairs
  double floor = news_floor;
  std::function<void(std::size_t done, std::size_t total, const std::string& current)>
      progress;  // may be empty
};
DuetOptions duet_options(const LiveComparison& live);
std::vector<Duet> compare_live(std::span<const KernelCase> cases, const LiveComparison& live);

// Each once, in the order of the rows. Throws Error (exit 2) where the database has no run with
// rows.
std::vector<KernelCase> cases_of_latest_run(const Store& store, const std::string& backend,
                                            const std::string& path);

// The kernels that two builds are compared on: those that are asked for, else those of the
// latest run; of these the ones whose text begins with one of `begins`, where there are any. Throws
// Error (exit 2) where there is none.
std::vector<KernelCase> duet_cases(const CaseRequest& asked, const std::vector<std::string>& begins,
                                   const std::string& database);

}  // namespace halmark::tune
